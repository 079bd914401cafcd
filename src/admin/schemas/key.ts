import * as z from "zod";
import { record, timestamp, whole } from "../../settings/input-schemas.ts";
import { TOKEN_LIMIT_TYPES } from "../../settings/token-limits.ts";
import { KEY_SETTINGS } from "../../settings/key.ts";
import { answerShape, changeShape, creationShape } from "../../settings/table.ts";
import { KEY_STATES } from "../../settings/state.ts";
import { answer, input, microcents, month } from "./fields.ts";
import { ownerIdFilter, ownerReference } from "./owner.ts";
import { pageFields, pageOf } from "./page.ts";

/** 30 days. */
const MAX_GRACE_SECONDS = 2_592_000;

export const keyCreation = input("KeyCreation", creationShape(KEY_SETTINGS));
export type KeyCreation = z.output<typeof keyCreation>;

export const keyChange = input("KeyChange", changeShape(KEY_SETTINGS));
export type KeyChange = z.output<typeof keyChange>;

export const keyRotation = input("KeyRotation", {
  grace_seconds: whole(0, MAX_GRACE_SECONDS, "seconds")
    .optional()
    .describe("How long the key before still works; 0, not at all, when left out."),
});

const keyFields = {
  id: z.string().meta({ examples: ["key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11"] }),
  organization_id: z.string(),
  display: z.string().meta({ description: "What people recognise the key by.", examples: ["sk-igw-…a1B2"] }),
  ...answerShape(KEY_SETTINGS),
  user: ownerReference().describe("The user of `user_id`, with its name."),
  group: ownerReference().describe(
    "The group that its requests count to, with its name: that of `group_id`, else its user's.",
  ),
  former_key_until: timestamp()
    .nullable()
    .describe("Until then the key before the last rotation works too; null: it does not."),
  state: z
    .enum(KEY_STATES)
    .describe(
      "What comes of a request that costs money now, first reason first: refused as `disabled`, `expired` or `cap_reached`; `over_budget` and `active` pass.",
    ),
  created_at: timestamp(),
  month: month(),
  spent_cents: z.int().describe("Spent in `month`, whole cents, rounded down."),
  spent_microcents: microcents().describe("The same in millionths of a cent."),
  bucket: z
    .strictObject({ remaining: z.int(), capacity: z.int() })
    .describe("Whole requests that the rate limit lets pass at once now, and when it is full."),
  token_buckets: z
    .array(
      z.strictObject({
        type: z.enum(TOKEN_LIMIT_TYPES),
        limit: z.int().describe("Tokens per minute."),
        remaining: z.int().min(0).describe("Tokens left now; 0 also where more were used than there were."),
        full_in_seconds: z.int().min(0),
      }),
    )
    .describe(
      "The key's own limits of tokens per minute as they stand now, of all tokens, of input, of output.",
    ),
};

export const key = answer("Key", keyFields);
export const keyWithSecret = answer("KeyWithSecret", {
  ...keyFields,
  key: z.string().describe("The API key itself. It is never shown again."),
});
export const keyQuery = record({
  ...pageFields(/^key_[0-9a-f-]{36}$/),
  user_id: ownerIdFilter(
    "user",
    "Only the keys of this user. A page with a `next` may hold fewer than `limit`.",
  ),
  group_id: ownerIdFilter("group", "Only the keys whose own `group_id` this is."),
});
export const keyPage = pageOf("KeyPage", key);
export const revocation = answer("Revocation", {
  revoked: z.int(),
  data: z.array(z.strictObject({ id: z.string(), name: z.string(), display: z.string() })),
});
