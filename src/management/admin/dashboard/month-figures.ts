/** A month's figures for pictures: every day of it, what it comes to, where it is heading. */
import { DAY_MS, daysOf, monthAt, parseMonth } from "../../../shared/time/calendar.ts";
import type { UsageRowView } from "./views.ts";

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

export interface MonthProgress {
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
