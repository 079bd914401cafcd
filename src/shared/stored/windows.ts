/** Windows of limits and their counters, for comparison with the usage. */
import type { WindowPeriod } from "../time/periods.ts";
import type { LimitScope } from "./decision.ts";

export interface CountedWindow {
  readonly period: WindowPeriod;
  /** First day, "2026-11-23"; null: all time. */
  readonly start: string | null;
  /** Days up to today whose usage counts in the window. */
  readonly days: readonly string[];
  /** Months whose whole usage counts, in place of days. */
  readonly months: readonly string[];
}

/**
 * Reason why a window cannot be compared with usage: its counters have expired ("counters_expired"), its
 * usage has expired ("usage_expired"), or earlier spend is still being added ("beginning").
 */
export type WindowObstacle = "counters_expired" | "usage_expired" | "beginning";

/** Windows of a period that cannot be compared. */
export interface ObstructedWindows {
  readonly period: WindowPeriod;
  /** First days of the first and the last window; null: all time, or all windows. */
  readonly from: string | null;
  readonly to: string | null;
  readonly obstacle: WindowObstacle;
}

export interface WindowList {
  readonly windows: readonly CountedWindow[];
  readonly obstructed: readonly ObstructedWindows[];
}

/** Spend of one scope in a window. */
export interface WindowSpend {
  readonly scope: LimitScope;
  /** Id of the scope; null: the organization. */
  readonly id: string | null;
  readonly microcents: bigint;
}

export interface WindowStore {
  /**
   * Lists the windows with a day in a month that an organization counts, and the total, from each period's
   * first window with complete spend.
   */
  listWindows(organizationId: string, month: string): Promise<WindowList>;
  /** Reads the spend of each scope in one window. */
  readWindow(
    organizationId: string,
    window: Pick<CountedWindow, "period" | "start">,
  ): Promise<readonly WindowSpend[]>;
}
