/** Sessions whose requests outlive Redis or their worker: what they cost counts, though nobody compared it. */
import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sessionSpendKey } from "../../src/data-path/store/redis/keys.ts";
import { CHAT_PATH, chatBody } from "../support/chat-stack.ts";
import { type HttpAnswer, readError, send, type SendOptions } from "../support/http.ts";
import { textChunk, textCompletion } from "../support/scripted-answer.ts";
import { type CreatedKey, createTestKey } from "../support/test-key.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { type ServeAlone, startServeAlone } from "./access/serve-alone.ts";
import { findWorker } from "./access/worker-processes.ts";

const USAGE = { promptTokens: 10, cachedTokens: 4, completionTokens: 1_200 };
/** A little more than a cent. */
const COST = BigInt(6 * 250 + 4 * 25 + 1_200 * 1_000);
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

function post(key: CreatedKey, name: string, options: Partial<SendOptions> = {}): Promise<HttpAnswer> {
  const headers = { authorization: `Bearer ${key.key}`, "x-session-id": name };
  return send(stack.baseUrl, { path: CHAT_PATH, headers, body: chatBody(), ...options });
}

async function spentBy({ organizationId, id }: CreatedKey, name: string): Promise<bigint> {
  const sha1 = createHash("sha1").update(name).digest("hex");
  const client = new Redis(stack.redis.url);
  const spent = await client.hget(sessionSpendKey(organizationId, id, sha1), "spent");
  client.disconnect();
  return BigInt(spent ?? "0");
}

it("are not compared while Redis is away, and count what they have cost when it is back", async () => {
  const key = await createTestKey(stack.store, { sessionCapCents: 3 });
  upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
  expect((await post(key, "run 1")).status).toBe(200);
  stack.redis.kill();
  const statuses = await Promise.all(
    Array.from({ length: 4 }, async () => (await post(key, "run 1")).status),
  );
  await stack.redis.restart();
  await waitFor("this process's own connection", () => stack.store.timeMs());
  expect(statuses).toEqual([200, 200, 200, 200]);
  await waitFor("the spool to be sent", async () => (await spentBy(key, "run 1")) === 5n * COST, {
    timeoutMs: 30_000,
  });
  const refused = await post(key, "run 1");
  expect([refused.status, readError(refused).code]).toEqual([402, "session_cap_reached"]);
  expect((await post(key, "run 2")).status).toBe(200);
});

it("count what a stream has cost whose worker is killed", async () => {
  const key = await createTestKey(stack.store, { sessionCapCents: 300 });
  upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
  let isKilled = false;
  await post(key, "killed", {
    body: chatBody({ stream: true }),
    onData: (_chunk, soFar) => {
      if (!soFar().includes('"one"') || isKilled) return;
      isKilled = process.kill(findWorker(stack.configFile, 0), "SIGKILL");
    },
  });
  expect(isKilled).toBe(true);
  const spent = await waitFor(
    "the request to be closed",
    async () => {
      const { organizationMicrocents: sum } = await stack.store.readSpend(key.organizationId, null);
      return sum > 0n && sum;
    },
    { timeoutMs: 90_000 },
  );
  expect(await spentBy(key, "killed")).toBe(spent);
});
