import * as z from "zod";
import { MAX_CENTS, MICROCENTS_PER_CENT } from "../../../shared/money/money.ts";
import { record, whole } from "../../../shared/settings/input-schemas.ts";
import { groupIdOrNull, userIdOrNull } from "../../../shared/settings/kinds.ts";
import { mapTokens, nameTokens } from "../../../shared/usage/token-usage.ts";
import { answer, count, input, microcents, month, named, text, textOrNull } from "./fields.ts";
import { MAX_TOKENS, outsideTokens } from "./tokens.ts";

export const MAX_MICROCENTS = MAX_CENTS * MICROCENTS_PER_CENT;
const MAX_REQUESTS = 1_000_000_000;

const outsideUsageCreation = input("OutsideUsageCreation", {
  model: text(200).describe("Catalog id, also of a retired model."),
  requests: whole(1, MAX_REQUESTS, "requests")
    .optional()
    .describe("Requests whose fee is charged, if the model has one; default: 1."),
  ...outsideTokens(),
  service_tier: text(64)
    .optional()
    .meta({ description: "A service tier for which the model has a price.", examples: ["batch"] }),
  above_prompt_tokens: whole(1, MAX_TOKENS, "tokens")
    .optional()
    .describe("Tier by size of prompt; default: none."),
});
export type OutsideUsageCreation = z.infer<typeof outsideUsageCreation>;

/** Usage outside of the gateway, as it was charged. */
export const outsideUsage = answer("OutsideUsage", {
  model: z.string(),
  requests: count(),
  ...nameTokens(mapTokens(count)),
  service_tier: textOrNull("Null: the default."),
  above_prompt_tokens: z.int().nullable().describe("Null: no tier."),
  price_from: textOrNull("First day of its price; null: from the start."),
});
export type OutsideUsage = z.infer<typeof outsideUsage>;

export const spendCorrectionCreation = named(
  "SpendCorrectionCreation",
  record({
    amount_cents: whole(-MAX_CENTS, MAX_CENTS, "cents")
      .optional()
      .describe(
        "Signed, not 0: a credit is negative. Send exactly one of this, `amount_microcents` and `outside_usage`.",
      ),
    amount_microcents: whole(-MAX_MICROCENTS, MAX_MICROCENTS, "microcents")
      .optional()
      .describe("The same in millionths of a cent, as requests show their cost."),
    outside_usage: outsideUsageCreation
      .optional()
      .describe(
        "In place of an amount: requests outside the gateway, charged at the current price of the catalog.",
      ),
    reason: text(500).describe("Kept in the audit log."),
    key_id: z
      .string({ error: "expected the id of a key, or nothing for the organization as a whole" })
      .optional()
      .describe("API key to correct in addition to the organization; default: none."),
    user_id: userIdOrNull()
      .input.optional()
      .describe("User to correct in addition; default: the key's user; null: none."),
    group_id: groupIdOrNull()
      .input.optional()
      .describe("Group to correct in addition; default: the key's, otherwise the user's; null: none."),
  }).superRefine((value, context) => {
    const all = [value.amount_cents, value.amount_microcents, value.outside_usage];
    const given = all.filter((one) => one !== undefined);
    if (given.length === 1 && given[0] !== 0) return;
    const message = "expected one of `amount_cents`, `amount_microcents` and `outside_usage`, and not 0";
    context.addIssue({ code: "custom", path: ["amount_cents"], message });
  }),
);
export type SpendCorrectionCreation = z.infer<typeof spendCorrectionCreation>;

export const spendCorrection = answer("SpendCorrection", {
  id: z.string(),
  repeated: z.boolean().describe("True: an earlier call had this `Idempotency-Key`; nothing was changed."),
  month: month(),
  key_id: z.string().nullable(),
  user_id: textOrNull("The user whose spend was corrected; null: none."),
  group_id: textOrNull("Group whose spend was corrected; null: none."),
  amount_microcents: z.int().describe("Amount that was added; in a repetition, the first time."),
  outside_usage: outsideUsage.nullable().describe("Null: the correction was an amount."),
  reason: z.string(),
  organization_spent_microcents: microcents(),
  organization_spent_cents: z.int(),
  key_spent_microcents: microcents().nullable(),
  key_spent_cents: z.int().nullable(),
});
