/** The process of the management API hangs or ends: requests, workers and probes go on, and it comes back by itself. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { listProcesses } from "../support/gateway-processes.ts";
import { send } from "../support/http.ts";
import { parseMetrics, sumOf } from "../support/metrics-page.ts";
import { createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";

const WORKERS = 2;
/** The supervisor gives it 30 s. */
const KILLED_WITHIN = { timeoutMs: 120_000, intervalMs: 100 };

let upstream: ScriptedUpstream;
let stack: ServeAlone;
let healthUrl = "";
let key = "";

beforeAll(async () => {
  upstream = await startUpstream();
  const healthPort = await findFreePort();
  healthUrl = `http://127.0.0.1:${healthPort}`;
  stack = await startServeAlone({
    upstreamUrl: upstream.url,
    workers: WORKERS,
    drainSeconds: 2,
    overrides: { admin: { health_port: healthPort } },
  });
  ({ key } = await createTestKey(stack.store));
});
afterAll(async () => {
  await stack?.stop();
  await upstream?.close();
});

const request = async (): Promise<number> => {
  const headers = { authorization: `Bearer ${key}` };
  return (await send(stack.baseUrl, { path: CHAT_PATH, headers, body: chatBody() })).status;
};
const readiness = async (): Promise<number> => (await send(healthUrl, { path: "/readyz" })).status;
const isApiThere = async (): Promise<boolean> =>
  (await send(stack.adminUrl, { path: "/readyz" }).catch(() => null))?.status === 200;

const adminsOf = (): readonly number[] => listProcesses(stack.configFile, "admin");

function findAdmin(): number {
  const [pid] = adminsOf();
  if (pid === undefined) throw new Error("the admin process does not run");
  return pid;
}

describe("the process of the management API", () => {
  it("may hang: requests are served, the host stays ready, and another one takes its place", async () => {
    const hung = findAdmin();
    process.kill(hung, "SIGSTOP");
    for (let count = 0; count < 5; count += 1) {
      expect([await request(), await readiness()]).toEqual([200, 200]);
    }
    await waitFor("the end of the one that hangs", () => !adminsOf().includes(hung), KILLED_WITHIN);
    await waitFor("another admin process", isApiThere, KILLED_WITHIN);
    expect(adminsOf()).not.toContain(hung);
  });

  it("may end: requests are served, and another one takes its place on the same port", async () => {
    const admin = findAdmin();
    const workers = listProcesses(stack.configFile, "worker");
    process.kill(admin, "SIGKILL");
    expect([await request(), await readiness()]).toEqual([200, 200]);
    await waitFor("another admin process", isApiThere, { timeoutMs: 60_000, intervalMs: 50 });
    expect(findAdmin()).not.toBe(admin);
    expect(listProcesses(stack.configFile, "worker")).toEqual(workers);
    const page = parseMetrics((await send(stack.adminUrl, { path: "/metrics" })).text);
    expect(sumOf(page, "inference_gateway_workers_reporting")).toBe(WORKERS);
    expect(sumOf(page, "inference_gateway_worker_restarts_total")).toBe(0);
    expect(sumOf(page, "inference_gateway_resident_memory_bytes", { process: "admin" })).toBeGreaterThan(0);
  });

  it("ends with its supervisor", async () => {
    const admin = findAdmin();
    await stack.serve.stop();
    await waitFor("its end", () => !adminsOf().includes(admin));
    expect(stack.serve.ended).toBe(0);
  });
});
