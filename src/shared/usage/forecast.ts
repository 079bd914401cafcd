/** How far a month is, and what it comes to if its remaining days cost what the same weekdays cost last. */
import { DAY_MS, dayAt, daysOf, monthAt, parseMonth } from "../time/calendar.ts";

interface MonthProgress {
  /** Days that have started, including today. */
  readonly daysBegun: number;
  /** Whole days after today. */
  readonly remainingDays: number;
  /** Null before the first whole day with spend, and for past months. */
  readonly forecastMicrocents: number | null;
}

const WEEK_DAYS = 7;

/** @param costs Day, "2026-11-21" → microcents: of the seven days before today, and today. */
export function measureProgress(
  month: string,
  spentMicrocents: number,
  costs: ReadonlyMap<string, number>,
  nowMs: number,
): MonthProgress {
  const period = parseMonth(month);
  if (period === null || monthAt(nowMs).name !== month) {
    const days = period === null ? 0 : daysOf(period).length;
    return { daysBegun: days, remainingDays: 0, forecastMicrocents: null };
  }
  const today = dayAt(nowMs);
  const remainingDays = Math.round((period.endMs - today.endMs) / DAY_MS);
  const daysBegun = daysOf(period).length - remainingDays;
  const week = knownDays(costs, today.startMs);
  if (week.size === 0) return { daysBegun, remainingDays, forecastMicrocents: null };
  const mean = [...week.values()].reduce((sum, cost) => sum + cost, 0) / week.size;
  const expect = (dayMs: number): number => week.get(new Date(dayMs).getUTCDay()) ?? mean;
  const restOfToday = Math.max(0, expect(today.startMs) - (costs.get(today.name) ?? 0));
  const later = Array.from({ length: remainingDays }, (_, index) => expect(today.endMs + index * DAY_MS));
  const sum = later.reduce((total, cost) => total + cost, spentMicrocents + restOfToday);
  return { daysBegun, remainingDays, forecastMicrocents: Math.round(sum) };
}

/** Weekday → its cost, of the last seven whole days from the first that cost something. */
function knownDays(costs: ReadonlyMap<string, number>, todayMs: number): ReadonlyMap<number, number> {
  const known = new Map<number, number>();
  for (let back = WEEK_DAYS; back >= 1; back -= 1) {
    const day = dayAt(todayMs - back * DAY_MS);
    const cost = Math.max(0, costs.get(day.name) ?? 0);
    if (cost > 0 || known.size > 0) known.set(new Date(day.startMs).getUTCDay(), cost);
  }
  return known;
}
