import * as z from "zod";
import { formatSuggestion } from "../../../shared/config/schema/nearest.ts";
import { isDay, parseMonth } from "../../../shared/time/calendar.ts";
import { isTagName } from "../../../shared/usage/tags.ts";
import { record, whole } from "../../../shared/settings/input-schemas.ts";
import { answer, choice, count, microcents, tagFilter, textOrNull } from "./fields.ts";
import { usageTokens } from "./tokens.ts";
import { filterNames, formerOwnerName, ownerIdFilter } from "./owner.ts";

const TIME_GROUPS = ["hour", "day", "week", "month"] as const;
const PLAIN_GROUPS = [...TIME_GROUPS, "key", "user", "group", "model", "upstream", "session"] as const;
const TAG_PREFIX = "tag:";

/** Grouping of usage: `tag:team` groups by the value of one tag. */
export type UsageGroup =
  | { readonly kind: (typeof PLAIN_GROUPS)[number] }
  | { readonly kind: "tag"; readonly name: string };

/** Returns the groups in a fixed order: time, key, user, group, model, upstream, session, tags. */
export function parseGroups(text: string | undefined): readonly UsageGroup[] {
  const words = text?.split(",") ?? [];
  const plain = PLAIN_GROUPS.filter((kind) => words.includes(kind)).map((kind) => ({ kind }));
  const tags = words
    .filter((word) => word.startsWith(TAG_PREFIX))
    .map((word) => ({ kind: "tag" as const, name: word.slice(TAG_PREFIX.length) }));
  return [...plain, ...tags];
}

export function isTimeGroup({ kind }: UsageGroup): boolean {
  return TIME_GROUPS.some((group) => group === kind);
}

/** Figures that groups are ranked by. */
const USAGE_ORDERS = ["cost", "requests", "tokens"] as const;
const MAX_TOP = 1_000;

const MONTH_EXPECTATION = "expected a month such as 2026-11";
const DAY_EXPECTATION = "expected a day such as 2026-11-21";
const day = (about: string) =>
  z
    .string({ error: DAY_EXPECTATION })
    .refine(isDay, { error: DAY_EXPECTATION })
    .optional()
    .meta({ description: about, examples: ["2026-11-21"] });

/** Filters of a month's rows; omitted ones match everything. */
const usageFilters = {
  key_id: z.string().min(1).max(100).optional().describe("Id of an API key."),
  user_id: ownerIdFilter("user", "Only requests of this user at their admission."),
  group_id: ownerIdFilter("group", "Only requests of this group at their admission."),
  model: z.string().min(1).max(200).optional().describe("Id of a model of the catalog."),
  tag: tagFilter(),
  session: z.string().min(1).max(128).optional().describe("Full name of a session."),
};

export const usageQuery = record({
  month: z
    .string({ error: MONTH_EXPECTATION })
    .refine((value) => parseMonth(value) !== null, { error: MONTH_EXPECTATION })
    .optional()
    .meta({ description: "UTC calendar month; default: this month.", examples: ["2026-11"] }),
  from: day("First day (UTC), in place of `month`; at most 400 days before `to`."),
  to: day("Last day (UTC), with `from`; default: today."),
  group_by: z
    .string()
    .superRefine((value, context) => {
      const message = explainGroups(value.split(","));
      if (message !== null) context.addIssue({ code: "custom", message });
    })
    .optional()
    .meta({
      description:
        "`hour`, `day`, `week` or `month`, and `key`, `user`, `group`, `model`, `upstream`, `session` and `tag:` with a tag's name, separated by commas; default: one row for everything. `hour`, `upstream`, `session`, `health` and a filter by session count only requests that are still listed, see `complete_from`.",
      examples: ["day,model", "week,user", "tag:team"],
    }),
  top: whole(1, MAX_TOP, "groups")
    .optional()
    .describe("Number of the largest groups to return; one row per period sums up the others."),
  order: choice(USAGE_ORDERS).optional().describe("Figure that ranks the groups of `top`; default: `cost`."),
  health: choice(["true", "false"])
    .optional()
    .describe("Whether each row has `health`: success, latency and speed."),
  ...usageFilters,
  format: choice(["json", "csv"]).optional(),
});

export type UsageQuery = z.output<typeof usageQuery>;

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
  const expected =
    "`hour`, `day`, `week`, `month`, `key`, `user`, `group`, `model`, `upstream`, `session` and `tag:` with a tag's name";
  const unknown = words.find((word) => !isGroup(word));
  if (unknown !== undefined) {
    return `expected ${expected}, separated by commas${formatSuggestion(unknown, PLAIN_GROUPS)}`;
  }
  const times = parseGroups(words.join(",")).filter(isTimeGroup);
  if (times.length > 1) return "expected one of `hour`, `day`, `week` and `month`";
  return new Set(words).size === words.length ? null : `expected each of ${expected} at most once`;
}

function isGroup(word: string): boolean {
  const isTag = word.startsWith(TAG_PREFIX) && isTagName(word.slice(TAG_PREFIX.length));
  return isTag || PLAIN_GROUPS.some((group) => group === word);
}

/** Number of tag combinations of a report's months. */
const tagCombinations = answer("TagCombinations", {
  kept: count().describe("Combinations of tags so far, of the month with the most."),
  most: count().describe("Maximum of a month for an organization."),
  has_other: z
    .boolean()
    .describe("Whether the maximum was exceeded: further requests have the tag value `other`."),
  names: z.array(z.string()).describe("Names of the tags in these rows."),
});

const percentiles = (about: string) =>
  z.strictObject({ p50: count(), p95: count() }).nullable().describe(`${about}; null: none.`);

const health = answer("Health", {
  judged_requests: count().describe("Requests that succeeded or failed: all but those whose client left."),
  failed_requests: count().describe("Requests that returned 500 or more, or broke off."),
  duration_ms: percentiles("Milliseconds from the admission to the end, of successful requests"),
  first_token_ms: percentiles("The same to the first piece of a streamed response"),
  output_tokens_per_second: z
    .number()
    .nullable()
    .describe("Output tokens per second from the upstream's turn to the end; null: none."),
});

export const usage = answer("Usage", {
  from: z.string().describe("First day (UTC)."),
  to: z.string().describe("Last day (UTC)."),
  currency: z.string(),
  complete_from: textOrNull(
    "With `hour`, `upstream`, `session`, `health` or a filter by session: time from which all requests are still listed, and counted here. Null: the whole report is complete.",
    "2026-11-21T14:03:59.000Z",
  ),
  tag_combinations: tagCombinations,
  filter_names: filterNames(),
  data: z.array(
    z.strictObject({
      hour: z.string().optional().describe("Beginning of the hour (UTC), with `group_by=hour`."),
      day: z.string().optional().describe("UTC day, with `group_by=day`."),
      week: z.string().optional().describe("Monday of the week (UTC), with `group_by=week`."),
      month: z.string().optional().describe("UTC month, with `group_by=month`."),
      others: count()
        .optional()
        .describe("With `top`: how many smaller groups this row sums up; omitted from the largest."),
      key_id: textOrNull("Null: a spend correction of the organization as a whole.").optional(),
      key_name: formerOwnerName().optional(),
      user_id: textOrNull("User at the requests' admission; null: none.").optional(),
      user_name: formerOwnerName().optional(),
      group_id: textOrNull("Group at the requests' admission; null: none.").optional(),
      group_name: formerOwnerName().optional(),
      model: textOrNull("Null: a spend correction.").optional(),
      upstream: textOrNull("Null: unknown.").optional(),
      session_id: textOrNull("Null: requests without a session.").optional(),
      tags: z
        .record(z.string(), z.string().nullable())
        .optional()
        .meta({
          description:
            "The tags named in `group_by`. Null: requests without the tag; `other`: beyond the maximum of combinations.",
          examples: [{ team: "search" }],
        }),
      requests: count(),
      ...usageTokens(),
      estimated_requests: count().describe("Requests with estimated tokens, out of `requests`."),
      cost_microcents: microcents(),
      cost_cents: z.int().describe("Rounded down row by row, so rows need not add up."),
      server_tool_microcents: microcents().describe("Part of the cost for tools of the model server."),
      health: health.optional(),
    }),
  ),
});
