import * as z from "zod";
import { record, timestamp, whole } from "../../../shared/settings/input-schemas.ts";
import { TOKEN_LIMIT_TYPES } from "../../../shared/settings/token-limits.ts";
import { KEY_SETTINGS } from "../../../shared/settings/key.ts";
import { answerShape, changeShape, creationShape } from "../../../shared/settings/table.ts";
import { KEY_STATES } from "../../../shared/settings/state.ts";
import { answer, input, lastUsedAt, microcents, month, named, text } from "./fields.ts";
import { ownerIdFilter, ownerReference } from "./owner.ts";
import { pageFields, pageShape } from "./page.ts";
import { tightestLimit } from "./limit.ts";
import { arrangedFields, PLACE, arrangedTotals } from "./arranged.ts";

/** 30 days. */
const MAX_GRACE_SECONDS = 2_592_000;

export const keyCreation = input("KeyCreation", creationShape(KEY_SETTINGS));
export type KeyCreation = z.output<typeof keyCreation>;

export const keyChange = input("KeyChange", changeShape(KEY_SETTINGS));
export type KeyChange = z.output<typeof keyChange>;

export const keyRotation = input("KeyRotation", {
  grace_seconds: whole(0, MAX_GRACE_SECONDS, "seconds")
    .optional()
    .describe("Time for which the previous secret works; default: 0."),
});

const keyFields = {
  id: z.string().meta({ examples: ["key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  organization_id: z.string(),
  display: z
    .string()
    .meta({ description: "Text that identifies the API key to people.", examples: ["sk-igw-…a1B2"] }),
  ...answerShape(KEY_SETTINGS),
  user: ownerReference().describe("The user of `user_id`, with its name."),
  group: ownerReference().describe(
    "Group of its requests, with its name: that of `group_id`, otherwise its user's.",
  ),
  former_key_until: timestamp()
    .nullable()
    .describe("Time until which the previous secret works; null: it doesn't."),
  state: z
    .enum(KEY_STATES)
    .describe(
      "Outcome of a request that costs money now, first reason first: `disabled`, `expired` and `cap_reached` are rejected, `over_budget` and `active` pass. Caps of its user, group and organization count.",
    ),
  created_at: timestamp(),
  month: month(),
  spent_cents: z.int().describe("Spent in `month`, whole cents, rounded down."),
  spent_microcents: microcents().describe("The same in millionths of a cent."),
  last_used_at: lastUsedAt(),
  bucket: z
    .strictObject({ remaining: z.int(), capacity: z.int() })
    .describe("Requests that the rate limit lets pass at once, now and when it is full."),
  token_buckets: z
    .array(
      z.strictObject({
        type: z.enum(TOKEN_LIMIT_TYPES),
        limit: z.int().describe("Tokens per minute."),
        remaining: z.int().min(0).describe("Tokens left now; 0 also if more were used."),
        full_in_seconds: z.int().min(0),
      }),
    )
    .describe("The key's own limits of tokens per minute (all, input, output) with the tokens left now."),
};

export const key = answer("Key", keyFields);
export const keyWithSecret = answer("KeyWithSecret", {
  ...keyFields,
  key: z.string().describe("The API key itself. It is never shown again."),
});
export const keyQuery = record({
  ...pageFields(new RegExp(`^key_[0-9a-f-]{36}$|${PLACE.source}`)),
  ...arrangedFields(KEY_STATES),
  search: text(100)
    .optional()
    .describe("With `sort`: only keys whose name, note or `display` contains this."),
  user_id: ownerIdFilter("user", "Only keys of this user. A page with a `next` can have fewer than `limit`."),
  group_id: ownerIdFilter(
    "group",
    "Only keys with this `group_id`; with `sort`, all keys whose requests count for the group.",
  ),
});
export type KeyQuery = z.output<typeof keyQuery>;
const listedKey = named(
  "ListedKey",
  z.strictObject({
    ...keyFields,
    tightest_limit: tightestLimit
      .nullable()
      .optional()
      .describe(
        "With `sort`: the most used limit of the key, its user or its group, a reached cap first. Null: none.",
      ),
  }),
);
export const keyPage = named("KeyPage", z.strictObject({ ...pageShape(listedKey), ...arrangedTotals() }));
export const revocation = answer("Revocation", {
  revoked: z.int(),
  data: z.array(z.strictObject({ id: z.string(), name: z.string(), display: z.string() })),
});
