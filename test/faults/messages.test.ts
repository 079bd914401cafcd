/** The scenarios that the way through the gateway makes a difference to, on an upstream that speaks messages itself. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findWorkerPid, waitForNewWorker } from "../support/gateway-processes.ts";
import { LOST_STREAM_MS } from "./fault-accounts.ts";
import { IS_LONG, runScenario } from "./fault-scenario.ts";
import { type FaultStack, startFaultStack, WORKERS } from "./fault-stack.ts";

const ANSWERS = IS_LONG ? 750 : 50;
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
});
