/** Consequences of an attempt: continue with the next alert or retry, when, and the displayed state. */
import type { ClaimedDelivery, DeliveryState, QueuedMessage } from "../../shared/stored/alerts.ts";
import type { AttemptResult } from "./channel.ts";
import { nextWaitMs, type RetrySchedule } from "./retry-schedule.ts";

export interface Conclusion {
  readonly outcome: "done" | "again" | "later";
  /** 0 when done. */
  readonly waitMs: number;
  readonly progress: string;
  /** Null: the delivery is for other channels, so the displayed state of this one stays. */
  readonly shown: DeliveryState | null;
  readonly isFailedAttempt: boolean;
  readonly covered?: readonly QueuedMessage[];
}

export interface ConcludeContext {
  readonly schedule: RetrySchedule;
  readonly nowMs: number;
  /** 0 to 1. */
  readonly random: number;
}

const PASSED_BY: Conclusion = {
  outcome: "done",
  waitMs: 0,
  progress: "",
  shown: null,
  isFailedAttempt: false,
};

export function concludeAttempt(
  claim: ClaimedDelivery,
  result: AttemptResult,
  { schedule, nowMs, random }: ConcludeContext,
): Conclusion {
  if (claim.isForOtherChannels) return PASSED_BY;
  const isAttempt = result.outcome !== "off" && result.outcome !== "later";
  const attempts = claim.failedAttempts + (isAttempt ? 1 : 0);
  const base = { attempts, lastError: null, lastAttemptAtMs: nowMs, nextAttemptAtMs: null };
  if (result.outcome === "off") {
    return { ...PASSED_BY, shown: { ...base, state: "off", lastAttemptAtMs: null } };
  }
  if (result.outcome === "later") {
    const { waitMs, reason, progress } = result;
    const state = { state: "pending", lastError: reason, nextAttemptAtMs: nowMs + waitMs } as const;
    return {
      outcome: "later",
      waitMs,
      progress,
      isFailedAttempt: false,
      shown: { ...base, ...state, lastAttemptAtMs: null },
    };
  }
  if (result.outcome === "delivered") {
    const { note = null, covered = [] } = result;
    return { ...PASSED_BY, covered, shown: { ...base, state: "delivered", lastError: note } };
  }
  const lastError = result.error;
  const failed: Conclusion = {
    ...PASSED_BY,
    isFailedAttempt: true,
    shown: { ...base, state: "failed", lastError },
  };
  if (result.outcome === "failed") return failed;
  const ageMs = claim.nowMs - claim.queuedAtMs;
  const retryAfterMs = result.retryAfterMs ?? 0;
  const waitMs = nextWaitMs(schedule, { failedAttempts: attempts, ageMs, retryAfterMs, random });
  if (waitMs === null) return failed;
  return {
    outcome: "again",
    waitMs,
    progress: result.progress ?? claim.progress,
    isFailedAttempt: true,
    shown: { ...base, state: "pending", lastError, nextAttemptAtMs: nowMs + waitMs },
  };
}
