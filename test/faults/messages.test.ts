/** The scenarios that the way through the gateway makes a difference to, on an upstream that speaks messages itself. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findWorkerPid, waitForNewWorker } from "../support/gateway-processes.ts";
import { LOST_STREAM_MS } from "./fault-accounts.ts";
import { IS_LONG, runScenario, WARM_ANSWERS } from "./fault-scenario.ts";
import { type FaultStack, startFaultStack, terminateStack, WORKERS } from "./fault-stack.ts";

const ANSWERS = IS_LONG ? 750 : 50;
/** On each key. */
const OUTAGE_ANSWERS = IS_LONG ? 400 : 30;
const ANSWERS_AFTER = 10;
const MESSAGES = { route: "/v1/messages" } as const;

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, 180_000);
afterAll(() => faults?.stop(), 60_000);

describe("charged and used agree where messages pass through", () => {
  it("without a fault", async () => {
    expect(
      await runScenario(faults, {
        ...MESSAGES,
        name: "messages, no fault",
        fault: ({ answered }) => answered(ANSWERS),
        allowsFailures: false,
        settleMs: 5_000,
      }),
    ).toEqual([]);
  });

  it("when clients go away, and the upstream resets, hangs, fails, or tells no usage or a wrong one", async () => {
    expect(
      await runScenario(faults, {
        ...MESSAGES,
        name: "messages, clients and upstream",
        fault: ({ answered }) => answered(ANSWERS),
        behaviors: ["reset", "hang", "no_usage", "wrong_usage", "status_500"],
        abortWithinMs: 3_000,
        allowsFailures: true,
        settleMs: 10_000,
      }),
    ).toEqual([]);
  });

  it("after a worker was killed, but for two seconds of each stream and the output of whole answers", async () => {
    expect(
      await runScenario(faults, {
        ...MESSAGES,
        name: "messages, worker killed",
        outputTokens: 400,
        tokenMs: 10,
        async fault({ streamed }) {
          await streamed(LOST_STREAM_MS + 1_000);
          const { configFile } = faults.stack;
          const pid = findWorkerPid(configFile, 0);
          const workerDiedMs = performance.now();
          process.kill(pid, "SIGKILL");
          await waitForNewWorker(configFile, pid, WORKERS);
          return { workerDiedMs };
        },
        allowsFailures: true,
        settleMs: 100_000,
      }),
    ).toEqual([]);
  });

  it.each([
    {
      name: "is killed and restarted",
      begin: () => faults.redis.kill(),
      end: () => faults.redis.restart(),
    },
    {
      name: "stands still with its connections open",
      begin: async () => faults.redis.freeze(),
      end: async () => faults.redis.thaw(),
    },
  ])("when Redis $name", async ({ name, begin, end }) => {
    expect(
      await runScenario(faults, {
        ...MESSAGES,
        name: `messages, Redis ${name}`,
        outputTokens: 20,
        async fault({ answered }) {
          await answered(WARM_ANSWERS);
          await begin();
          try {
            await answered(OUTAGE_ANSWERS);
          } finally {
            await end();
          }
          await answered(ANSWERS_AFTER);
        },
        allowsFailures: false,
        settleMs: 15_000,
        isGrace: true,
      }),
    ).toEqual([]);
  });

  it("when the supervisor is told to end under load, which ends the stack", async () => {
    let isOrderly = false;
    expect(
      await runScenario(faults, {
        ...MESSAGES,
        name: "messages, SIGTERM",
        outputTokens: 150,
        async fault({ answered, streamed }) {
          await answered(5);
          await streamed(500);
          isOrderly = await terminateStack(faults, faults.stack.child);
        },
        allowsFailures: true,
        settleMs: 5_000,
      }),
    ).toEqual([]);
    expect(isOrderly).toBe(true);
  });
});
