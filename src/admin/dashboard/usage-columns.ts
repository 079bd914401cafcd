/** From rows of usage to the columns of a chart: one a day, or one a month where days would be too many. */
import { formatMonthName } from "../../calendar.ts";
import { addUp, type DayRange, daysIn, groupRows } from "./usage-range.ts";
import type { UsageRowView } from "./views.ts";

/** More columns than these become months. */
const MOST_DAYS = 93;

export interface Columns {
  readonly columns: readonly { readonly title: string; readonly short: string }[];
  /** The largest first. */
  readonly series: readonly { readonly name: string; readonly values: readonly number[] }[];
}

/**
 * @param groupOf What a row is stacked under; null: its tokens, split into input, cached input and output.
 * @param valueOf Of a row; null with `groupOf`.
 */
export function gatherColumns(
  range: DayRange,
  rows: readonly UsageRowView[],
  groupOf: ((row: UsageRowView) => string) | null,
  valueOf: ((row: UsageRowView) => number) | null,
): Columns {
  const days = daysIn(range);
  const isMonthly = days.length > MOST_DAYS;
  const columnOf = (day: string): string => (isMonthly ? day.slice(0, "2026-11".length) : day);
  const names = [...new Set(days.map(columnOf))];
  const columns = names.map((name) =>
    isMonthly
      ? { title: formatMonthName(name), short: name }
      : { title: name, short: name.slice("2026-".length) },
  );
  const positions = new Map(names.map((name, index) => [name, index]));
  const sumUp = (own: readonly UsageRowView[], value: (row: UsageRowView) => number): number[] => {
    const values = names.map(() => 0);
    for (const row of own) {
      const position = positions.get(columnOf(row.day ?? ""));
      if (position !== undefined) values[position] = (values[position] ?? 0) + value(row);
    }
    return values;
  };
  if (groupOf === null || valueOf === null) {
    return {
      columns,
      series: [
        { name: "input", values: sumUp(rows, (row) => row.input_tokens) },
        { name: "cached input", values: sumUp(rows, (row) => row.cached_input_tokens) },
        { name: "output", values: sumUp(rows, (row) => row.output_tokens) },
      ],
    };
  }
  const series = [...groupRows(rows, groupOf)]
    .toSorted(([, left], [, right]) => addUp(right).microcents - addUp(left).microcents)
    .map(([name, own]) => ({ name, values: sumUp(own, valueOf) }));
  return { columns, series };
}
