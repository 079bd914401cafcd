/** Sums of a report of usage: one for each combination of what the rows are grouped by. */
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import { formatWindowStart } from "../../../shared/time/periods.ts";
import { readTags, valueOfTag } from "../../../shared/usage/tags.ts";
import { addFigures, type MutableUsageFigures, NO_USAGE } from "../../../shared/usage/usage-figures.ts";
import { invalidField } from "../admin-error.ts";
import { MAX_REPORT_ROWS } from "../report-turns.ts";
import { isTimeGroup, type UsageGroup, type UsageQuery } from "../schemas/usage.ts";
import { HealthTally } from "./health.ts";
import type { ReportRow, RowSource } from "./usage-rows.ts";

interface PlainGroup {
  /** Name in answers. */
  readonly column: string;
  readonly valueOf: (row: ReportRow) => string | null;
}

export const PLAIN_GROUPS = {
  hour: { column: "hour", valueOf: ({ hour = "" }) => hour },
  day: { column: "day", valueOf: ({ day }) => day },
  week: { column: "week", valueOf: ({ day }) => formatWindowStart("week", day) },
  month: { column: "month", valueOf: ({ day }) => day.slice(0, "2026-11".length) },
  key: { column: "key_id", valueOf: ({ keyId }) => keyId },
  user: { column: "user_id", valueOf: ({ owners }) => parseOwnerIds(owners).userId },
  group: { column: "group_id", valueOf: ({ owners }) => parseOwnerIds(owners).groupId },
  model: { column: "model", valueOf: ({ model }) => model },
  upstream: { column: "upstream", valueOf: ({ upstream = null }) => upstream },
  session: { column: "session_id", valueOf: ({ session = null }) => session },
} as const satisfies Record<Exclude<UsageGroup["kind"], "tag">, PlainGroup>;

export interface Total {
  /** In the order of the groups. */
  readonly values: readonly (string | null)[];
  readonly figures: MutableUsageFigures;
  readonly health: HealthTally;
  /** Number of groups beyond the largest that it sums up; null: it is one group. */
  readonly summedGroups: number | null;
}

export interface Report {
  readonly totals: readonly Total[];
  /** Names of the tags in the summed rows. */
  readonly tagNames: readonly string[];
}

type Order = NonNullable<UsageQuery["order"]>;

const ORDERS: Readonly<Record<Order, (row: ReportRow) => bigint>> = {
  cost: ({ costMicrocents }) => costMicrocents,
  requests: ({ requests }) => BigInt(requests),
  tokens: ({ inputTokens, cachedInputTokens, outputTokens }) =>
    BigInt(inputTokens + cachedInputTokens + outputTokens),
};

/** Groups that a ranking compares: each is a name and a number. */
export const MAX_RANKED = 10 * MAX_REPORT_ROWS;

/**
 * Returns one total per group, in the order of the groups' values; without groups one total, also of nothing. With `top`,
 * reads the rows twice: only the largest groups have totals, and one more for all others.
 * @throws AdminError 400 if there are too many groups for one answer.
 */
export async function readTotals(
  source: RowSource,
  groups: readonly UsageGroup[],
  { top, order = "cost" }: Pick<UsageQuery, "top" | "order">,
): Promise<Report> {
  const ranking = top === undefined ? null : await rank(source, groups, top, ORDERS[order]);
  const totals = new Map<string, Total>();
  if (groups.length === 0) totals.set("[true]", createTotal([], null));
  const combinations = new Set<string>();
  for await (const rows of source.read()) {
    for (const row of rows) {
      const values = groups.map((group) => valueOf(row, group));
      const isLargest = ranking === null || ranking.largest.has(nameOf(values, groups));
      const shown = isLargest ? values : values.map((value, at) => (isTime(groups[at]) ? value : null));
      const name = JSON.stringify([...shown, isLargest]);
      const total = totals.get(name) ?? createTotal(shown, isLargest ? null : ranking.furtherGroups);
      totals.set(name, total);
      addFigures(total.figures, row);
      if (row.request !== undefined) total.health.add(row.request);
      combinations.add(row.tags);
    }
    refuseMore(totals.size, MAX_REPORT_ROWS);
  }
  return {
    totals: [...totals].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, total]) => total),
    tagNames: [...new Set([...combinations].flatMap((tags) => Object.keys(readTags(tags))))].toSorted(),
  };
}

interface Ranking {
  readonly largest: ReadonlySet<string>;
  /** Number of further groups. */
  readonly furtherGroups: number;
}

async function rank(
  source: RowSource,
  groups: readonly UsageGroup[],
  top: number,
  amountOf: (row: ReportRow) => bigint,
): Promise<Ranking> {
  const sums = new Map<string, bigint>();
  for await (const rows of source.read()) {
    for (const row of rows) {
      const name = nameOf(
        groups.map((group) => valueOf(row, group)),
        groups,
      );
      sums.set(name, (sums.get(name) ?? 0n) + amountOf(row));
    }
    refuseMore(sums.size, MAX_RANKED);
  }
  const ranked = [...sums].sort(([, left], [, right]) => (left > right ? -1 : left < right ? 1 : 0));
  return {
    largest: new Set(ranked.slice(0, top).map(([name]) => name)),
    furtherGroups: Math.max(0, ranked.length - top),
  };
}

/** @throws AdminError 400 */
export function refuseMore(rows: number, most: number): void {
  if (rows <= most) return;
  throw invalidField(
    "group_by",
    `more than ${most} rows; use fewer groups or \`top\`, filter by \`key_id\` or \`model\`, or export the month`,
  );
}

/** Names a group whatever its time. */
function nameOf(values: readonly (string | null)[], groups: readonly UsageGroup[]): string {
  return JSON.stringify(values.filter((_, at) => !isTime(groups[at])));
}

function isTime(group: UsageGroup | undefined): boolean {
  return group !== undefined && isTimeGroup(group);
}

function valueOf(row: ReportRow, group: UsageGroup): string | null {
  return group.kind === "tag" ? valueOfTag(row.tags, group.name) : PLAIN_GROUPS[group.kind].valueOf(row);
}

function createTotal(values: Total["values"], summedGroups: number | null): Total {
  return { values, figures: { ...NO_USAGE }, health: new HealthTally(), summedGroups };
}

/** Returns whether the requested parts need requests that are still listed. */
export function needsRequests(
  groups: readonly UsageGroup[],
  { session, health }: Pick<UsageQuery, "session" | "health">,
): boolean {
  const isListed = groups.some(({ kind }) => kind === "hour" || kind === "upstream" || kind === "session");
  return session !== undefined || health === "true" || isListed;
}
