import { describe, expect, it } from "vitest";
import { nextWaitMs, RETRY_SCHEDULE } from "../../../src/management/alerts/retry-schedule.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function waitAfter(failedAttempts: number, changes: object = {}): number | null {
  const input = { failedAttempts, ageMs: 0, retryAfterMs: 0, random: 0.5, ...changes };
  return nextWaitMs(RETRY_SCHEDULE, input);
}

describe("the retry schedule", () => {
  it("waits 1, 2, 4, 8 … s, doubling to an hour", () => {
    const waits = Array.from({ length: 14 }, (_, index) => (waitAfter(index + 1) ?? 0) / 1000);
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
    expect(waitAfter(10_000)).toBe(HOUR_MS);
  });

  it("spreads each wait by a fifth to both sides", () => {
    expect([waitAfter(1, { random: 0 }), waitAfter(1, { random: 1 })]).toEqual([800, 1200]);
    expect([waitAfter(99, { random: 0 }), waitAfter(99, { random: 1 })]).toEqual([
      0.8 * HOUR_MS,
      1.2 * HOUR_MS,
    ]);
  });

  it("makes the last attempt three days after the alert was queued", () => {
    expect(waitAfter(90, { ageMs: 3 * DAY_MS - 1000 })).toBe(1000);
    expect(waitAfter(91, { ageMs: 3 * DAY_MS })).toBeNull();
  });

  it("waits as long as the receiver asks for, a day at most, and never shorter for it", () => {
    expect(waitAfter(1, { retryAfterMs: 30_000 })).toBe(30_000);
    expect(waitAfter(6, { retryAfterMs: 1000 })).toBe(32_000);
    expect(waitAfter(1, { retryAfterMs: 10 * DAY_MS })).toBe(DAY_MS);
    expect(waitAfter(1, { retryAfterMs: DAY_MS, ageMs: 3 * DAY_MS - 1000 })).toBe(1000);
  });
});
