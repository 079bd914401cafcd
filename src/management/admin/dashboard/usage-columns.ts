/** Converts usage rows to columns of a chart: one per hour, day, week or month. */
import { daysOf, formatMonthName, parseMonth } from "../../../shared/time/calendar.ts";
import { formatWindowStart } from "../../../shared/time/periods.ts";
import { addDays, daysBefore, type DayRange, daysIn } from "../../../shared/time/day-range.ts";
import { chooseUnit, tagOf, type UsageGroupName, type UsageUnit } from "./usage-choice.ts";
import { addUp, groupRows } from "./usage-range.ts";
import type { UsageRowView } from "./views.ts";

export interface ColumnTitle {
  /** "November 2026", "2026-11-21" */
  readonly title: string;
  /** Label on the axis: "2026-11", "11-21". */
  readonly short: string;
}

export interface ColumnSeries {
  readonly name: string;
  /** Class of its color. Omitted: the color of its place. */
  readonly class?: string;
  /** One value per column. */
  readonly values: readonly number[];
}

/** Columns of a range, with the column of each row. */
interface RangeColumns extends Grouping {
  readonly unit: UsageUnit;
  readonly titles: readonly ColumnTitle[];
  /** Returns the value of each column. */
  readonly addUp: (rows: readonly UsageRowView[], valueOf: ValueOf) => number[];
}

type ValueOf = (rows: readonly UsageRowView[]) => number;

/** Names of each unit's columns, with the API's own values. */
const UNITS: Readonly<
  Record<
    UsageUnit,
    {
      readonly columnsOf: (day: string) => readonly string[];
      readonly nameOf: (column: string) => string;
      readonly short: (column: string) => string;
    }
  >
> = {
  hour: {
    columnsOf: (day) =>
      Array.from({ length: 24 }, (_, hour) => `${day}T${String(hour).padStart(2, "0")}:00Z`),
    nameOf: (hour) => `${hour.slice(0, 10)} ${hour.slice(11, 16)} UTC`,
    short: (hour) => hour.slice("2026-11-21T".length, -1),
  },
  day: { columnsOf: (day) => [day], nameOf: (day) => day, short: (day) => day.slice("2026-".length) },
  week: {
    columnsOf: (day) => [formatWindowStart("week", day) ?? day],
    nameOf: (monday) => `week of ${monday}`,
    short: (monday) => monday.slice("2026-".length),
  },
  month: {
    columnsOf: (day) => [day.slice(0, "2026-11".length)],
    nameOf: formatMonthName,
    short: (month) => month,
  },
};

export function columnsOf(range: DayRange, unit: UsageUnit = chooseUnit(range)): RangeColumns {
  const { columnsOf: columnsOfDay, nameOf, short } = UNITS[unit];
  const names = [...new Set(daysIn(range).flatMap((day) => columnsOfDay(day)))];
  const groupOf = (row: UsageRowView): string =>
    row[unit] ?? (row.day === undefined ? "" : (columnsOfDay(row.day)[0] ?? ""));
  return {
    unit,
    groupOf,
    nameOf,
    titles: names.map((name) => ({ title: nameOf(name), short: short(name) })),
    addUp: (rows, valueOf) => {
      const groups = groupRows(rows, groupOf);
      return names.map((name) => valueOf(groups.get(name) ?? []));
    },
  };
}

/** Returns the cost, or another figure, of each group: largest first, all others last. */
export function gatherCost(
  columns: RangeColumns,
  rows: readonly UsageRowView[],
  grouping: Grouping,
  valueOf: ValueOf = costOf,
): readonly ColumnSeries[] {
  return rankGroups(rows, grouping, valueOf).map(([group, own]) => ({
    name: grouping.nameOf(group),
    values: columns.addUp(own, valueOf),
  }));
}

/** Returns the groups with their rows: largest first, all others last. */
export function rankGroups(
  rows: readonly UsageRowView[],
  { groupOf }: Grouping,
  valueOf: ValueOf,
): readonly (readonly [group: string, rows: readonly UsageRowView[]])[] {
  const sizeOf = ([group, own]: readonly [string, readonly UsageRowView[]]): number =>
    group === SMALLER_GROUPS ? -Infinity : valueOf(own);
  return [...groupRows(rows, groupOf)].toSorted((left, right) => sizeOf(right) - sizeOf(left));
}

/** Returns the tokens by kind. */
export function gatherTokens(columns: RangeColumns, rows: readonly UsageRowView[]): readonly ColumnSeries[] {
  return [
    { name: "input", values: columns.addUp(rows, (own) => addUp(own, "input_tokens")) },
    { name: "cached input", values: columns.addUp(rows, (own) => addUp(own, "cached_input_tokens")) },
    { name: "output", values: columns.addUp(rows, (own) => addUp(own, "output_tokens")) },
  ];
}

/** Returns the figure of the days before, each in the column of its weekday. @param before Rows by day. */
export function gatherBefore(
  columns: RangeColumns,
  range: DayRange,
  before: readonly UsageRowView[],
  valueOf: ValueOf = costOf,
): readonly number[] {
  const days = daysBefore(range);
  const moved = before.map((row) => ({ ...row, day: addDays(row.day ?? "", days) }));
  return columns.addUp(moved, valueOf);
}

function costOf(rows: readonly UsageRowView[]): number {
  return addUp(rows, "cost_microcents");
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

/** The group of all rows beyond the largest groups. */
export const SMALLER_GROUPS = " others";

interface Field {
  readonly id: keyof UsageRowView;
  /** Field with its name. Omitted: the id. */
  readonly name?: keyof UsageRowView;
  /** Name of rows without one. */
  readonly none: string;
}

const FIELDS: Readonly<Record<UsageGroupName, Field>> = {
  key: { id: "key_id", name: "key_name", none: CORRECTIONS },
  user: { id: "user_id", name: "user_name", none: "no user" },
  group: { id: "group_id", name: "group_name", none: "no group" },
  model: { id: "model", none: CORRECTIONS },
  upstream: { id: "upstream", none: "unknown" },
  session: { id: "session_id", none: "no session" },
};

/** Returns names in the rows by id, without expired ones. */
function namesIn(rows: readonly UsageRowView[], { id, name = id }: Field): ReadonlyMap<string, string> {
  return new Map(
    rows.flatMap((row) => (row[id] && row[name] ? [[row[id] as string, row[name] as string]] : [])),
  );
}

/** Returns names of the keys in the rows by id, without expired ones. */
export function keyNamesIn(rows: readonly UsageRowView[]): ReadonlyMap<string, string> {
  return namesIn(rows, FIELDS.key);
}

/** @param rows All rows shown: if two of their groups have the same name, the end of the id is appended. */
function groupByField(rows: readonly UsageRowView[], field: Field): Grouping {
  const names = namesIn(rows, field);
  const idOfName = new Map([...names].map(([id, name]) => [name, id]));
  const shared = new Set([...names].flatMap(([id, name]) => (idOfName.get(name) === id ? [] : [name])));
  return {
    groupOf: (row) => (row[field.id] ?? "") as string,
    nameOf: (id) => {
      if (id === "") return field.none;
      const name = names.get(id) ?? id;
      return shared.has(name) ? `${name} (…${id.slice(-ID_END_LENGTH)})` : name;
    },
  };
}

/** Groups by the values of a tag. */
function groupByTag(tag: string): Grouping {
  return {
    groupOf: (row) => row.tags?.[tag] ?? "",
    nameOf: (value) => (value === "" ? `without ${tag}` : value),
  };
}

/** @param by One of the groups, or "tag:team". */
export function groupBy(rows: readonly UsageRowView[], by: string): Grouping {
  const tag = tagOf(by);
  const own = tag === null ? groupByField(rows, FIELDS[by as UsageGroupName]) : groupByTag(tag);
  const count = rows.find((row) => row.others !== undefined)?.others ?? 0;
  return {
    groupOf: (row) => (row.others === undefined ? own.groupOf(row) : SMALLER_GROUPS),
    nameOf: (group) => (group === SMALLER_GROUPS ? `${count} others` : own.nameOf(group)),
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
