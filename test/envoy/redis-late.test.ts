/** Redis comes later than the gateway, or than a worker that was killed while it was away. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { byExtent } from "../support/extent.ts";
import { type HttpAnswer, readError, send } from "../support/http.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { findWorker, listWorkers, readEndpoints } from "./access/worker-processes.ts";

const WORKERS = byExtent({ push: 1, nightly: 2 });
let upstream: ScriptedUpstream;
let stack: ServeAlone | null = null;
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  await stack?.stop();
  stack = null;
  await upstream.close();
}, 60_000);

const statusOf = async (url: string, path: string): Promise<number> => (await send(url, { path })).status;

function post({ baseUrl }: ServeAlone, { key }: CreatedKey): Promise<HttpAnswer> {
  return send(baseUrl, { path: CHAT_PATH, headers: { authorization: `Bearer ${key}` }, body: chatBody() });
}

function listSpool({ configFile }: ServeAlone): readonly string[] {
  const dir = join(dirname(configFile), "data/spool");
  return existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith(".spool")) : [];
}

describe("a gateway that starts while Redis is away", () => {
  it("lives, is not ready, refuses with 503, and becomes ready by itself", async () => {
    stack = await startServeAlone({
      upstreamUrl: upstream.url,
      workers: WORKERS,
      drainSeconds: 2,
      isRedisAway: true,
    });
    const { baseUrl, adminUrl, configFile, redis, serve, store } = stack;
    await waitFor("the workers", () => listWorkers(configFile).length === WORKERS);
    const before = listWorkers(configFile);
    for (const url of [baseUrl, adminUrl]) {
      expect([await statusOf(url, "/healthz"), await statusOf(url, "/readyz")]).toEqual([200, 503]);
    }
    const refused = await send(baseUrl, {
      path: CHAT_PATH,
      headers: { authorization: `Bearer ${"k".repeat(40)}` },
      body: chatBody(),
    });
    expect([refused.status, readError(refused).code]).toEqual([503, "gateway_unavailable"]);

    const waiting = serve.stderr.split("\n").filter((line) => line.includes("waiting for redis"));
    expect(waiting.map((line) => (JSON.parse(line) as { redis: string }).redis)).toEqual([redis.url]);

    await redis.restart();
    await waitFor("readiness", async () => (await statusOf(baseUrl, "/readyz")) === 200);
    await waitFor("the admin server's", async () => (await statusOf(adminUrl, "/readyz")) === 200);
    await waitFor("the test's own connection", () => store.timeMs().catch(() => null));
    const key = await createTestKey(store);
    expect((await post(stack, key)).status).toBe(200);
    expect(listWorkers(configFile)).toEqual(before);
  });
});

describe("a worker that is killed while Redis is away", () => {
  it("comes back, is passed over until Redis answers, and then sends what its predecessor had in the spool", async () => {
    stack = await startServeAlone({ upstreamUrl: upstream.url, workers: 1, drainSeconds: 2 });
    const { configFile, redis, store, sockets, baseUrl } = stack;
    const key = await createTestKey(store);
    expect((await post(stack, key)).status).toBe(200);
    const costEach = await waitFor("the first charge", async () => {
      const { organizationMicrocents } = await store.readSpend(key.organizationId, null);
      return organizationMicrocents > 0n && organizationMicrocents;
    });
    redis.kill();
    // The worker knows the key: these are charged to the spool.
    expect((await post(stack, key)).status).toBe(200);
    expect((await post(stack, key)).status).toBe(200);
    expect(listSpool(stack)).not.toEqual([]);

    const killed = findWorker(configFile, 0);
    process.kill(killed, "SIGKILL");
    await waitFor("its successor", () => listWorkers(configFile).some(({ pid }) => pid !== killed));
    await waitFor("Envoy to pass it over", async () => !(await readEndpoints(sockets))[0]?.isHealthy);
    const refused = await post(stack, key);
    expect([refused.status, readError(refused).code]).toEqual([503, "gateway_unavailable"]);
    expect([await statusOf(baseUrl, "/healthz"), await statusOf(baseUrl, "/readyz")]).toEqual([200, 503]);
    const successor = findWorker(configFile, 0);

    await redis.restart();
    const { organizationId } = key;
    await waitFor("the spool to be sent", async () => {
      const spent = await store.readSpend(organizationId, null).catch(() => null);
      return spent?.organizationMicrocents === 3n * costEach && listSpool(stack!).length === 0;
    });
    // Envoy looks every quarter of a second.
    await waitFor("readiness", async () => (await statusOf(baseUrl, "/readyz")) === 200);
    expect((await post(stack, key)).status).toBe(200);
    expect(findWorker(configFile, 0)).toBe(successor);
  });
});
