/**
 * Periods of limits, and their windows in UTC. A new period is a row of `PERIODS`: counters, scripts, API, command
 * line and dashboard take it from the table.
 */
import { DAY_MS, dayAt, formatMonthName, formatSecond } from "./calendar.ts";

/**
 * Windows are numbered by days since 1970-01-01 or by months since the year 0; a number is divided by their length.
 * `offset`: days from the start of the window of 1970-01-01 to that day.
 */
export type WindowLength = { readonly days: number; readonly offset: number } | { readonly months: number };

interface Period {
  /** Null: it never ends. */
  readonly length: WindowLength | null;
  /** Days after a window's start until its counters expire, at the earliest; null: they are kept longer. */
  readonly retentionDays: number | null;
  /** "weekly cap" */
  readonly adjective: string;
  /** "20.00 USD a week" */
  readonly per: string;
  /** "20.00 USD left this week" */
  readonly current: string;
  /** "50.13 USD spent in the week of 2026-11-23" @param start First day; '' for all time. */
  readonly describe: (start: string) => string;
  /** "until Monday 00:00 UTC"; null: the date. */
  readonly reset: string | null;
}

/** From shortest to longest. Counters outlive their window by 14 days at least, for late charges. */
export const PERIODS = {
  day: {
    length: { days: 1, offset: 0 },
    retentionDays: 15,
    adjective: "daily",
    per: "a day",
    current: "today",
    describe: (start) => `on ${start}`,
    reset: "00:00 UTC",
  },
  // From Monday; 1970-01-01 was a Thursday.
  week: {
    length: { days: 7, offset: 3 },
    retentionDays: 22,
    adjective: "weekly",
    per: "a week",
    current: "this week",
    describe: (start) => `in the week of ${start}`,
    reset: "Monday 00:00 UTC",
  },
  // Its counters are kept until the retention of usage ends.
  month: {
    length: { months: 1 },
    retentionDays: null,
    adjective: "monthly",
    per: "a month",
    current: "this month",
    describe: (start) => `in ${formatMonthName(start.slice(0, "2026-11".length))}`,
    reset: null,
  },
  total: {
    length: null,
    retentionDays: null,
    adjective: "total",
    per: "in total",
    current: "in total",
    describe: () => "in total",
    reset: null,
  },
} as const satisfies Readonly<Record<string, Period>>;

export type WindowPeriod = keyof typeof PERIODS;

/** Every organization counts this period from its first request. Its windows are named as months are, "2026-11". */
export const ALWAYS_COUNTED = "month";

/** Returns the number of the window that contains a day, "2026-11-21". */
export function windowNumber(length: WindowLength, day: string): number {
  if ("days" in length) return Math.floor((Date.parse(day) / DAY_MS + length.offset) / length.days);
  return Math.floor((Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1) / length.months);
}

/** Returns the start of a numbered window. */
export function windowStartMs(length: WindowLength, number: number): number {
  if ("days" in length) return (number * length.days - length.offset) * DAY_MS;
  return Date.UTC(Math.floor((number * length.months) / 12), (number * length.months) % 12);
}

/** Returns the first day of the window that contains a day, "2026-11-23"; null: the window of all time. */
export function formatWindowStart(period: WindowPeriod, day: string): string | null {
  const { length } = PERIODS[period];
  return length === null ? null : dayAt(windowStartMs(length, windowNumber(length, day))).name;
}

/** Returns the end of the window that contains a day, RFC 3339; null: never. */
export function formatWindowEnd(period: WindowPeriod, day: string): string | null {
  const { length } = PERIODS[period];
  return length === null ? null : formatSecond(windowStartMs(length, windowNumber(length, day) + 1));
}

/** Describes the window of a day: "on 2026-11-25", "in the week of 2026-11-23", "in November 2026", "in total". */
export function describeWindow(period: WindowPeriod, day: string): string {
  return PERIODS[period].describe(formatWindowStart(period, day) ?? "");
}
