/** Converts usage rows to columns of a chart: one per day, or per month if there would be too many. */
import { DAY_MS, daysOf, formatMonthName, monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import { addDays, addUp, type DayRange, daysIn, groupRows } from "./usage-range.ts";
import type { UsageRowView } from "./views.ts";

/** With more days, columns are months. */
const MOST_DAYS = 93;

export interface ColumnTitle {
  /** "November 2026", "2026-11-21" */
  readonly title: string;
  /** Label on the axis: "2026-11", "11-21". */
  readonly short: string;
}

export interface ColumnSeries {
  readonly name: string;
  /** One value per column. */
  readonly values: readonly number[];
}

/** Columns of a range, with the column of each row. */
interface RangeColumns extends Grouping {
  readonly unit: "day" | "month";
  readonly titles: readonly ColumnTitle[];
  /** Returns the sum of each column. */
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

/** Returns the cost of each group, highest first. */
export function gatherCost(
  columns: RangeColumns,
  rows: readonly UsageRowView[],
  { groupOf, nameOf }: Grouping,
): readonly ColumnSeries[] {
  return [...groupRows(rows, groupOf)]
    .toSorted(([, left], [, right]) => costOfAll(right) - costOfAll(left))
    .map(([group, own]) => ({ name: nameOf(group), values: columns.addUp(own, costOf) }));
}

/** Returns the tokens by kind. */
export function gatherTokens(columns: RangeColumns, rows: readonly UsageRowView[]): readonly ColumnSeries[] {
  return [
    { name: "input", values: columns.addUp(rows, (row) => row.input_tokens) },
    { name: "cached input", values: columns.addUp(rows, (row) => row.cached_input_tokens) },
    { name: "output", values: columns.addUp(rows, (row) => row.output_tokens) },
  ];
}

/** Returns the cost of the previous period: its first day in the column of the range's first day, and so on. */
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

export interface Grouping {
  readonly groupOf: (row: UsageRowView) => string;
  /** Returns the name of a group for people. */
  readonly nameOf: (group: string) => string;
}

/** Group of rows without key and model. */
const CORRECTIONS = "spend corrections";
/** Length of an id's end, which distinguishes keys with the same name. */
const ID_END_LENGTH = 4;

/** Returns names of the keys in the rows by id, without expired ones. */
export function keyNamesIn(rows: readonly UsageRowView[]): ReadonlyMap<string, string> {
  return new Map(rows.flatMap(({ key_id: id, key_name: name }) => (id && name ? [[id, name]] : [])));
}

/** @param rows All rows shown: if two of their keys have the same name, the end of the id is appended. */
export function groupByKey(rows: readonly UsageRowView[]): Grouping {
  const names = keyNamesIn(rows);
  const all = [...names.values()];
  const isShared = (name: string): boolean => all.indexOf(name) !== all.lastIndexOf(name);
  return {
    groupOf: (row) => row.key_id ?? "",
    nameOf: (id) => {
      if (id === "") return CORRECTIONS;
      const name = names.get(id) ?? id;
      return isShared(name) ? `${name} (…${id.slice(-ID_END_LENGTH)})` : name;
    },
  };
}

export const GROUP_BY_MODEL: Grouping = {
  groupOf: (row) => row.model ?? "",
  nameOf: (model) => (model === "" ? CORRECTIONS : model),
};

/** Groups by the values of a tag. */
export function groupByTag(tag: string): Grouping {
  return {
    groupOf: (row) => row.tags?.[tag] ?? "",
    nameOf: (value) => (value === "" ? `without ${tag}` : value),
  };
}

export interface DayValue {
  /** "2026-11-21" */
  readonly day: string;
  readonly microcents: number;
}

/** Lists every day of the month, including those without spend. */
export function listDays(month: string, rows: readonly UsageRowView[]): DayValue[] {
  const period = parseMonth(month);
  const spent = new Map<string, number>();
  for (const { day = "", cost_microcents: microcents } of rows) {
    spent.set(day, (spent.get(day) ?? 0) + Number(microcents));
  }
  return period === null ? [] : daysOf(period).map((day) => ({ day, microcents: spent.get(day) ?? 0 }));
}

interface MonthProgress {
  /** Days that have started, including today. */
  readonly daysBegun: number;
  /** Whole days after today. */
  readonly daysLeft: number;
  /** Forecast at the current pace; null on the first day and for past months. */
  readonly forecastMicrocents: number | null;
}

/** Measures the progress of a month, and extrapolates its spend. */
export function measureProgress(month: string, spentMicrocents: number, nowMs: number): MonthProgress {
  const period = parseMonth(month);
  if (period === null || monthAt(nowMs).name !== month) {
    const days = period === null ? 0 : daysOf(period).length;
    return { daysBegun: days, daysLeft: 0, forecastMicrocents: null };
  }
  const passed = nowMs - period.startMs;
  const whole = period.endMs - period.startMs;
  return {
    daysBegun: Math.floor(passed / DAY_MS) + 1,
    daysLeft: Math.floor((period.endMs - nowMs) / DAY_MS),
    forecastMicrocents: passed < DAY_MS ? null : Math.round((spentMicrocents / passed) * whole),
  };
}
