/** What limits count in their windows, for whoever holds it against the usage. */
import type { WindowPeriod } from "../../../shared/time/calendar.ts";
import type { LimitScope } from "./decision.ts";

export interface CountedWindow {
  readonly period: WindowPeriod;
  /** The first day, "2026-11-23"; null: of all time. */
  readonly start: string | null;
  /** The days, up to today, of which usage counts in it. */
  readonly days: readonly string[];
  /** In place of days: the months of which all usage counts in it. */
  readonly months: readonly string[];
}

/**
 * Why a window cannot be held against usage: its counters are kept no longer ("counters_expired"), or usage of it is
 * ("usage_expired"); what was spent before is still being added ("beginning").
 */
export type WindowObstacle = "counters_expired" | "usage_expired" | "beginning";

/** Windows of a period that cannot. */
export interface ObstructedWindows {
  readonly period: WindowPeriod;
  /** First days of the first and the last one; null: of all time, or of all windows. */
  readonly from: string | null;
  readonly to: string | null;
  readonly obstacle: WindowObstacle;
}

export interface WindowList {
  readonly windows: readonly CountedWindow[];
  readonly obstructed: readonly ObstructedWindows[];
}

/** Of one owner. */
export interface WindowSpend {
  readonly scope: LimitScope;
  /** Null: the organization's. */
  readonly id: string | null;
  readonly microcents: bigint;
}

export interface WindowStore {
  /**
   * The windows with a day in a month that an organization counts, and the total, from each period's first window that has
   * all of its spend.
   */
  listWindows(organizationId: string, month: string): Promise<WindowList>;
  /** What each owner has spent in one. */
  readWindow(
    organizationId: string,
    window: Pick<CountedWindow, "period" | "start">,
  ): Promise<readonly WindowSpend[]>;
}
