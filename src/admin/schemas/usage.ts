import { z } from "zod";
import { formatSuggestion } from "../../config/schema/nearest.ts";
import { parseMonth } from "../../calendar.ts";
import { record } from "../../settings/input-schemas.ts";
import { choice, count, month, named } from "./fields.ts";

export const USAGE_GROUPS = ["day", "key", "model"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

const MONTH_EXPECTATION = "expected a month such as 2026-11";

export const usageQuery = record({
  month: z
    .string({ error: MONTH_EXPECTATION })
    .refine((value) => parseMonth(value) !== null, { error: MONTH_EXPECTATION })
    .optional()
    .meta({ description: "UTC calendar month; this one when left out.", examples: ["2026-11"] }),
  group_by: z
    .string()
    .superRefine((value, context) => {
      const message = explainGroups(value.split(","));
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .optional()
    .meta({
      description: "`day`, `key` and `model`, with commas between; one row for everything when left out.",
      examples: ["day,model"],
    }),
  format: choice(["json", "csv"]).optional(),
});

function explainGroups(words: readonly string[]): string | null {
  const unknown = words.find((word) => !USAGE_GROUPS.some((group) => group === word));
  if (unknown !== undefined) {
    const suggestion = formatSuggestion(unknown, USAGE_GROUPS);
    return `expected \`day\`, \`key\` and \`model\` with commas between${suggestion}`;
  }
  return new Set(words).size === words.length
    ? null
    : "expected each of `day`, `key` and `model` at most once";
}

export const usage = named(
  "Usage",
  z.strictObject({
    month: month(),
    currency: z.string(),
    data: z.array(
      z.strictObject({
        day: z.string().optional().meta({ description: "UTC day, with `group_by=day`." }),
        key_id: z
          .string()
          .nullable()
          .optional()
          .meta({ description: "Null: a spend correction of the organization as a whole." }),
        model: z.string().nullable().optional().meta({ description: "Null: a spend correction." }),
        requests: count(),
        input_tokens: count().meta({ description: "Without the cached ones." }),
        cached_input_tokens: count(),
        output_tokens: count().meta({ description: "Reasoning tokens included." }),
        reasoning_tokens: count(),
        estimated_requests: count().meta({
          description: "Of `requests`: those whose tokens are an estimate.",
        }),
        cost_microcents: z.int(),
        cost_cents: z.int().meta({ description: "Rounded down row by row, so rows need not add up." }),
      }),
    ),
  }),
);
