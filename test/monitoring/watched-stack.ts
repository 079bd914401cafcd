/** A gateway that a real Prometheus watches, for tests that break it and look at the alarms. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Stack } from "../support/stack.ts";
import { waitFor } from "../support/wait.ts";
import { PROMETHEUS } from "./find-prometheus.ts";
import { type AlarmState, type Pace, type RunningPrometheus, startPrometheus } from "./prometheus-server.ts";

/** Holds the longest wait of the gateway's own: 30 s until a dead worker's requests are closed. */
const ALARM_BOUND_MS = 75_000;

/** Five minutes hold eight scrapes. */
const QUICK: Pace = { every: "200ms", minuteMs: 333 };

/** Starts Prometheus once the stack is up; the field is there from the first test on. */
export function withPrometheus(getStack: () => Stack, pace: Pace = QUICK): () => RunningPrometheus {
  let running: RunningPrometheus | null = null;
  beforeAll(async () => {
    if (PROMETHEUS === null) return;
    running = await startPrometheus(getStack().adminUrl, getStack().adminToken, pace);
  }, 60_000);
  afterAll(async () => running?.stop());
  return () => {
    if (running === null) throw new Error("Prometheus is used before it was started");
    return running;
  };
}

/** Waits until the alarm is in this state. */
export async function waitForAlarm(
  prometheus: RunningPrometheus,
  alert: string,
  state: AlarmState,
): Promise<void> {
  await waitFor(`${alert} to be ${state}`, async () => (await prometheus.stateOf(alert)) === state, {
    timeoutMs: ALARM_BOUND_MS,
    intervalMs: 200,
  });
}

export interface AlarmFault {
  readonly alert: string;
  /** How it is provoked, as the end of "… fires when ". */
  readonly when: string;
  /** Does it, or begins to. */
  readonly provoke: () => Promise<void>;
  /** Takes it back, while the alarm fires. */
  readonly repair: () => Promise<void>;
  /** False: the gateway has no way back in this test. */
  readonly isOver?: boolean;
}

/** One test: silent before, firing in the fault (by way of pending, where the rule waits), silent after it. */
export function itFires(getPrometheus: () => RunningPrometheus, fault: AlarmFault): void {
  const { alert, when, provoke, repair, isOver = true } = fault;
  it.skipIf(PROMETHEUS === null)(
    `${alert} fires when ${when}`,
    async () => {
      const prometheus = getPrometheus();
      expect(await prometheus.stateOf(alert)).toBe("inactive");
      try {
        await provoke();
        // It may be over by now: the shortest range of a rule lasts little more than a second here.
        const hasFired = async () => (await prometheus.listStates(alert)).includes("firing");
        await waitFor(`${alert} to fire`, hasFired, { timeoutMs: ALARM_BOUND_MS, intervalMs: 200 });
      } finally {
        await repair();
      }
      if (isOver) await waitForAlarm(prometheus, alert, "inactive");
    },
    240_000,
  );
}
