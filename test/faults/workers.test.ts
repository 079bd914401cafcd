import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { holdsKey } from "../../src/store/redis/keys.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { LOST_STREAM_MS } from "./fault-accounts.ts";
import { type RunningScenario, runScenario, type Scenario } from "./fault-scenario.ts";
import { type FaultStack, startFaultStack, WORKERS } from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { findWorkerPid, listProcesses, waitForNewWorker } from "../support/gateway-processes.ts";

/** Streams of four seconds: some of each is charged, some is not yet. */
const LONG_STREAMS = { outputTokens: 400, tokenMs: 10 };
/** Holds are closed 30 s after their owner's last sign of life, those of strict caps 30 s later; with 5 s for each look. */
const CLOSED_AFTER_MS = 80_000;

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 60_000);

describe("charged and used agree", () => {
  // Their records are closed while the next scenarios run.
  let killedInOutage: Settling;
  let killed: Settling;
  it("while a worker is killed when Redis is away: its successor is there before Redis is", async () => {
    killedInOutage = await startScenario(killInOutageScenario);
    expect(listProcesses(faults.stack.configFile, "worker")).toHaveLength(WORKERS);
  });

  it("while a worker is killed and replaced", async () => {
    killed = await startScenario(killScenario);
    expect(listProcesses(faults.stack.configFile, "worker")).toHaveLength(WORKERS);
  });

  it("when a worker stands still for a minute and comes back after its requests were closed", async () => {
    expect(
      await runScenario(faults, {
        name: "worker paused a minute",
        ...LONG_STREAMS,
        async fault({ tenants, answered, streamed }) {
          await streamed(LOST_STREAM_MS + 500);
          const pid = findWorkerPid(faults.stack.configFile, 1);
          process.kill(pid, "SIGSTOP");
          const workerPausedMs = performance.now();
          try {
            await waitUntilClosed(Object.values(tenants));
          } finally {
            process.kill(pid, "SIGCONT");
          }
          await answered(5);
          return { workerPausedMs };
        },
        allowsFailures: true,
        settleMs: 30_000,
      }),
    ).toEqual([]);
  });

  it("after a worker was killed, but for two seconds of each stream and the output of whole answers", async () => {
    expect(await killed.problems).toEqual([]);
  });

  it("after a worker was killed when Redis was away, but for what streamed since Redis went", async () => {
    expect(await killedInOutage.problems).toEqual([]);
  });
});

/** Waits until every request that is open now has ended or was closed by the reaper. */
async function waitUntilClosed(keys: readonly CreatedKey[]): Promise<void> {
  const list = async (): Promise<string[]> => {
    const holds = keys.map(({ organizationId }) =>
      faults.redis.command("ZRANGE", holdsKey(organizationId), "0", "-1"),
    );
    return ((await Promise.all(holds)) as string[][]).flat();
  };
  const open = new Set(await list());
  const isClosed = async () => !(await list()).some((id) => open.has(id));
  await waitFor("open requests to be closed", isClosed, { timeoutMs: 2 * CLOSED_AFTER_MS, intervalMs: 100 });
}

interface Settling {
  readonly problems: Promise<readonly string[]>;
}

/** Resolves when the load has ended; the scenario goes on settling. */
async function startScenario(scenario: Scenario): Promise<Settling> {
  return new Promise((resolve, reject) => {
    const problems = runScenario(faults, { ...scenario, onLoadEnd: () => resolve({ problems }) });
    problems.catch(reject);
  });
}

const killScenario = {
  name: "worker killed",
  ...LONG_STREAMS,
  async fault({ streamed }: RunningScenario) {
    await streamed(LOST_STREAM_MS + 1_000);
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

const killInOutageScenario = {
  name: "worker killed without Redis",
  ...LONG_STREAMS,
  async fault({ answered, streamed }: RunningScenario) {
    await streamed(LOST_STREAM_MS + 500);
    const { configFile } = faults.stack;
    const pid = findWorkerPid(configFile, 0);
    const redisDiedMs = performance.now();
    await faults.redis.kill();
    try {
      await answered(1);
      process.kill(pid, "SIGKILL");
      await waitForNewWorker(configFile, pid, WORKERS);
      await answered(1);
    } finally {
      await faults.redis.restart();
    }
    await answered(1);
    return { redisDiedMs };
  },
  allowsFailures: true,
  settleMs: 2 * CLOSED_AFTER_MS,
  isGrace: true,
};
