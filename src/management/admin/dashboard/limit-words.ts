/** Texts about limits (state, reset), and a month's spend compared with its limits. */
import { DAY_MS } from "../../../shared/time/calendar.ts";
import { PERIODS } from "../../../shared/time/periods.ts";
import { centsOf, type LimitPeriod } from "../../../shared/settings/limits.ts";
import { isReached, remainingOfLimit } from "../../../shared/money/money.ts";
import { limitStateOf } from "../directory/arrange.ts";
import type { KeyView, LimitFiguresView } from "./views.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

type Figures = Pick<LimitFiguresView, "kind" | "cents" | "spent_cents">;

/** `near`: at or above the share of its first alert. */
type LimitLevel = "fine" | "near" | "reached";

export function limitLevelOf(limit: Figures): LimitLevel {
  const state = limitStateOf(limit);
  return state === "reached" || state === "near" ? state : "fine";
}

/** Returns the used share, 0 or more, possibly above 1. A limit of 0 is used up. */
export function shareOf({ cents, spent_cents: spent }: Figures): number {
  return cents === 0 ? 1 : Math.max(0, spent / cents);
}

/** Describes a limit's state; a reached cap rejects requests, a budget does not. */
export function describeLimitLevel(limit: Figures): { readonly words: string; readonly level: string } {
  const level = limitLevelOf(limit);
  if (level === "fine") return { words: "ok", level: "good" };
  if (level === "near") return { words: "near", level: "warn" };
  return limit.kind === "cap" ? { words: "reached", level: "bad" } : { words: "over budget", level: "warn" };
}

/** Returns "Monday 00:00 UTC" for a week; for longer periods the day. */
export function nameReset(period: LimitPeriod, resetsAt: string): string {
  return PERIODS[period].reset ?? `${resetsAt.slice(0, "2026-11-21".length)} 00:00 UTC`;
}

/** Returns "in 3 days", "in 5 hours", "in 1 minute": whole remaining units. */
export function describeWait(untilMs: number, nowMs: number): string {
  const remainingMs = Math.max(0, untilMs - nowMs);
  if (remainingMs >= 2 * DAY_MS) return inUnits(remainingMs / DAY_MS, "day");
  return remainingMs >= HOUR_MS
    ? inUnits(remainingMs / HOUR_MS, "hour")
    : inUnits(remainingMs / MINUTE_MS, "minute");
}

function inUnits(count: number, unit: string): string {
  const whole = Math.max(1, Math.floor(count));
  return `in ${whole} ${unit}${whole === 1 ? "" : "s"}`;
}

/** Formats "83 %"; 100 and more only if the limit is reached. */
export function formatShare(limit: Figures): string {
  const percent = Math.floor(shareOf(limit) * 100);
  return percent === 0 && limit.spent_cents > 0 ? "< 1 %" : `${percent} %`;
}

export interface Spending {
  readonly spentMicrocents: number;
  /** Monthly cap; null for none. */
  readonly monthCapCents: number | null;
  readonly monthBudgetCents: number | null;
}

/** Reads the monthly limits of a key or an organization. */
export function spendingOf({ limits, ...owner }: Pick<KeyView, "limits" | "spent_microcents">): Spending {
  return {
    spentMicrocents: Number(owner.spent_microcents),
    monthCapCents: centsOf(limits, { period: "month", kind: "cap" }),
    monthBudgetCents: centsOf(limits, { period: "month", kind: "budget" }),
  };
}

/** Returns whether the budget is reached, which only alerts and pages report. */
export function isBudgetReached({ monthBudgetCents, spentMicrocents }: Spending): boolean {
  return monthBudgetCents !== null && isReached(monthBudgetCents, BigInt(spentMicrocents));
}

/** Returns whether an amount exceeds the cap. */
export function isOverCap({ monthCapCents }: Pick<Spending, "monthCapCents">, microcents: number): boolean {
  return monthCapCents !== null && remainingOfLimit(monthCapCents, BigInt(Math.ceil(microcents))) < 0n;
}
