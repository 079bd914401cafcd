/** `GET …/usage`: what a month's requests used and cost, as JSON or CSV. */
import { wholeCents } from "../../money.ts";
import { FIGURE_NAMES, type MonthUsage, NO_USAGE, type UsageRow } from "../../store/types/reporting.ts";
import { hasTags, MAX_TAG_COMBINATIONS, parseTagList, valueOfTag } from "../../tags.ts";
import { parseGroups, type UsageGroup, usage, usageQuery } from "../schemas/usage.ts";
import type { OrganizationRecord } from "../../store/types/management.ts";
import type { Store } from "../../store/types.ts";
import { formatRowId, formatUsageTable, type UsageParts } from "../usage-export/usage-table.ts";
import { readKeyNames } from "./read-key-names.ts";
import { defineOrganizationRoute } from "./route.ts";

const GROUP_FIELDS = { day: "day", key: "keyId", model: "model" } as const;
const GROUP_COLUMNS = { day: "day", key: "key_id", model: "model" } as const;
/** In the order in which they are shown. */
const COUNTS = [
  "requests",
  "inputTokens",
  "cachedInputTokens",
  "outputTokens",
  "reasoningTokens",
  "cacheWriteTokens",
  "cacheWrite1hTokens",
  "inputAudioTokens",
  "outputAudioTokens",
  "estimatedRequests",
] as const;

/** Behind all others, since it came later. */
const TOOL_COLUMN = FIGURE_NAMES.toolMicrocents;

interface Total {
  /** In the order of the groups. */
  readonly values: readonly (string | null)[];
  readonly counts: Record<(typeof COUNTS)[number], number>;
  costMicrocents: bigint;
  toolMicrocents: bigint;
}

const show = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/usage",
  operationId: "getUsage",
  summary: "Requests, tokens and cost of a month, one row per group. Deleted keys are in it.",
  query: usageQuery,
  answers: { 200: usage },
  otherMediaType: "text/csv",
  handleInOrganization: async ({ organization, query }, { store }) => {
    const read = await store.readUsage(organization.id, query.month ?? null);
    const { month } = read;
    const groups = parseGroups(query.group_by);
    const totals = sumUsage(filterUsage(read.rows, query), groups);
    if (query.format !== "csv") {
      const data = totals.map((total) => ({
        ...formatGroups(total, groups),
        ...formatFigures(total),
        [TOOL_COLUMN]: Number(total.toolMicrocents),
      }));
      const { currency } = organization;
      const body = { month, currency, tag_combinations: formatTagCombinations(read), data };
      return { status: 200, body };
    }
    return {
      status: 200,
      body: await formatCsv(totals, groups, { organization, store }),
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="usage-${organization.id}-${month}.csv"`,
      },
    };
  },
});

/** Of these rows those that a caller asks for. */
function filterUsage(
  rows: readonly UsageRow[],
  {
    key_id: keyId,
    model,
    tag,
  }: { key_id?: string | undefined; model?: string | undefined; tag?: string | undefined },
): readonly UsageRow[] {
  const parsed = tag === undefined ? null : parseTagList(tag);
  const tags = parsed !== null && "tags" in parsed ? parsed.tags : "";
  return rows.filter(
    (row) =>
      (keyId === undefined || row.keyId === keyId) &&
      (model === undefined || row.model === model) &&
      hasTags(row.tags, tags),
  );
}

function formatTagCombinations({ tagCombinations, hasOtherTags }: MonthUsage) {
  return { kept: tagCombinations, most: MAX_TAG_COMBINATIONS, has_other: hasOtherTags };
}

/** One total per group, in the order of the groups' values; without groups one total, also of nothing. */
function sumUsage(rows: readonly UsageRow[], groups: readonly UsageGroup[]): Total[] {
  const totals = new Map<string, Total>();
  if (groups.length === 0) totals.set("[]", createTotal([]));
  for (const row of rows) {
    const values = groups.map((group) =>
      group.kind === "tag" ? valueOfTag(row.tags, group.name) : row[GROUP_FIELDS[group.kind]],
    );
    const name = JSON.stringify(values);
    const total = totals.get(name) ?? createTotal(values);
    totals.set(name, total);
    for (const count of COUNTS) total.counts[count] += row[count];
    total.costMicrocents += row.costMicrocents;
    total.toolMicrocents += row.toolMicrocents;
  }
  return [...totals.entries()].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, total]) => total);
}

function createTotal(values: Total["values"]): Total {
  const { costMicrocents, toolMicrocents, ...counts } = NO_USAGE;
  return { values, counts, costMicrocents, toolMicrocents };
}

/** The tags that were asked for are one member. */
function formatGroups({ values }: Total, groups: readonly UsageGroup[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  const tags: Record<string, string | null> = {};
  for (const [position, group] of groups.entries()) {
    const value = values[position] ?? null;
    if (group.kind === "tag") tags[group.name] = value;
    else row[GROUP_COLUMNS[group.kind]] = value;
  }
  return Object.keys(tags).length === 0 ? row : { ...row, tags };
}

function formatFigures({ counts, costMicrocents }: Omit<Total, "values">) {
  return {
    ...Object.fromEntries(COUNTS.map((count) => [FIGURE_NAMES[count], counts[count]])),
    cost_microcents: Number(costMicrocents),
    cost_cents: wholeCents(costMicrocents),
  };
}

/** In the columns of every table of usage. Of a tag that was asked for the value `other` is what is not kept apart. */
async function formatCsv(
  totals: readonly Total[],
  groups: readonly UsageGroup[],
  { organization, store }: { organization: OrganizationRecord; store: Pick<Store, "getKey"> },
): Promise<string> {
  const all = totals.map((total) => ({ total, parts: readParts(total, groups) }));
  const keyIds = all.map(({ parts }) => parts.keyId);
  const names = await readKeyNames(store, organization.id, keyIds);
  return formatUsageTable(
    all.map(({ total: { counts, costMicrocents, toolMicrocents }, parts }) => ({
      ...parts,
      ...counts,
      id: formatRowId(parts),
      organization,
      keyName: parts.keyId === null ? null : (names.get(parts.keyId) ?? null),
      costMicrocents,
      toolMicrocents,
    })),
  );
}

function readParts({ values }: Total, groups: readonly UsageGroup[]): UsageParts {
  const parts = { day: null, keyId: null, model: null } as Record<"day" | "keyId" | "model", string | null>;
  const tags: string[] = [];
  for (const [position, group] of groups.entries()) {
    const value = values[position] ?? null;
    if (group.kind !== "tag") parts[GROUP_FIELDS[group.kind]] = value;
    else if (value !== null) tags.push(`${group.name}=${value}`);
  }
  return { ...parts, tags: tags.toSorted().join(",") };
}

export const usageRoutes = [show];
