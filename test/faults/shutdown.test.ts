import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { send } from "../support/http.ts";
import { waitFor } from "../support/wait.ts";
import type { Sent } from "./fault-load.ts";
import { LOST_STREAM_MS } from "./fault-accounts.ts";
import { runScenario, WARM_ANSWERS } from "./fault-scenario.ts";
import {
  type FaultStack,
  listSpoolFiles,
  startFaultStack,
  startStackAgain,
  terminateStack,
} from "./fault-stack.ts";
import { START_TIMEOUT_MS } from "./machine.ts";
import { restartStack } from "./restart.ts";
import { listProcesses } from "../support/gateway-processes.ts";

let faults: FaultStack;
beforeAll(async () => {
  faults = await startFaultStack();
}, START_TIMEOUT_MS);
afterAll(() => faults?.stop(), 90_000);

describe("charged and used agree", () => {
  it("when the supervisor is told to end under load: what is in flight runs out whole", async () => {
    const inFlight: Sent[] = [];
    let isOrderly = false;
    expect(
      await runScenario(faults, {
        name: "SIGTERM",
        // Under a second: they have the five seconds of a drain, on a busy machine, too.
        outputTokens: 19,
        tokenMs: 40,
        async fault({ sent, answered, streamed }) {
          await answered(5);
          await streamed(300);
          inFlight.push(...sent.open.filter(({ endedMs }) => endedMs === 0));
          isOrderly = await terminateStack(faults);
        },
        allowsFailures: true,
      }),
    ).toEqual([]);
    expect(isOrderly).toBe(true);
    expect(inFlight.length).toBeGreaterThan(0);
    expect(inFlight.filter(({ isWhole }) => !isWhole)).toEqual([]);
  });

  it("when it is told to end while Redis is away: it fails, and the next start sends what is in the spool", async () => {
    await startStackAgain(faults);
    let isOrderly = true;
    expect(
      await runScenario(faults, {
        name: "SIGTERM without Redis, restart",
        outputTokens: 10,
        async fault({ answered }) {
          await answered(WARM_ANSWERS);
          await faults.redis.kill();
          await answered(5);
          await waitFor("charges in the spool", () => listSpoolFiles(faults.stack).length > 0);
          isOrderly = await terminateStack(faults);
          expect(listSpoolFiles(faults.stack)).not.toEqual([]);
          await faults.redis.restart();
          await startStackAgain(faults);
        },
        allowsFailures: true,
        isGrace: true,
      }),
    ).toEqual([]);
    expect(isOrderly).toBe(false);
  });

  it("when a host is gone with all its processes: another host closes what it left, but for two seconds of each stream", async () => {
    const other = await startOtherHost();
    try {
      expect(
        await runScenario(faults, {
          name: "host gone",
          outputTokens: 100,
          tokenMs: 40,
          async fault({ streamed }) {
            await streamed(LOST_STREAM_MS + 1_000);
            const { configFile } = faults.stack;
            const processes = [...listProcesses(configFile, "serve"), ...listProcesses(configFile, "worker")];
            const workerDiedMs = performance.now();
            for (const pid of processes) process.kill(pid, "SIGKILL");
            await faults.child.waitForEnd(60_000);
            return { workerDiedMs };
          },
          allowsFailures: true,
          waitsForReaper: true,
        }),
      ).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});

it("nothing of it changes when the gateway is stopped, its usage verified and rebuilt, and it starts again", async () => {
  await startStackAgain(faults);
  expect(await restartStack(faults, { isLogShort: true })).toEqual([]);
});

/** Another gateway on the same Redis, with sockets and data of its own; nobody sends it requests. */
async function startOtherHost(): Promise<Child> {
  const { configFile, dir } = faults.stack;
  const config = parse(await readFile(configFile, "utf8")) as Record<string, object>;
  const own = join(dir, "other");
  await mkdir(own);
  const file = join(own, "other-host.yaml");
  const admin = { ...config["admin"], port: await findFreePort() };
  await writeFile(file, stringify({ ...config, admin, data_dir: join(own, "data") }));
  const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
  const child = startChild(process.execPath, [main, "serve", "--config", file], { cwd: own });
  const isReady = async (): Promise<boolean> => {
    if (child.ended !== null) throw new Error(`ended: ${child.stderr}`);
    const answer = await send(`http://127.0.0.1:${admin.port}`, { path: "/readyz" }).catch(() => null);
    return answer?.status === 200;
  };
  await waitFor("the other host", isReady, { timeoutMs: 40_000, intervalMs: 50 });
  return child;
}
