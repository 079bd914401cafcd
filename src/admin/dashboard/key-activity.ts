/** What the last requests say of each key: when it was used, and how full its bucket is by now. */
import { burstOf } from "./format.ts";
import type { KeyView, RequestView } from "./views.ts";

export interface KeyActivity {
  readonly lastUsedAt: string;
  /** Whole requests that would pass at once now: what the last one left, refilled at the key's rate. */
  readonly remaining: number;
}

/** @param requests Newest first. A key that is in none of them has no entry. */
export function readActivity(
  keys: readonly KeyView[],
  requests: readonly RequestView[],
  nowMs: number,
): Map<string, KeyActivity> {
  const activity = new Map<string, KeyActivity>();
  for (const key of keys) {
    // By when they came: the bucket's figure is of then.
    const own = requests
      .filter((request) => request.key_id === key.id)
      .sort((left, right) => (left.created_at < right.created_at ? 1 : -1));
    const [last] = own;
    if (last === undefined) continue;
    activity.set(key.id, { lastUsedAt: last.created_at, remaining: remainingNow(key, own, nowMs) });
  }
  return activity;
}

function remainingNow(key: KeyView, requests: readonly RequestView[], nowMs: number): number {
  const burst = burstOf(key.requests_per_minute);
  for (const request of requests) {
    const check = request.checks.find((one) => one.name === "rate_limit");
    const left = check?.figures["remaining"];
    if (typeof left !== "number") continue;
    const elapsedMs = Math.max(0, nowMs - Date.parse(request.created_at));
    return Math.min(burst, Math.floor(left + (elapsedMs * key.requests_per_minute) / 60_000));
  }
  return burst;
}
