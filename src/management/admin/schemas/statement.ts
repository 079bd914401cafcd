import * as z from "zod";
import { record, timestamp } from "../../../shared/settings/input-schemas.ts";
import { answer, count, microcents, month, textOrNull } from "./fields.ts";
import { usageQuery } from "./usage.ts";

export const statementQuery = record({ month: usageQuery.shape.month });

const amount = () =>
  z.string().meta({
    description: "Two decimals, rounded half up from the exact amount.",
    examples: ["94.99"],
  });

const lines = z.array(
  z.strictObject({
    id: textOrNull("Model, group or API key; null: none, or the sum of further API keys."),
    name: textOrNull("Its name, also if it was deleted."),
    others: count().optional().describe("Number of further API keys that the line sums up."),
    requests: count(),
    amount: amount(),
    amount_microcents: microcents(),
  }),
);

export const statement = answer("Statement", {
  organization_id: z.string(),
  organization_name: z.string(),
  month: month(),
  currency: z.string(),
  is_complete: z.boolean().describe("Whether the month is over."),
  created_at: timestamp(),
  models: lines,
  groups: lines,
  keys: lines.describe("The largest 50, and one line for all others."),
  corrections: z.array(
    z.strictObject({
      id: textOrNull("Null: corrections whose audit entries are no longer stored."),
      created_at: timestamp().nullable(),
      reason: z.string(),
      name: textOrNull("API key or organization of the correction."),
      amount: amount(),
      amount_microcents: microcents(),
    }),
  ),
  usage_amount: amount().describe("Sum of the requests, rounded half up from the exact sum."),
  corrections_amount: amount().describe("Sum of the corrections, rounded half up from the exact sum."),
  total_amount: amount().describe("Both, rounded half up from the exact sum."),
  total_microcents: microcents(),
});
