/** Requests that clients take back before they were admitted, or between their admission and their body, take no slot. */
import { type ClientRequest, request as startRequest } from "node:http";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRequestsKey, inflightKey } from "../../src/data-path/store/redis/keys.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { TRANSPORTS_UNDER_TEST } from "../support/gateway-config.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { waitFor } from "../support/wait.ts";
import { readSidecarCounter } from "./edge/envoy-counters.ts";

const TAKEN_BACK = 20;
/** Calls of Envoy that stay open: each of its threads tells the sidecar how requests end. */
const ACCESS_LOGS = availableParallelism();
/** Longer than any wait of these tests. */
const PAUSE_MS = 60_000;
const BODY = JSON.stringify(chatBody());
/** With one worker requests go ahead of their admission, with two they wait for it in ext_authz. */
const STACKS = TRANSPORTS_UNDER_TEST.flatMap((transport) =>
  [1, 2].map((workers) => ({ transport, workers })),
);

describe.each(STACKS)("a limit of concurrent requests, $workers of $transport", ({ transport, workers }) => {
  const chat = withChatStack(() => ({ workers, overrides: { sidecar: { transport } } }));
  let redis: Redis;

  beforeAll(() => {
    redis = new Redis(join(chat.stack.dir, "run/redis.sock"));
  });
  afterAll(() => redis.disconnect());

  function start(key: CreatedKey, isWhole: boolean): ClientRequest {
    const { hostname, port } = new URL(chat.stack.baseUrl);
    const headers = {
      authorization: `Bearer ${key.key}`,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(BODY),
    };
    const request = startRequest({ hostname, port, path: CHAT_PATH, method: "POST", headers });
    request.on("error", () => undefined);
    request.flushHeaders();
    if (isWhole) request.end(BODY);
    return request;
  }

  const send = (key: CreatedKey) => chat.send({ key: key.key, body: chatBody() });
  const limit = async ({ organizationId, id }: CreatedKey, maxConcurrentRequests: number): Promise<void> => {
    const reference = { organizationId, keyId: id };
    await (await chat.stack.store()).changeKey(reference, { maxConcurrentRequests }, null);
  };
  const entries = ({ organizationId, id }: CreatedKey): Promise<number[]> =>
    Promise.all([redis.zcard(openRequestsKey(organizationId)), redis.zcard(inflightKey(organizationId, id))]);

  /** Scripts of the gateway that Redis keeps waiting. */
  async function countWaiting(): Promise<number> {
    const clients = String(await redis.client("LIST"));
    return clients.split("\n").filter((line) => /flags=\S*b/.test(line) && /cmd=eval/.test(line)).length;
  }

  it("counts none that was taken back before Redis had admitted it", async () => {
    const key = await chat.stack.createKey();
    // Every worker knows the key, and nothing else waits for Redis when it pauses.
    for (let sent = 0; sent < 4 * workers; sent += 1) expect((await send(key)).status).toBe(200);
    await waitFor("all have ended", async () => (await entries(key)).every((count) => count === 0));
    const resetBefore = await readSidecarCounter(chat.stack, "upstream_rq_tx_reset");
    await redis.client("PAUSE", PAUSE_MS, "WRITE");
    const requests = Array.from({ length: TAKEN_BACK }, () => start(key, true));
    await waitFor("their admissions wait for Redis", async () => (await countWaiting()) > 0);
    const active = () => readSidecarCounter(chat.stack, "upstream_rq_active");
    await waitFor("all have been asked for", async () => (await active()) >= TAKEN_BACK);
    for (const request of requests) request.destroy();
    await waitFor("Envoy has taken the calls back", async () => {
      const reset = (await readSidecarCounter(chat.stack, "upstream_rq_tx_reset")) - resetBefore;
      return reset >= TAKEN_BACK || (await active()) <= ACCESS_LOGS;
    });
    await redis.client("UNPAUSE");
    await limit(key, 1);
    // Of those that had passed ext_authz already the worker hears nothing more: Redis counts them for ten seconds, and how
    // many they are depends on how far each worker had come.
    if (workers > 1) {
      const haveLeft = async () => (await entries(key)).every((count) => count < TAKEN_BACK);
      await waitFor("those that waited have left", haveLeft);
    }
    await waitFor("a request finds its slot", async () => (await send(key)).status === 200);
  });

  it("takes no slot from a request that was admitted before the limit was set and uploads slowly", async () => {
    const key = await chat.stack.createKey();
    expect((await send(key)).status).toBe(200);
    await waitFor("it has ended", async () => (await entries(key)).every((count) => count === 0));
    const slow = start(key, false);
    const answered = new Promise<number | undefined>((resolve) => {
      slow.once("response", (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    await waitFor("it is admitted", async () => (await entries(key)).every((count) => count === 1));
    await limit(key, 1);
    chat.upstream.answer({ kind: "json", body: textCompletion("hi", null) });
    // Longer than a request may go upstream on its entry: it asks for a slot of its own.
    const inFlight = inflightKey(key.organizationId, key.id);
    const [, admittedUntil] = await redis.zrange(inFlight, "0", "-1", "WITHSCORES");
    const elapsed = async (): Promise<number> => {
      const [seconds] = await redis.time();
      return Number(seconds) * 1_000 - (Number(admittedUntil) - 10_000);
    };
    await waitFor("more than a second has passed", async () => (await elapsed()) > 1_000);
    slow.end(BODY);
    expect(await answered).toBe(200);
  });
});
