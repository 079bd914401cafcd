import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import type { Sent } from "./fault-load.ts";
import { runScenario } from "./fault-scenario.ts";
import { type FaultStack, listSpoolFiles, startFaultStack } from "./fault-stack.ts";
import { listProcesses } from "./processes.ts";

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
  running = faults.stack.child;
}, 180_000);
afterAll(async () => {
  await running?.stop();
  await faults?.stop();
}, 90_000);

/** The stack that runs now. */
let running: Child;

/** Ends the supervisor as Kubernetes does, while streams run. Resolves with whether it could settle everything. */
async function terminate(): Promise<boolean> {
  const [supervisor] = listProcesses(faults.stack.configFile, "serve");
  if (supervisor === undefined) throw new Error("the supervisor does not run");
  process.kill(supervisor, "SIGTERM");
  await running.waitForEnd(60_000);
  const stopped = [...faults.stack.readLogs().matchAll(/"orderly":(true|false)/g)].at(-1);
  return stopped?.[1] === "true";
}

/** Starts the same stack once more. */
async function startAgain(): Promise<void> {
  const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
  const args = [main, "up", "--config", faults.stack.configFile, "--json"];
  running = startChild(process.execPath, args, { cwd: faults.stack.dir });
  await running.waitForLine("the stack's JSON line", (line) => (line.startsWith("{") ? line : null), 60_000);
}

describe("charged and used agree", () => {
  it("when the supervisor is told to end under load: what is in flight runs out whole", async () => {
    const inFlight: Sent[] = [];
    let isOrderly = false;
    expect(
      await runScenario(faults, {
        name: "SIGTERM",
        outputTokens: 150,
        async fault({ sent }) {
          await wait(1_500);
          inFlight.push(...sent.open.filter(({ endedMs }) => endedMs === 0));
          isOrderly = await terminate();
        },
        allowsFailures: true,
        settleMs: 5_000,
      }),
    ).toEqual([]);
    expect(isOrderly).toBe(true);
    expect(inFlight.length).toBeGreaterThan(0);
    expect(inFlight.filter(({ isWhole }) => !isWhole)).toEqual([]);
  });

  it("when it is told to end while Redis is away: it fails, and the next start sends what is in the spool", async () => {
    await startAgain();
    let isOrderly = true;
    expect(
      await runScenario(faults, {
        name: "SIGTERM without Redis, restart",
        outputTokens: 20,
        async fault() {
          await wait(1_200);
          await faults.redis.kill();
          await wait(600);
          isOrderly = await terminate();
          expect(listSpoolFiles(faults.stack)).not.toEqual([]);
          await faults.redis.restart();
          await startAgain();
        },
        allowsFailures: true,
        settleMs: 20_000,
        isGrace: true,
      }),
    ).toEqual([]);
    expect(isOrderly).toBe(false);
  });
});
