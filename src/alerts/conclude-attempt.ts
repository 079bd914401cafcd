/** What follows from how an attempt ended: on to the next alert, or again and when; and what people are shown. */
import type { ClaimedDelivery, DeliveryState } from "../store/types/alerts.ts";
import type { AttemptResult } from "./channel.ts";
import { nextWaitMs, type RetrySchedule } from "./retry-schedule.ts";

export interface Conclusion {
  readonly outcome: "done" | "again";
  /** 0 when it is done. */
  readonly waitMs: number;
  readonly progress: string;
  /** Null: this delivery is for other channels, what is shown of this one stays. */
  readonly shown: DeliveryState | null;
  readonly isFailedAttempt: boolean;
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
  if (claim.isForOthers) return PASSED_BY;
  const attempts = claim.failedAttempts + (result.outcome === "off" ? 0 : 1);
  const base = { attempts, lastError: null, lastAttemptAtMs: nowMs, nextAttemptAtMs: null };
  if (result.outcome === "off") {
    return { ...PASSED_BY, shown: { ...base, state: "off", lastAttemptAtMs: null } };
  }
  if (result.outcome === "delivered") {
    return { ...PASSED_BY, shown: { ...base, state: "delivered", lastError: result.note ?? null } };
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
