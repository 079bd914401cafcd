/**
 * Months and days in UTC, as caps, budgets and usage count them: names and bounds. The Lua scripts cannot
 * compute months. `periods.ts` has the windows of limits.
 */

export const DAY_MS = 86_400_000;
const MONTH_NAME = /^(\d{4})-(0[1-9]|1[0-2])$/;
const DAY_NAME = /^\d{4}-\d{2}-\d{2}$/;

/** Named period. */
export interface CalendarPeriod {
  /** "2026-11" or "2026-11-21" */
  readonly name: string;
  readonly startMs: number;
  /** First millisecond after it. */
  readonly endMs: number;
}

/** Caches of the latest month and day, which every request needs. */
let lastMonth: CalendarPeriod = { name: "", startMs: 0, endMs: 0 };
let lastDay: CalendarPeriod = lastMonth;

/** Returns the UTC month of a time. */
export function monthAt(timeMs: number): CalendarPeriod {
  if (!isWithin(lastMonth, timeMs)) {
    const date = new Date(timeMs);
    lastMonth = monthOf(date.getUTCFullYear(), date.getUTCMonth());
  }
  return lastMonth;
}

/** Returns the UTC day of a time. */
export function dayAt(timeMs: number): CalendarPeriod {
  if (!isWithin(lastDay, timeMs)) {
    const startMs = Math.floor(timeMs / DAY_MS) * DAY_MS;
    lastDay = { name: new Date(startMs).toISOString().slice(0, 10), startMs, endMs: startMs + DAY_MS };
  }
  return lastDay;
}

function isWithin({ startMs, endMs }: CalendarPeriod, timeMs: number): boolean {
  return timeMs >= startMs && timeMs < endMs;
}

/** Parses a month such as "2026-11"; null if invalid. */
export function parseMonth(name: string): CalendarPeriod | null {
  const match = MONTH_NAME.exec(name);
  return match === null ? null : monthOf(Number(match[1]), Number(match[2]) - 1);
}

/** Returns whether a day exists: Date.parse accepts February 30 as a day of March. */
export function isDay(name: string): boolean {
  const timeMs = DAY_NAME.test(name) ? Date.parse(name) : Number.NaN;
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(name);
}

/**
 * Returns the start of the next month, RFC 3339.
 * @throws RangeError if `month` is invalid.
 */
export function formatResetsAt(month: string): string {
  return formatSecond(requireMonth(month).endMs);
}

/** Formats RFC 3339 without milliseconds. */
export function formatSecond(timeMs: number): string {
  return new Date(timeMs).toISOString().replace(".000Z", "Z");
}

/**
 * Formats "2026-11" as "November 2026".
 * @throws RangeError if `month` is invalid.
 */
export function formatMonthName(month: string): string {
  const date = new Date(requireMonth(month).startMs);
  return date.toLocaleString("en-US", { month: "long", year: "numeric", timeZone: "UTC" });
}

/** Lists the names of a month's days, in order. */
export function daysOf(month: CalendarPeriod): readonly string[] {
  const days = Math.round((month.endMs - month.startMs) / DAY_MS);
  return Array.from({ length: days }, (_, index) => dayAt(month.startMs + index * DAY_MS).name);
}

/** Lists the month and the `count` months before it, newest first. */
export function monthsBackFrom(month: CalendarPeriod, count: number): readonly CalendarPeriod[] {
  const date = new Date(month.startMs);
  return Array.from({ length: count + 1 }, (_, index) =>
    monthOf(date.getUTCFullYear(), date.getUTCMonth() - index),
  );
}

let lastExpiry = { month: "", retentionMonths: 0, atMs: 0 };

/**
 * Returns when the figures of a month expire: `retentionMonths` whole months after its end.
 * @throws RangeError if `month` is invalid.
 */
export function expiryOf(month: string, retentionMonths: number): number {
  if (month === lastExpiry.month && retentionMonths === lastExpiry.retentionMonths) return lastExpiry.atMs;
  const date = new Date(requireMonth(month).startMs);
  const atMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1 + retentionMonths, 1);
  lastExpiry = { month, retentionMonths, atMs };
  return atMs;
}

function requireMonth(name: string): CalendarPeriod {
  const month = parseMonth(name);
  if (month === null) throw new RangeError(`"${name}" is not a month like "2026-11"`);
  return month;
}

/** @param monthIndex From 0; values outside of 0 to 11 lead to other years. */
function monthOf(year: number, monthIndex: number): CalendarPeriod {
  const startMs = Date.UTC(year, monthIndex, 1);
  return {
    name: new Date(startMs).toISOString().slice(0, 7),
    startMs,
    endMs: Date.UTC(year, monthIndex + 1, 1),
  };
}

let lastSecond = { startMs: Number.NaN, text: "" };

/** Formats RFC 3339 as in responses and the request log. */
export function formatTime(timeMs: number): string {
  const wholeMs = Math.trunc(timeMs);
  const startMs = Math.floor(wholeMs / 1_000) * 1_000;
  if (startMs !== lastSecond.startMs) {
    lastSecond = { startMs, text: new Date(startMs).toISOString().slice(0, -"000Z".length) };
  }
  return `${lastSecond.text}${String(wholeMs - startMs).padStart(3, "0")}Z`;
}

/** Formats RFC 3339; null for none. */
export function formatTimeOrNull(timeMs: number | null | undefined): string | null {
  return timeMs === null || timeMs === undefined ? null : formatTime(timeMs);
}
