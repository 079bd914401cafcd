/** `GET …/usage`: usage and cost of the requests of a month or of a range of days, as JSON or CSV. */
import { wholeCents } from "../../../shared/money/money.ts";
import type { Store } from "../../../shared/stored/store.ts";
import { dayAt, monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import { addDays, type DayRange, daysIn, MAX_DAYS, monthsIn } from "../../../shared/time/day-range.ts";
import { MAX_TAG_COMBINATIONS } from "../../../shared/usage/tags.ts";
import { KINDS_BY_POSITION, TOKEN_KINDS } from "../../../shared/usage/token-usage.ts";
import { FIGURE_NAMES, FIGURES, type UsageFigure } from "../../../shared/usage/usage-figures.ts";
import {
  isTimeGroup,
  parseGroups,
  type UsageGroup,
  usage,
  type UsageQuery,
  usageQuery,
} from "../schemas/usage.ts";
import type { OrganizationRecord } from "../../../shared/stored/management.ts";
import { formatOwnerIds } from "../../../shared/stored/owner-ids.ts";
import { formatRowId, formatUsageTable, type UsageParts } from "../usage-export/usage-table.ts";
import { invalidField } from "../admin-error.ts";
import type { Principal } from "../principal.ts";
import type { ReportCaller } from "../report-turns.ts";
import { type NamesStore, readFilterNames, readUsageNames, type UsageNames } from "./names.ts";
import { defineOrganizationRoute } from "./route.ts";
import { readDays, readListedRequests } from "./usage-rows.ts";
import { needsRequests, PLAIN_GROUPS, readTotals, type Total } from "./usage-totals.ts";

/** Figures in the order of responses: tokens by position. */
const FIGURES_OF_ROWS: readonly UsageFigure[] = [
  "requests",
  ...KINDS_BY_POSITION,
  ...FIGURES.slice(1 + TOKEN_KINDS.length),
];

const show = defineOrganizationRoute({
  method: "GET",
  path: "/api/organizations/{organization}/usage",
  operationId: "getUsage",
  summary: "Show requests, tokens and cost of a month, or of up to 400 days.",
  query: usageQuery,
  answers: { 200: usage },
  otherMediaType: "text/csv",
  handleInOrganization: async ({ organization, query, principal }, { store, reports }) => {
    const range = readRange(query, await store.timeMs());
    const groups = parseGroups(query.group_by);
    if (query.format === "csv" && groups.some(({ kind }) => kind === "upstream")) {
      throw invalidField("format", "expected `json` with `group_by=upstream`");
    }
    const readRows = needsRequests(groups, query) ? readListedRequests : readDays;
    const source = readRows(store, organization.id, range, query);
    const { totals, tagNames } = await reports.run(callerOf(organization.id, principal), () =>
      readTotals(source, groups, query),
    );
    const all = totals.map((total) => ({ total, parts: readParts(total, groups) }));
    if (query.format !== "csv") {
      const keyed = all.map(({ parts }) => parts);
      const namesOf = await readUsageNames(store, organization.id, keyed);
      const data = all.map(({ total, parts }) => ({
        ...formatGroups(total, groups, namesOf(parts)),
        ...formatFigures(total),
        ...(query.health === "true" ? { health: total.health.format() } : {}),
      }));
      const tags = { ...(await readTagCombinations(store, organization.id, range)), names: tagNames };
      const { currency } = organization;
      const filterNames = await readFilterNames(store, organization.id, query, principal);
      const completeFrom = source.completeFrom();
      const about = { complete_from: completeFrom, tag_combinations: tags, filter_names: filterNames };
      const body = { ...range, currency, ...about, data };
      return { status: 200, body };
    }
    const file = `usage-${organization.id}-${query.from === undefined ? range.from.slice(0, 7) : `${range.from}-${range.to}`}`;
    return {
      status: 200,
      body: await formatCsv(all, organization, store),
      headers: {
        "content-type": "text/csv; charset=utf-8",
        "content-disposition": `attachment; filename="${file}.csv"`,
      },
    };
  },
});

/** @throws AdminError 400 for days in the wrong order, too many days, or days and a month. */
function readRange({ month: name, from, to }: UsageQuery, nowMs: number): DayRange {
  if (from === undefined) {
    if (to !== undefined) throw invalidField("from", "required with `to`");
    const month = parseMonth(name ?? "") ?? monthAt(nowMs);
    return { from: dayAt(month.startMs).name, to: addDays(dayAt(month.endMs).name, -1) };
  }
  if (name !== undefined) throw invalidField("month", "expected `month`, or `from` and `to`");
  const range = { from, to: to ?? dayAt(nowMs).name };
  if (range.to < from) throw invalidField("to", "expected a day that isn't before `from`");
  if (daysIn(range).length > MAX_DAYS) {
    throw invalidField("from", `expected at most ${MAX_DAYS} days before \`to\``);
  }
  return range;
}

/** Members have their own limit of reports, so that they cannot block the organization's. */
export function callerOf(organizationId: string, principal: Principal): ReportCaller {
  if (principal.type === "operator") return { lane: organizationId, caller: "operator" };
  if (principal.type === "key") return { lane: `${organizationId} members`, caller: principal.keyId };
  const caller = principal.type === "token" ? principal.id : JSON.stringify(principal.person);
  return { lane: principal.role === "member" ? `${organizationId} members` : organizationId, caller };
}

async function readTagCombinations(
  store: Pick<Store, "countTagCombinations">,
  organizationId: string,
  range: DayRange,
) {
  const months = await Promise.all(
    monthsIn(range).map((month) => store.countTagCombinations(organizationId, month)),
  );
  return {
    kept: Math.max(...months.map(({ tagCombinations }) => tagCombinations)),
    most: MAX_TAG_COMBINATIONS,
    has_other: months.some(({ hasOtherTags }) => hasOtherTags),
  };
}

/** The requested tags are one member. */
function formatGroups(
  { values, summedGroups }: Total,
  groups: readonly UsageGroup[],
  { keyName, userName, groupName }: UsageNames,
): Record<string, unknown> {
  const row: Record<string, unknown> = summedGroups === null ? {} : { others: summedGroups };
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
    all.map(({ total: { figures, summedGroups }, parts }) => ({
      ...parts,
      ...figures,
      id: summedGroups === null ? formatRowId(parts) : `${formatRowId(parts)} others`,
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
    if (isTimeGroup(group)) parts.day = value;
    else if (group.kind !== "tag") parts[group.kind] = value;
    else if (value !== null) tags.push(`${group.name}=${value}`);
  }
  const { day = null, key = null, user = null, group = null, model = null, session = null } = parts;
  const owners = formatOwnerIds({ userId: user, groupId: group });
  return { day, keyId: key, owners, model, tags: tags.toSorted().join(","), session };
}

export { show as showUsageRoute };

export const usageRoutes = [show];
