import * as z from "zod";
import { formatSuggestion } from "../../../shared/config/schema/nearest.ts";
import { parseMonth } from "../../../shared/time/calendar.ts";
import { isTagName } from "../../../shared/usage/tags.ts";
import { record } from "../../../shared/settings/input-schemas.ts";
import { answer, choice, count, microcents, month, tagFilter, textOrNull } from "./fields.ts";
import { usageTokens } from "./tokens.ts";
import { formerOwnerName, ownerIdFilter } from "./owner.ts";

const PLAIN_GROUPS = ["day", "key", "user", "group", "model"] as const;
const TAG_PREFIX = "tag:";

/** Grouping of usage: `tag:team` groups by the value of one tag. */
export type UsageGroup =
  | { readonly kind: (typeof PLAIN_GROUPS)[number] }
  | { readonly kind: "tag"; readonly name: string };

/** Returns the groups in a fixed order: day, key, user, group, model, tags. */
export function parseGroups(text: string | undefined): readonly UsageGroup[] {
  const words = text?.split(",") ?? [];
  const plain = PLAIN_GROUPS.filter((kind) => words.includes(kind)).map((kind) => ({ kind }));
  const tags = words
    .filter((word) => word.startsWith(TAG_PREFIX))
    .map((word) => ({ kind: "tag" as const, name: word.slice(TAG_PREFIX.length) }));
  return [...plain, ...tags];
}

const MONTH_EXPECTATION = "expected a month such as 2026-11";

/** Filters of a month's rows; omitted ones match everything. */
const usageFilters = {
  key_id: z.string().min(1).max(100).optional().describe("Id of an API key."),
  user_id: ownerIdFilter("user", "Of the requests that were this user's when they were admitted."),
  group_id: ownerIdFilter("group", "Of the requests that were this group's when they were admitted."),
  model: z.string().min(1).max(200).optional().describe("Id of a model of the catalog."),
  tag: tagFilter(),
};

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
      description:
        "`day`, `key`, `user`, `group`, `model` and `tag:` with a tag's name, with commas between; one row for everything when left out.",
      examples: ["day,model", "user,group", "tag:team"],
    }),
  ...usageFilters,
  format: choice(["json", "csv"]).optional(),
});

/** Id of a row, as `formatRowId` of the export writes it. */
const ROW_ID = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [^ ]+ [^ ]+ [^ ]+$/;

export const usageExportQuery = record({
  month: usageQuery.shape.month,
  format: choice(["csv", "jsonl", "focus"])
    .optional()
    .describe("Default: `csv`. `focus` is CSV with the columns of FOCUS 1.2."),
  gzip: choice(["true", "false"]).optional().describe("Whether the file is compressed."),
  after: z
    .string()
    .max(4_000)
    .regex(ROW_ID, { error: "expected the `row_id` of a row of the same export" })
    .optional()
    .describe("`row_id` (FOCUS: `x_RowId`) of the last row that you have; the export continues after it."),
});

function explainGroups(words: readonly string[]): string | null {
  const expected = "`day`, `key`, `user`, `group`, `model` and `tag:` with a tag's name";
  const unknown = words.find((word) => !isGroup(word));
  if (unknown !== undefined) {
    return `expected ${expected}, with commas between${formatSuggestion(unknown, PLAIN_GROUPS)}`;
  }
  return new Set(words).size === words.length ? null : `expected each of ${expected} at most once`;
}

function isGroup(word: string): boolean {
  const isTag = word.startsWith(TAG_PREFIX) && isTagName(word.slice(TAG_PREFIX.length));
  return isTag || PLAIN_GROUPS.some((group) => group === word);
}

/** Number of a month's tag combinations. */
const tagCombinations = answer("TagCombinations", {
  kept: count().describe("Combinations of tags in the month so far."),
  most: count().describe("Maximum of a month for an organization."),
  has_other: z.boolean().describe("Whether there were more: their requests have the tag value `other`."),
});

export const usage = answer("Usage", {
  month: month(),
  currency: z.string(),
  tag_combinations: tagCombinations,
  data: z.array(
    z.strictObject({
      day: z.string().optional().describe("UTC day, with `group_by=day`."),
      key_id: textOrNull("Null: a spend correction of the organization as a whole.").optional(),
      key_name: formerOwnerName().optional(),
      user_id: textOrNull("User at the requests' admission; null: none.").optional(),
      user_name: formerOwnerName().optional(),
      group_id: textOrNull("Group at the requests' admission; null: none.").optional(),
      group_name: formerOwnerName().optional(),
      model: textOrNull("Null: a spend correction.").optional(),
      tags: z
        .record(z.string(), z.string().nullable())
        .optional()
        .meta({
          description:
            "The tags that were asked for by `tag:`. Null: requests without the tag; `other`: beyond what is kept apart.",
          examples: [{ team: "search" }],
        }),
      requests: count(),
      ...usageTokens(),
      estimated_requests: count().describe("Requests with estimated tokens, out of `requests`."),
      cost_microcents: microcents(),
      cost_cents: z.int().describe("Rounded down row by row, so rows need not add up."),
      server_tool_microcents: microcents().describe("Part of the cost for tools of the model server."),
    }),
  ),
});
