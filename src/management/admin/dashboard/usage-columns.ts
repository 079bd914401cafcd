/** From rows of usage to the columns of a chart: one a day, or one a month where days would be too many. */
import { formatMonthName } from "../../../shared/time/calendar.ts";
import { addDays, addUp, type DayRange, daysIn, groupRows } from "./usage-range.ts";
import type { Grouping } from "./usage-groups.ts";
import type { UsageRowView } from "./views.ts";

/** More columns than these become months. */
const MOST_DAYS = 93;

export interface ColumnTitle {
  /** "November 2026", "2026-11-21" */
  readonly title: string;
  /** On the axis: "2026-11", "11-21". */
  readonly short: string;
}

export interface ColumnSeries {
  readonly name: string;
  /** One value for each column. */
  readonly values: readonly number[];
}

/** What the columns of a range are, and which of them a row belongs to. */
export interface RangeColumns extends Grouping {
  readonly unit: "day" | "month";
  readonly titles: readonly ColumnTitle[];
  /** The sum of each column. */
  readonly addUp: (rows: readonly UsageRowView[], valueOf: (row: UsageRowView) => number) => number[];
}

export function columnsOf(range: DayRange): RangeColumns {
  const days = daysIn(range);
  const unit = days.length > MOST_DAYS ? "month" : "day";
  const columnOf = (day: string): string => (unit === "month" ? day.slice(0, "2026-11".length) : day);
  const names = [...new Set(days.map(columnOf))];
  const nameOf = (name: string): string => (unit === "month" ? formatMonthName(name) : name);
  const positions = new Map(names.map((name, index) => [name, index]));
  return {
    unit,
    groupOf: ({ day = "" }) => columnOf(day),
    nameOf,
    titles: names.map((name) => ({
      title: nameOf(name),
      short: unit === "month" ? name : name.slice("2026-".length),
    })),
    addUp: (rows, valueOf) => {
      const values = names.map(() => 0);
      for (const row of rows) {
        const position = positions.get(columnOf(row.day ?? ""));
        if (position !== undefined) values[position] = (values[position] ?? 0) + valueOf(row);
      }
      return values;
    },
  };
}

/** What each group cost, the dearest first. */
export function gatherCost(
  columns: RangeColumns,
  rows: readonly UsageRowView[],
  { groupOf, nameOf }: Grouping,
): readonly ColumnSeries[] {
  return [...groupRows(rows, groupOf)]
    .toSorted(([, left], [, right]) => costOfAll(right) - costOfAll(left))
    .map(([group, own]) => ({ name: nameOf(group), values: columns.addUp(own, costOf) }));
}

/** The tokens, split. */
export function gatherTokens(columns: RangeColumns, rows: readonly UsageRowView[]): readonly ColumnSeries[] {
  return [
    { name: "input", values: columns.addUp(rows, (row) => row.input_tokens) },
    { name: "cached input", values: columns.addUp(rows, (row) => row.cached_input_tokens) },
    { name: "output", values: columns.addUp(rows, (row) => row.output_tokens) },
  ];
}

/** What the period before cost: its first day in the column of the range's first day, and so on. */
export function gatherCostBefore(
  columns: RangeColumns,
  range: DayRange,
  before: readonly UsageRowView[],
): readonly number[] {
  const days = daysIn(range).length;
  const moved = before.map((row) => ({ ...row, day: addDays(row.day ?? "", days) }));
  return columns.addUp(moved, costOf);
}

function costOfAll(rows: readonly UsageRowView[]): number {
  return addUp(rows, "cost_microcents");
}

function costOf(row: UsageRowView): number {
  return Number(row.cost_microcents);
}
