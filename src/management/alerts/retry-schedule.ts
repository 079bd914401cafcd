/** When an attempt that failed is made again. */
import { DAY_MS } from "../../shared/time/calendar.ts";
export interface RetrySchedule {
  /** Before the second attempt; doubles with each further one. */
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
  /** 0.2: up to a fifth sooner or later, so that what failed together does not come back together. */
  readonly jitter: number;
  /** Since the alert was queued; the attempt at this age is the last. */
  readonly giveUpAfterMs: number;
}

export const RETRY_SCHEDULE: RetrySchedule = {
  firstWaitMs: 1_000,
  maxWaitMs: 3_600_000,
  jitter: 0.2,
  giveUpAfterMs: 3 * DAY_MS,
};

/** A receiver may ask for more patience than the schedule has, but not for ever. */
const MAX_RETRY_AFTER_MS = DAY_MS;

export interface RetryInput {
  /** The one that has just failed included. */
  readonly failedAttempts: number;
  readonly ageMs: number;
  /** What the receiver asked for, 0 for nothing. */
  readonly retryAfterMs: number;
  /** 0 to 1. */
  readonly random: number;
}

/** Milliseconds until the next attempt, or null when this one was the last. */
export function nextWaitMs(schedule: RetrySchedule, input: RetryInput): number | null {
  const leftMs = schedule.giveUpAfterMs - input.ageMs;
  if (leftMs <= 0) return null;
  // 2^30 seconds are beyond every bound.
  const doubled = schedule.firstWaitMs * 2 ** Math.min(input.failedAttempts - 1, 30);
  const jitter = 1 + schedule.jitter * (2 * input.random - 1);
  const wait = Math.min(doubled, schedule.maxWaitMs) * jitter;
  const asked = Math.min(input.retryAfterMs, MAX_RETRY_AFTER_MS);
  return Math.round(Math.min(Math.max(wait, asked), leftMs));
}
