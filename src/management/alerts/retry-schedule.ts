/** Schedule of retries after failed attempts. */
import { DAY_MS } from "../../shared/time/calendar.ts";
export interface RetrySchedule {
  /** Wait before the second attempt; doubles with each further one. */
  readonly firstWaitMs: number;
  readonly maxWaitMs: number;
  /** 0.2: up to a fifth earlier or later, so that simultaneous failures are spread. */
  readonly jitter: number;
  /** Age since the alert was queued at which the attempt is the last. */
  readonly giveUpAfterMs: number;
}

export const RETRY_SCHEDULE: RetrySchedule = {
  firstWaitMs: 1_000,
  maxWaitMs: 3_600_000,
  jitter: 0.2,
  giveUpAfterMs: 3 * DAY_MS,
};

/** Bound of the wait that a receiver may request. */
const MAX_RETRY_AFTER_MS = DAY_MS;

export interface RetryInput {
  /** Including the one that has just failed. */
  readonly failedAttempts: number;
  readonly ageMs: number;
  /** Wait requested by the receiver, 0 for none. */
  readonly retryAfterMs: number;
  /** 0 to 1. */
  readonly random: number;
}

/** Returns the milliseconds until the next attempt, or null after the last one. */
export function nextWaitMs(schedule: RetrySchedule, input: RetryInput): number | null {
  const remainingMs = schedule.giveUpAfterMs - input.ageMs;
  if (remainingMs <= 0) return null;
  // 2^30 seconds exceed every bound.
  const doubled = schedule.firstWaitMs * 2 ** Math.min(input.failedAttempts - 1, 30);
  const jitter = 1 + schedule.jitter * (2 * input.random - 1);
  const wait = Math.min(doubled, schedule.maxWaitMs) * jitter;
  const requestedMs = Math.min(input.retryAfterMs, MAX_RETRY_AFTER_MS);
  return Math.round(Math.min(Math.max(wait, requestedMs), remainingMs));
}
