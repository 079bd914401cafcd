import * as z from "zod";
import { record, timestamp } from "../../../shared/settings/input-schemas.ts";
import { ORGANIZATION_SETTINGS } from "../../../shared/settings/organization.ts";
import { ORGANIZATION_STATES } from "../../../shared/settings/state.ts";
import { answerShape, changeShape, creationShape } from "../../../shared/settings/table.ts";
import { arrangedFields, arrangedTotals, PLACE } from "./arranged.ts";
import { answer, input, microcents, month, named, text } from "./fields.ts";
import { tightestLimit } from "./limit.ts";
import { pageFields, pageShape } from "./page.ts";

export const organizationCreation = input("OrganizationCreation", creationShape(ORGANIZATION_SETTINGS));

export const organizationChange = input("OrganizationChange", changeShape(ORGANIZATION_SETTINGS));
export type OrganizationChange = z.output<typeof organizationChange>;

export const organization = answer("Organization", {
  id: z.string().meta({ examples: ["org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  ...answerShape(ORGANIZATION_SETTINGS),
  state: z
    .enum(ORGANIZATION_STATES)
    .describe(
      "Result of a request that costs money now, by the first reason: rejected as `deleted`, `suspended` or `cap_reached`; `over_budget` and `active` pass.",
    ),
  created_at: timestamp(),
  deleted_at: timestamp()
    .nullable()
    .describe("Time of its deletion; null: it exists. The operator can read a deleted one."),
  month: month(),
  spent_cents: z.int().describe("Spent in `month`, whole cents, rounded down."),
  spent_microcents: microcents().describe("The same in millionths of a cent."),
});

const LISTED_STATES = ["active", "over_budget", "cap_reached", "suspended"] as const;

export const organizationQuery = record({
  ...pageFields(new RegExp(`^org_[0-9a-f-]{36}$|${PLACE.source}`)),
  ...arrangedFields(LISTED_STATES, ["name", "spend", "limit"]),
  deleted: z
    .enum(["true", "false"], { error: "expected true or false" })
    .optional()
    .describe(
      "`true`: only deleted organizations whose usage is still kept. Default: only existing ones. For the operator.",
    ),
  search: text(100)
    .optional()
    .describe(
      "Only organizations whose name contains this (not case-sensitive) or whose id it is. A page with a `next` can then have fewer than `limit`.",
    ),
});

const listedOrganization = named(
  "ListedOrganization",
  organization.extend({
    tightest_limit: tightestLimit
      .nullable()
      .optional()
      .describe("With `sort`: its most used limit, a reached cap first. Null: none."),
  }),
);
export const organizationPage = named(
  "OrganizationPage",
  z.strictObject({ ...pageShape(listedOrganization), ...arrangedTotals() }),
);
