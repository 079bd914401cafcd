/** Usage of a range of days, read month by month, and its sums. */
import { DAY_MS, dayAt, isDay, monthAt } from "../../../shared/time/calendar.ts";
import { AdminError } from "../admin-error.ts";
import { MAX_REPORT_ROWS } from "../report-turns.ts";
import type { OrganizationPageCall } from "./page.ts";
import type { UsageRowView, UsageView } from "./views.ts";

/** A year and the month before it. */
const MAX_DAYS = 400;

/** UTC days, inclusive: "2026-11-01". */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Parses the requested range; by default the current month up to today. Bounds the number of days. */
export function parseRange(from: string | null, to: string | null, nowMs: number): DayRange {
  const today = dayAt(nowMs).name;
  const last = to !== null && isDay(to) ? to : today;
  const first = from !== null && isDay(from) ? from : monthAt(Date.parse(last)).name.concat("-01");
  const [start, end] = first <= last ? [first, last] : [last, first];
  const earliest = addDays(end, 1 - MAX_DAYS);
  return { from: start < earliest ? earliest : start, to: end };
}

/** Returns the preceding range of the same length. */
export function rangeBefore(range: DayRange): DayRange {
  return { from: addDays(range.from, -daysIn(range).length), to: addDays(range.from, -1) };
}

export function daysIn({ from, to }: DayRange): readonly string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) => addDays(from, index));
}

export function addDays(day: string, count: number): string {
  return dayAt(Date.parse(day) + count * DAY_MS).name;
}

export interface TagChoice {
  /** Filter "team=search"; empty: all. */
  readonly tag: string;
  /** Name of a tag whose values are separate; empty: none. */
  readonly byTag: string;
}

export interface RangeUsage {
  /** Rows of the range by day, key, model and possibly a tag. */
  readonly rows: readonly UsageRowView[];
  /** Months with more tag combinations than their maximum. */
  readonly monthsWithOther: readonly string[];
  /** Maximum number of combinations per month. */
  readonly mostCombinations: number;
}

export interface UsageChoice extends TagChoice {
  /** Ids; empty: all. */
  readonly key: string;
  readonly model: string;
}

/** Reads a month's usage; by default the current month's. */
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

export async function readUsageRange(
  page: OrganizationPageCall,
  range: DayRange,
  { tag, byTag, key, model }: UsageChoice,
): Promise<RangeUsage> {
  const groups = `day,key,model${byTag === "" ? "" : `,tag:${byTag}`}`;
  const months = [...new Set(daysIn(range).map((day) => day.slice(0, "2026-11".length)))];
  const usages: UsageView[] = [];
  const rows: UsageRowView[] = [];
  // Sequential, as reports of an organization run.
  for (const month of months) {
    const usage = await readUsage(page, groups, { month, tag, key_id: key, model });
    for (const row of usage.data) {
      if (row.day !== undefined && row.day >= range.from && row.day <= range.to) rows.push(row);
    }
    usages.push({ ...usage, data: [] });
    if (rows.length > MAX_REPORT_ROWS) throw tooManyRows();
  }
  return {
    rows,
    monthsWithOther: usages.filter((usage) => usage.tag_combinations.has_other).map(({ month }) => month),
    mostCombinations: usages[0]?.tag_combinations.most ?? 0,
  };
}

function tooManyRows(): AdminError {
  const message = `These days have more than ${MAX_REPORT_ROWS} rows of usage. Choose fewer days, an API key or a model, or export the month.`;
  return new AdminError("invalid_parameter", { message });
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
