/** Tags of requests that outlive Redis or their worker: they count where they would have counted. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createKey } from "../../src/data-path/auth/key-format.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { type HttpAnswer, send, type SendOptions } from "../support/http.ts";
import { textChunk, textCompletion } from "../support/scripted-answer.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { findWorker } from "./access/worker-processes.ts";

const COST = BigInt(6 * 250 + 4 * 25 + 5 * 1_000);
let upstream: ScriptedUpstream;
let stack: ServeAlone;
beforeAll(async () => {
  upstream = await startUpstream();
  stack = await startServeAlone({ upstreamUrl: upstream.url, workers: 1, drainSeconds: 2 });
});
afterAll(async () => {
  await stack.stop();
  await upstream.close();
});

function post(key: CreatedKey, tags: string, options: Partial<SendOptions> = {}): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${key.key}`, "x-tags": tags };
  return send(stack.baseUrl, { path: CHAT_PATH, headers, body: chatBody(), ...options });
}

function answerWithUsage(): void {
  const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };
  upstream.answer({ kind: "json", body: textCompletion("x", usage) });
}

/** Tags → microcents; undefined while what was spent is not `spent`. */
async function readCosts(key: CreatedKey, isWhole: (spent: bigint) => boolean) {
  const { organizationMicrocents } = await stack.store.readSpend(key.organizationId, null);
  if (!isWhole(organizationMicrocents)) return undefined;
  const { rows } = await stack.store.readUsage(key.organizationId, null);
  const costs = Object.fromEntries(rows.map((row) => [row.tags, row.costMicrocents]));
  expect(rows.reduce((sum, row) => sum + row.costMicrocents, 0n)).toBe(organizationMicrocents);
  return costs;
}

it("tags of requests in an outage of Redis are replayed from the spool into their own rows", async () => {
  const key = await createTestKey(stack.store);
  answerWithUsage();
  expect((await post(key, "team=a")).status).toBe(200);
  stack.redis.kill();
  const statuses = await Promise.all(
    ["team=a", "team=b", "team=b"].map(async (tags) => (await post(key, tags)).status),
  );
  // In the grace period the gateway is ready, though it refuses who it does not know.
  const unknown = await send(stack.baseUrl, {
    path: "/v1/models",
    headers: { authorization: `Bearer ${createKey()}` },
  });
  expect(unknown.status).toBe(503);
  expect((await send(stack.baseUrl, { path: "/readyz" })).status).toBe(200);
  await stack.redis.restart();
  expect(statuses).toEqual([200, 200, 200]);
  const costs = await waitFor("the spool to be sent", () => readCosts(key, (spent) => spent === 4n * COST), {
    timeoutMs: 30_000,
  });
  expect(costs).toEqual({ "team=a": 2n * COST, "team=b": 2n * COST });
});

it("the tags of a stream whose worker is killed count when another closes it", async () => {
  const key = await createTestKey(stack.store);
  upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
  let isKilled = false;
  await post(key, "team=killed", {
    body: chatBody({ stream: true }),
    onData: (_chunk, soFar) => {
      if (!soFar().includes('"one"') || isKilled) return;
      isKilled = process.kill(findWorker(stack.configFile, 0), "SIGKILL");
    },
  });
  expect(isKilled).toBe(true);
  const costs = await waitFor("the request to be closed", () => readCosts(key, (spent) => spent > 0n), {
    timeoutMs: 90_000,
  });
  expect(Object.keys(costs)).toEqual(["team=killed"]);
});
