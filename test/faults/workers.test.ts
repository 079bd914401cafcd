import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runScenario } from "./fault-scenario.ts";
import { type FaultStack, startFaultStack, WORKERS } from "./fault-stack.ts";
import { findWorkerPid, listProcesses, waitForNewWorker } from "./processes.ts";

/** Streams of four seconds: some of each is charged, some is not yet. */
const LONG_STREAMS = { outputTokens: 400, tokenMs: 10 };
/** Holds are closed 30 s after their owner's last sign of life, those of strict caps 30 s later; with 5 s for each look. */
const CLOSED_AFTER_MS = 80_000;
const PAUSE_MS = 40_000;

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, 180_000);
afterAll(() => faults?.stop(), 60_000);

describe("charged and used agree", () => {
  // Its records are closed while the next scenario runs.
  let killed: Promise<readonly string[]>;
  it("while a worker is killed and replaced", async () => {
    await new Promise<void>((resolve, reject) => {
      killed = runScenario(faults, { ...killScenario, onLoadEnd: resolve });
      killed.catch(reject);
    });
    expect(listProcesses(faults.stack.configFile, "worker")).toHaveLength(WORKERS);
  });

  it("when a worker stands still for 40 s and comes back after its requests were closed", async () => {
    expect(
      await runScenario(faults, {
        name: "worker paused 40 s",
        ...LONG_STREAMS,
        async fault() {
          await wait(2_500);
          const pid = findWorkerPid(faults.stack.configFile, 1);
          process.kill(pid, "SIGSTOP");
          const workerPausedMs = performance.now();
          try {
            await wait(PAUSE_MS);
          } finally {
            process.kill(pid, "SIGCONT");
          }
          await wait(2_000);
          return { workerPausedMs };
        },
        allowsFailures: true,
        settleMs: 30_000,
      }),
    ).toEqual([]);
  });

  it("after a worker was killed, but for two seconds of each stream and the output of whole answers", async () => {
    expect(await killed).toEqual([]);
  });
});

const killScenario = {
  name: "worker killed",
  ...LONG_STREAMS,
  async fault() {
    await wait(3_300);
    const { configFile } = faults.stack;
    const pid = findWorkerPid(configFile, 0);
    const workerDiedMs = performance.now();
    process.kill(pid, "SIGKILL");
    await waitForNewWorker(configFile, pid, WORKERS);
    return { workerDiedMs };
  },
  allowsFailures: true,
  settleMs: CLOSED_AFTER_MS,
};
