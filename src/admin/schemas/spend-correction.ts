import { z } from "zod";
import { MAX_CENTS, MICROCENTS_PER_CENT } from "../../money.ts";
import { record, whole } from "../../settings/input-schemas.ts";
import { month, named, text } from "./fields.ts";

const MAX_MICROCENTS = MAX_CENTS * MICROCENTS_PER_CENT;

export const spendCorrectionCreation = named(
  "SpendCorrectionCreation",
  record({
    amount_cents: whole(-MAX_CENTS, MAX_CENTS, "cents")
      .optional()
      .meta({ description: "Signed: a credit is negative. This or `amount_microcents`, not 0." }),
    amount_microcents: whole(-MAX_MICROCENTS, MAX_MICROCENTS, "microcents")
      .optional()
      .meta({ description: "The same in millionths of a cent, as requests show their cost." }),
    reason: text(500).meta({ description: "Kept in the audit log." }),
    key_id: z
      .string({ error: "expected the id of a key, or nothing for the organization as a whole" })
      .optional()
      .meta({ description: "Whose spend it is besides the organization's; left out: nobody's." }),
  }).superRefine((value, context) => {
    const given = [value.amount_cents, value.amount_microcents].filter((amount) => amount !== undefined);
    if (given.length === 1 && given[0] !== 0) return;
    const message = "expected one of `amount_cents` and `amount_microcents`, and not 0";
    context.addIssue({ code: "custom", path: ["amount_cents"], message });
  }),
);

export const spendCorrection = named(
  "SpendCorrection",
  z.strictObject({
    id: z.string(),
    repeated: z.boolean().meta({
      description: "True: a call with this `Idempotency-Key` was made before, and nothing was changed now.",
    }),
    month: month(),
    key_id: z.string().nullable(),
    amount_microcents: z.int(),
    reason: z.string(),
    organization_spent_microcents: z.int(),
    organization_spent_cents: z.int(),
    key_spent_microcents: z.int().nullable(),
    key_spent_cents: z.int().nullable(),
  }),
);
