/** From rows of usage to the columns of a chart: one a day, or one a month where days would be too many. */
import { DAY_MS, daysOf, formatMonthName, monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import { addDays, addUp, type DayRange, daysIn, groupRows } from "./usage-range.ts";
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
interface RangeColumns extends Grouping {
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

export interface Grouping {
  readonly groupOf: (row: UsageRowView) => string;
  /** How people read a group. */
  readonly nameOf: (group: string) => string;
}

/** Of no key, of no model. */
const CORRECTIONS = "spend corrections";
/** Of an id, where a name alone would not tell two keys apart. */
const ID_END_LENGTH = 4;

/** Key id → name, of the keys in the rows; a name that is not kept any more is missing. */
export function keyNamesIn(rows: readonly UsageRowView[]): ReadonlyMap<string, string> {
  return new Map(rows.flatMap(({ key_id: id, key_name: name }) => (id && name ? [[id, name]] : [])));
}

/** @param rows All that are shown: where two of their keys have one name, it gets the end of the id. */
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

/** By the values of a tag. */
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

/** Every day of the month, those without spend too. */
export function listDays(month: string, rows: readonly UsageRowView[]): DayValue[] {
  const period = parseMonth(month);
  const spent = new Map<string, number>();
  for (const { day = "", cost_microcents: microcents } of rows) {
    spent.set(day, (spent.get(day) ?? 0) + Number(microcents));
  }
  return period === null ? [] : daysOf(period).map((day) => ({ day, microcents: spent.get(day) ?? 0 }));
}

interface MonthProgress {
  /** Days that have begun, today included. */
  readonly daysBegun: number;
  /** Whole days after today. */
  readonly daysLeft: number;
  /** At the pace of the month so far; null in its first day and in months that are over. */
  readonly forecastMicrocents: number | null;
}

/** How far this month is, and what it comes to when it goes on as it has. */
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
