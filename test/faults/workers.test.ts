import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRequestsKey } from "../../src/data-path/store/redis/keys.ts";
import { internalWait } from "../../src/shared/time/internal-waits.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { LOST_STREAM_MS } from "./fault-accounts.ts";
import { type RunningScenario, runScenario, type Scenario } from "./fault-scenario.ts";
import { ROUTES, sendOne, type Sent } from "./fault-load.ts";
import {
  type FaultStack,
  MODEL,
  PROMPT_MICROCENTS,
  REAPED_WITHIN_MS,
  startFaultStack,
  WORKERS,
} from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { restartStack } from "./restart.ts";
import { findWorkerPid, listProcesses, waitForNewWorker } from "../support/gateway-processes.ts";

/** Streams of four seconds: some of each is charged, some is not yet. */
const LONG_STREAMS = { outputTokens: 100, tokenMs: 40 };

/** Half of what is published, since a process that exists has not read the journal yet. */
const CHARGED_WITHIN_MS = internalWait(60_000) / 2;

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 60_000);

describe("charged and used agree", () => {
  // Their records are closed while the next scenarios run.
  let killedInOutage: Settling;
  let killed: Settling;
  let begun: Begun;
  it("while all workers are killed with requests that have just gone upstream", async () => {
    begun = await killWithBegunRequests();
    expect(listProcesses(faults.stack.configFile, "worker")).toHaveLength(WORKERS);
  });

  it("while a worker is killed when Redis is away: its successor is there before Redis is", async () => {
    killedInOutage = await startScenario(killInOutageScenario);
    expect(listProcesses(faults.stack.configFile, "worker")).toHaveLength(WORKERS);
  });

  it("while a worker is killed and replaced", async () => {
    killed = await startScenario(killScenario);
    expect(listProcesses(faults.stack.configFile, "worker")).toHaveLength(WORKERS);
  });

  it("when a worker stands still and comes back after its requests were closed", async () => {
    expect(
      await runScenario(faults, {
        name: "worker paused",
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
      }),
    ).toEqual([]);
  });

  it("after a worker was killed, but for two seconds of each stream and the output of whole answers", async () => {
    expect(await killed.problems).toEqual([]);
  });

  it("after workers were killed that had told Redis nothing of what they had sent upstream: each prompt is charged", async ({
    skip,
  }) => {
    skip(
      begun.replacedAfterMs > CHARGED_WITHIN_MS,
      `the workers came back after ${begun.replacedAfterMs} ms`,
    );
    expect(begun.withoutRecord).toBeGreaterThan(0);
    await faults.waitUntilSettled([begun.key], REAPED_WITHIN_MS);
    const { organizationId } = begun.key;
    const { month, organizationMicrocents } = await faults.store.readSpend(organizationId, null);
    const prompts = begun.sent.reduce((sum, { promptTokens }) => sum + promptTokens, 0);
    expect(organizationMicrocents).toBe(BigInt(prompts) * PROMPT_MICROCENTS);
    const { rows } = await faults.store.readUsage(organizationId, month);
    expect(rows).toMatchObject([
      { requests: begun.sent.length, estimatedRequests: begun.sent.length, inputTokens: prompts },
    ]);
  });

  it("after a worker was killed when Redis was away, but for what streamed since Redis went", async () => {
    expect(await killedInOutage.problems).toEqual([]);
  });
});

it("nothing of it changes when the gateway is stopped, its usage verified and rebuilt, and it starts again", async () => {
  expect(await restartStack(faults, { isLogShort: true })).toEqual([]);
});

/** Waits until every request that is open now has ended or was closed by the reaper. */
async function waitUntilClosed(keys: readonly CreatedKey[]): Promise<void> {
  const list = async (): Promise<string[]> => {
    const open = keys.map(({ organizationId }) =>
      faults.redis.command("ZRANGE", openRequestsKey(organizationId), "0", "-1"),
    );
    return ((await Promise.all(open)) as string[][]).flat();
  };
  const open = new Set(await list());
  const isClosed = async () => !(await list()).some((id) => open.has(id));
  await waitFor("open requests to be closed", isClosed, { timeoutMs: REAPED_WITHIN_MS, intervalMs: 100 });
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

interface Begun {
  readonly key: CreatedKey;
  readonly sent: readonly Sent[];
  /** Requests that Redis had no record of when their worker was killed. */
  readonly withoutRecord: number;
  /** Milliseconds from the first request. */
  readonly replacedAfterMs: number;
}

/** The upstream has got them and does not answer; some are younger than a tick. */
async function killWithBegunRequests(): Promise<Begun> {
  const { stack, upstream, redis } = faults;
  const { open: key } = await faults.createTenants(0);
  const sent: Sent[] = [];
  const startMs = performance.now();
  const answers = Array.from({ length: 12 }, (_, index) =>
    sendOne(
      {
        baseUrl: stack.baseUrl,
        key: key.key,
        model: MODEL,
        outputTokens: 10,
        tokenMs: 0,
        isStream: index % 2 === 0,
        route: ROUTES[index % ROUTES.length] ?? ROUTES[0],
        behavior: "gated",
      },
      (each) => sent.push(each),
    ),
  );
  const isUpstream = () => sent.every(({ id }) => upstream.accounts.has(id));
  await waitFor("the requests to be upstream", isUpstream, { timeoutMs: 30_000, intervalMs: 5 });
  const workers = listProcesses(stack.configFile, "worker");
  for (const pid of workers) process.kill(pid, "SIGKILL");
  const records = (await redis.command("KEYS", `igw:{${key.organizationId}}:request:*`)) as string[];
  await Promise.all(workers.map((pid) => waitForNewWorker(stack.configFile, pid, WORKERS)));
  const replacedAfterMs = Math.round(performance.now() - startMs);
  upstream.release();
  await Promise.all(answers);
  return { key, sent, withoutRecord: sent.length - records.length, replacedAfterMs };
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
  waitsForReaper: true,
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
    let workerDiedMs = redisDiedMs;
    try {
      await answered(1);
      workerDiedMs = performance.now();
      process.kill(pid, "SIGKILL");
      await waitForNewWorker(configFile, pid, WORKERS);
      await answered(1);
    } finally {
      await faults.redis.restart();
    }
    await answered(1);
    return { redisDiedMs, workerDiedMs };
  },
  allowsFailures: true,
  waitsForReaper: true,
  isGrace: true,
};
