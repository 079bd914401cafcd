/** Stretches of whole UTC days. */
import { DAY_MS, dayAt } from "./calendar.ts";

/** Both days included: "2026-11-01". */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** A year and the month before it. */
export const MAX_DAYS = 400;

/** The names of the days, in order. */
export function daysIn({ from, to }: DayRange): readonly string[] {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return Array.from({ length: count }, (_, index) => addDays(from, index));
}

export function addDays(day: string, count: number): string {
  return dayAt(Date.parse(day) + count * DAY_MS).name;
}

/** The names of the months that the days are in. */
export function monthsIn(range: DayRange): readonly string[] {
  return [...new Set(daysIn(range).map((day) => day.slice(0, "2026-11".length)))];
}

const WEEK_DAYS = 7;

/**
 * Returns a range of the same length, whole weeks earlier, so that each day is compared with the same day of
 * the week.
 */
export function rangeBefore(range: DayRange): DayRange {
  const days = daysBefore(range);
  return { from: addDays(range.from, -days), to: addDays(range.to, -days) };
}

/** Returns how many days earlier the previous range starts. */
export function daysBefore(range: DayRange): number {
  return Math.ceil(daysIn(range).length / WEEK_DAYS) * WEEK_DAYS;
}
