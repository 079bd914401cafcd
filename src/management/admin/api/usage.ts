/** `GET …/usage`: usage and cost of a month's requests, as JSON or CSV. */
import type * as z from "zod";
import { wholeCents } from "../../../shared/money/money.ts";
import type { TagCombinations, UsageRow } from "../../../data-path/store/types/reporting.ts";
import type { Store } from "../../../data-path/store/types.ts";
import { type CalendarPeriod, daysOf, monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import { hasTags, MAX_TAG_COMBINATIONS, parseTagList, valueOfTag } from "../../../shared/usage/tags.ts";
import { KINDS_BY_POSITION, TOKEN_KINDS } from "../../../shared/usage/token-usage.ts";
import {
  addFigures,
  FIGURE_NAMES,
  FIGURES,
  type MutableUsageFigures,
  NO_USAGE,
  type UsageFigure,
} from "../../../shared/usage/usage-figures.ts";
import { parseGroups, type UsageGroup, usage, usageQuery } from "../schemas/usage.ts";
import type { OrganizationRecord } from "../../../data-path/store/types/management.ts";
import { formatOwnerIds, parseOwnerIds } from "../../../data-path/store/types/owner-ids.ts";
import { formatRowId, formatUsageTable, type UsageParts } from "../usage-export/usage-table.ts";
import { invalidField } from "../admin-error.ts";
import type { Principal } from "../principal.ts";
import { MAX_REPORT_ROWS, type ReportCaller } from "../report-turns.ts";
import { type NamesStore, readUsageNames, type UsageNames } from "./names.ts";
import { defineOrganizationRoute } from "./route.ts";

/** Names of groups in responses, with the grouped part of a row. */
const PLAIN_GROUPS = {
  day: { column: "day", valueOf: ({ day }) => day },
  key: { column: "key_id", valueOf: ({ keyId }) => keyId },
  user: { column: "user_id", valueOf: ({ owners }) => parseOwnerIds(owners).userId },
  group: { column: "group_id", valueOf: ({ owners }) => parseOwnerIds(owners).groupId },
  model: { column: "model", valueOf: ({ model }) => model },
} as const satisfies Record<Exclude<UsageGroup["kind"], "tag">, PlainGroup>;

interface PlainGroup {
  readonly column: string;
  readonly valueOf: (row: UsageRow) => string | null;
}

/** Figures in the order of responses: tokens by position. */
const FIGURES_OF_ROWS: readonly UsageFigure[] = [
  "requests",
  ...KINDS_BY_POSITION,
  ...FIGURES.slice(1 + TOKEN_KINDS.length),
];

interface Total {
  /** Values in the order of the groups. */
  readonly values: readonly (string | null)[];
  readonly figures: MutableUsageFigures;
}

const show = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/usage",
  operationId: "getUsage",
  summary: "Show requests, tokens and cost of a month.",
  query: usageQuery,
  answers: { 200: usage },
  otherMediaType: "text/csv",
  handleInOrganization: async ({ organization, query, principal }, { store, reports }) => {
    const month = parseMonth(query.month ?? "") ?? monthAt(await store.timeMs());
    const groups = parseGroups(query.group_by);
    const totals = await reports.run(callerOf(organization.id, principal), () =>
      readTotals(store, organization.id, month, query),
    );
    const all = totals.map((total) => ({ total, parts: readParts(total, groups) }));
    if (query.format !== "csv") {
      const keyed = all.map(({ parts }) => parts);
      const namesOf = await readUsageNames(store, organization.id, keyed);
      const data = all.map(({ total, parts }) => ({
        ...formatGroups(total, groups, namesOf(parts)),
        ...formatFigures(total),
      }));
      const { currency } = organization;
      const combinations = await store.countTagCombinations(organization.id, month.name);
      const tags = formatTagCombinations(combinations);
      const body = { month: month.name, currency, tag_combinations: tags, data };
      return { status: 200, body };
    }
    return {
      status: 200,
      body: await formatCsv(all, organization, store),
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="usage-${organization.id}-${month.name}.csv"`,
      },
    };
  },
});

/** Members have their own limit of reports, so that they cannot block the organization's. */
function callerOf(organizationId: string, principal: Principal): ReportCaller {
  if (principal.type === "operator") return { lane: organizationId, caller: "operator" };
  const caller = principal.type === "token" ? principal.id : JSON.stringify(principal.person);
  return { lane: principal.role === "member" ? `${organizationId} members` : organizationId, caller };
}

type Query = z.output<typeof usageQuery>;

/**
 * Returns one total per group, in the order of the groups' values; without groups one total, even if empty.
 * Reads day by day, so that a whole month is never in memory.
 * @throws AdminError 400 if there are too many groups for one response.
 */
async function readTotals(
  store: Pick<Store, "readUsageOfDay">,
  organizationId: string,
  month: CalendarPeriod,
  query: Query,
): Promise<Total[]> {
  const groups = parseGroups(query.group_by);
  const totals = new Map<string, Total>();
  if (groups.length === 0) totals.set("[]", createTotal([]));
  for (const day of daysOf(month)) {
    const of = { keyId: query.key_id, userId: query.user_id };
    addRows(totals, filterUsage(await store.readUsageOfDay(organizationId, day, of), query), groups);
    if (totals.size > MAX_REPORT_ROWS) {
      throw invalidField(
        "group_by",
        `more than ${MAX_REPORT_ROWS} rows; use fewer groups, filter by \`key_id\` or \`model\`, or export the month`,
      );
    }
  }
  return [...totals].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, total]) => total);
}

/** Returns the rows that match the query. */
function filterUsage(
  rows: readonly UsageRow[],
  query: Pick<Query, "key_id" | "user_id" | "group_id" | "model" | "tag">,
): readonly UsageRow[] {
  const { key_id: keyId, user_id: userId, group_id: groupId, model, tag } = query;
  const parsed = tag === undefined ? null : parseTagList(tag);
  const tags = parsed !== null && "tags" in parsed ? parsed.tags : "";
  return rows.filter((row) => {
    const owners = parseOwnerIds(row.owners);
    return (
      (keyId === undefined || row.keyId === keyId) &&
      (userId === undefined || owners.userId === userId) &&
      (groupId === undefined || owners.groupId === groupId) &&
      (model === undefined || row.model === model) &&
      hasTags(row.tags, tags)
    );
  });
}

function formatTagCombinations({ tagCombinations, hasOtherTags }: TagCombinations) {
  return { kept: tagCombinations, most: MAX_TAG_COMBINATIONS, has_other: hasOtherTags };
}

function addRows(totals: Map<string, Total>, rows: readonly UsageRow[], groups: readonly UsageGroup[]): void {
  for (const row of rows) {
    const values = groups.map((group) =>
      group.kind === "tag" ? valueOfTag(row.tags, group.name) : PLAIN_GROUPS[group.kind].valueOf(row),
    );
    const name = JSON.stringify(values);
    const total = totals.get(name) ?? createTotal(values);
    totals.set(name, total);
    addFigures(total.figures, row);
  }
}

function createTotal(values: Total["values"]): Total {
  return { values, figures: { ...NO_USAGE } };
}

/** The requested tags are one member. */
function formatGroups(
  { values }: Total,
  groups: readonly UsageGroup[],
  { keyName, userName, groupName }: UsageNames,
): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  const tags: Record<string, string | null> = {};
  for (const [position, group] of groups.entries()) {
    const value = values[position] ?? null;
    if (group.kind === "tag") tags[group.name] = value;
    else row[PLAIN_GROUPS[group.kind].column] = value;
    if (group.kind === "key") row["key_name"] = keyName;
    if (group.kind === "user") row["user_name"] = userName;
    if (group.kind === "group") row["group_name"] = groupName;
  }
  return Object.keys(tags).length === 0 ? row : { ...row, tags };
}

function formatFigures({ figures }: Pick<Total, "figures">) {
  const named = FIGURES_OF_ROWS.map((figure) => [FIGURE_NAMES[figure], figures[figure]]);
  return { ...Object.fromEntries(named), cost_cents: wholeCents(figures.costMicrocents) };
}

/** Formats the columns of every usage table. For a requested tag, the value `other` means all further combinations. */
async function formatCsv(
  all: readonly { readonly total: Total; readonly parts: UsageParts }[],
  organization: OrganizationRecord,
  store: NamesStore,
): Promise<string> {
  const keyed = all.map(({ parts }) => parts);
  const namesOf = await readUsageNames(store, organization.id, keyed);
  return formatUsageTable(
    all.map(({ total: { figures }, parts }) => ({
      ...parts,
      ...figures,
      id: formatRowId(parts),
      organization,
      ...namesOf(parts),
    })),
  );
}

function readParts({ values }: Total, groups: readonly UsageGroup[]): UsageParts {
  const parts: Partial<Record<UsageGroup["kind"], string | null>> = {};
  const tags: string[] = [];
  for (const [position, group] of groups.entries()) {
    const value = values[position] ?? null;
    if (group.kind !== "tag") parts[group.kind] = value;
    else if (value !== null) tags.push(`${group.name}=${value}`);
  }
  const { day = null, key = null, user = null, group = null, model = null } = parts;
  const owners = formatOwnerIds({ userId: user, groupId: group });
  return { day, keyId: key, owners, model, tags: tags.toSorted().join(",") };
}

export { show as showUsageRoute };

export const usageRoutes = [show];
