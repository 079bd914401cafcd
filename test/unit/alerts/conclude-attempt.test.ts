import { describe, expect, it } from "vitest";
import type { AttemptResult } from "../../../src/management/alerts/channel.ts";
import { concludeAttempt } from "../../../src/management/alerts/conclude-attempt.ts";
import { RETRY_SCHEDULE } from "../../../src/management/alerts/retry-schedule.ts";
import type { ClaimedDelivery } from "../../../src/shared/stored/alerts.ts";
import { messageOf } from "./alert-fixture.ts";

const CLAIM: ClaimedDelivery = {
  outcome: "claimed",
  message: messageOf(),
  entryId: "5-0",
  isForOtherChannels: false,
  queuedAtMs: 1_000,
  nowMs: 2_000,
  failedAttempts: 2,
  progress: "kept",
};

const conclude = (result: AttemptResult, claim: Partial<ClaimedDelivery> = {}) =>
  concludeAttempt({ ...CLAIM, ...claim }, result, { schedule: RETRY_SCHEDULE, nowMs: 2_500, random: 0.5 });

describe("concludeAttempt", () => {
  it("goes on after a delivery, and shows what people should know of it", () => {
    expect(conclude({ outcome: "delivered", note: "a@example.com: 550 no such user" })).toMatchObject({
      outcome: "done",
      isFailedAttempt: false,
      shown: {
        state: "delivered",
        attempts: 3,
        lastError: "a@example.com: 550 no such user",
        lastAttemptAtMs: 2_500,
      },
    });
  });

  it("tries again by the schedule, with what the attempt left", () => {
    expect(conclude({ outcome: "again", error: "no", progress: "new" })).toMatchObject({
      outcome: "again",
      waitMs: 4_000,
      progress: "new",
      isFailedAttempt: true,
      shown: { state: "pending", attempts: 3, lastError: "no", nextAttemptAtMs: 6_500 },
    });
    expect(conclude({ outcome: "again", error: "no" }).progress).toBe("kept");
    expect(conclude({ outcome: "again", error: "no", retryAfterMs: 9_000 }).waitMs).toBe(9_000);
  });

  it("keeps as failed what three days of attempts did not bring", () => {
    const late = { nowMs: 1_000 + 3 * 86_400_000 };
    expect(conclude({ outcome: "again", error: "no" }, late)).toMatchObject({
      outcome: "done",
      shown: { state: "failed", attempts: 3, lastError: "no", nextAttemptAtMs: null },
    });
  });

  it("keeps as failed at once what another attempt would not change", () => {
    expect(conclude({ outcome: "failed", error: "550" })).toMatchObject({
      outcome: "done",
      isFailedAttempt: true,
      shown: { state: "failed", lastError: "550" },
    });
  });

  it("shows a channel that nobody chose as off, and leaves one alone that the delivery is not for", () => {
    expect(conclude({ outcome: "off" }, { failedAttempts: 0 })).toMatchObject({
      outcome: "done",
      shown: { state: "off", attempts: 0, lastAttemptAtMs: null },
    });
    expect(conclude({ outcome: "off" }, { isForOtherChannels: true })).toMatchObject({
      outcome: "done",
      shown: null,
    });
  });
});
