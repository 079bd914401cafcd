/** Usage of a range of days, and its sums. */
import { dayAt, isDay, monthAt } from "../../../shared/time/calendar.ts";
import { addDays, type DayRange, MAX_DAYS } from "../../../shared/time/day-range.ts";
import type { OrganizationPageCall } from "./page.ts";
import type { UsageRowView, UsageView } from "./views.ts";

/** Parses the requested range; by default the current month up to today. Bounds the number of days. */
export function parseRange(from: string | null, to: string | null, nowMs: number): DayRange {
  const today = dayAt(nowMs).name;
  const last = to !== null && isDay(to) ? to : today;
  const first = from !== null && isDay(from) ? from : monthAt(Date.parse(last)).name.concat("-01");
  const [start, end] = first <= last ? [first, last] : [last, first];
  const earliest = addDays(end, 1 - MAX_DAYS);
  return { from: start < earliest ? earliest : start, to: end };
}

/** Reads the usage of the days or month in `choice`; by default the current month's. */
export async function readUsage(
  page: OrganizationPageCall,
  groupBy: string,
  /** Query parameters of the API; empty ones are omitted. */
  choice: Readonly<Record<string, string>> = {},
): Promise<UsageView> {
  const given = Object.entries(choice).filter(([, value]) => value !== "");
  const { body } = await page.api("GET /api/organizations/{organization}/usage", {
    query: { group_by: groupBy, ...Object.fromEntries(given) },
  });
  return body;
}

/** Figures that are summed, with the API's names. */
export type UsageFigure =
  | "requests"
  | "input_tokens"
  | "cached_input_tokens"
  | "output_tokens"
  | "cost_microcents";

export function addUp(rows: readonly UsageRowView[], figure: UsageFigure): number {
  return rows.reduce((sum, row) => sum + Number(row[figure]), 0);
}

/** Returns the part of the input tokens that came from prompt caches: "87 %", or "none" without input tokens. */
export function formatCachedShare(rows: readonly UsageRowView[]): string {
  const cached = addUp(rows, "cached_input_tokens");
  const input = addUp(rows, "input_tokens") + cached;
  return input === 0 ? "none" : `${Math.round((100 * cached) / input)} %`;
}

/** Groups the rows by key, in order of first occurrence. */
export function groupRows(
  rows: readonly UsageRowView[],
  nameOf: (row: UsageRowView) => string,
): ReadonlyMap<string, readonly UsageRowView[]> {
  const groups = new Map<string, UsageRowView[]>();
  for (const row of rows) {
    const name = nameOf(row);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [row]);
    else group.push(row);
  }
  return groups;
}
