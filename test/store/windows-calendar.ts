/** Windows as the documents have them, reckoned apart from the code under test. */
import type { LimitPeriod } from "../../src/shared/settings/limits.ts";

export const DAY_MS = 86_400_000;
export const PERIODS = ["day", "week", "month", "total"] as const;

/** From midnight to midnight, from Monday to Monday, from the first to the first, UTC. */
export function windowOf(period: LimitPeriod, timeMs: number): { startMs: number; endMs: number } {
  if (period === "total") return { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  const time = new Date(timeMs);
  const [year, month, date] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  if (period === "month") return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) };
  const [first, days] = period === "day" ? [date, 1] : [date - ((time.getUTCDay() + 6) % 7), 7];
  return { startMs: Date.UTC(year, month, first), endMs: Date.UTC(year, month, first + days) };
}

export function formatWindow(period: LimitPeriod, startMs: number): string {
  return period === "total" ? "total" : `${period} of ${new Date(startMs).toISOString().slice(0, 10)}`;
}
