import * as z from "zod";
import { timestamp, whole } from "../../../shared/settings/input-schemas.ts";
import { MEMBER_LIMITS } from "../../../shared/settings/limit-settings.ts";
import { LIMIT_KINDS, LIMIT_PERIODS } from "../../../shared/settings/limits.ts";
import { LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import { answer, choice, count, input, named, text, windowStart } from "./fields.ts";
import { MAX_CENTS } from "../../../shared/money/money.ts";
import { shownRaise } from "../../../shared/settings/raises.ts";

const TIME_EXPECTATION = "expected an RFC 3339 time in the future such as 2026-12-31T23:59:59Z";

export const raiseCreation = input("RaiseCreation", {
  period: choice(LIMIT_PERIODS).describe("Period of the increased cap."),
  add_cents: whole(1, MAX_CENTS, "cents").describe("Amount of the increase."),
  expires_at: z.iso
    .datetime({ offset: true, error: TIME_EXPECTATION })
    .describe("End of the increase, also in the middle of a window.")
    .meta({ examples: ["2026-12-31T23:59:59Z"] }),
  reason: text(200).describe("A note for people, also in the audit log."),
});
export type RaiseCreation = z.output<typeof raiseCreation>;

export const raise = named("Raise", shownRaise);

const figures = {
  scope: z.enum(LIMIT_SCOPES),
  period: z.enum(LIMIT_PERIODS),
  kind: z.enum(LIMIT_KINDS),
  cents: z.int().describe("Amount in force, temporary increases included."),
  raised_cents: z.int().describe("Part of it that is a temporary increase."),
  spent_cents: z.int().describe("Spent in the current window, rounded down."),
  remaining_cents: z.int().describe("0 if more was spent."),
  resets_at: z.iso.datetime().nullable().describe("End of the window; null: never."),
};

/** Tightest limit of a user or a group in a list. */
export const tightestLimit = answer("TightestLimit", figures);

const limit = answer("Limit", {
  ...figures,
  owner: z
    .strictObject({
      id: z.string(),
      name: z.string(),
      user_count: count().nullable().describe("Users of the group; null: not a group."),
      key_count: count().nullable().describe("API keys that name it; null: not a user or group."),
    })
    .describe("Spend that counts towards it."),
  member_of: z
    .strictObject({ scope: z.enum(["group", "organization"]), id: z.string(), name: z.string() })
    .nullable()
    .describe(
      `Group or organization whose \`${MEMBER_LIMITS}\` set it for a user; null: set on the owner itself.`,
    ),
  window_start: windowStart(),
  raises: z.array(raise).describe("Its active increases."),
});

const listOf = <Row extends z.ZodType>(row: Row) => ({
  time: timestamp().describe("Time of the windows."),
  data: z.array(row).describe("Narrowest owner first, then shortest period."),
});
export const limitList = answer("LimitList", listOf(limit));

const hideable = (figure: z.ZodInt) =>
  figure.nullable().describe(`${figure.description ?? ""} Null: hidden.`);
const ownLimit = named(
  "OwnLimit",
  limit.extend({
    cents: hideable(figures.cents),
    raised_cents: hideable(figures.raised_cents),
    spent_cents: hideable(figures.spent_cents),
    remaining_cents: hideable(figures.remaining_cents),
  }),
);
/** Limits as their user sees them. */
export const ownLimitList = answer("OwnLimitList", listOf(ownLimit));
