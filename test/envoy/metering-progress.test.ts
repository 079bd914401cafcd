import { request } from "node:http";
import type { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import {
  connectRedis,
  GOLD_MODEL,
  goldCostOf,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  readKeyStatus,
  readRequest,
  readSpend,
  waitForAdmission,
} from "./metering-figures.ts";

const chat = withChatStack(() => ({ catalog: METERED_CATALOG }));
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
const PAUSE_MS = 1_200;

let redis: Redis;
beforeAll(() => {
  redis = connectRedis(chat.stack);
});
afterAll(() => {
  redis.disconnect();
});

function spentCents(key: CreatedKey): Promise<number> {
  return readKeyStatus(chat.stack, key).then((status) => Number(status["spent_cents"]));
}

describe("holds", () => {
  it("are there before the upstream sees the request", async () => {
    const key = await chat.stack.createKey();
    let openRequests = -1;
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const sent = chat.send({ key: key.key, body: chatBody() });
    await chat.upstream.waitForRequests(1);
    openRequests = await redis.zcard(`igw:{${key.organizationId}}:holds`);
    gate.release();
    await sent;
    expect(openRequests).toBe(1);
    expect(await redis.zcard(`igw:{${key.organizationId}}:holds`)).toBe(0);
  });

  it("leave nothing behind once their requests are settled", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    await Promise.all(Array.from({ length: 20 }, () => chat.send({ key: key.key, body: chatBody() })));
    const readLeft = () => redis.keys(`igw:{${key.organizationId}}:request:*`);
    await waitFor("the records to be deleted", async () => (await readLeft()).length === 0);
    expect(await redis.zcard(`igw:{${key.organizationId}}:holds`)).toBe(0);
  });

  it("keep a request from the upstream when Redis does not answer, and it costs nothing", async () => {
    const key = await chat.stack.createKey();
    // Admitted before the pause, held in it: the body is what comes late.
    const { hostname, port } = new URL(chat.stack.baseUrl);
    const status = new Promise<number>((resolve, reject) => {
      const late = request(
        {
          hostname,
          port,
          method: "POST",
          path: "/v1/chat/completions",
          headers: { authorization: `Bearer ${key.key}` },
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      late.on("error", reject);
      late.flushHeaders();
      void pauseAfterAdmission(key).then(() => late.end(JSON.stringify(chatBody())));
    });
    expect(await status).toBe(503);
    expect(chat.upstream.requests).toHaveLength(0);
    await waitFor("Redis to answer again", async () => (await redis.ping()) === "PONG");
    const store = await chat.stack.store();
    const rows = await waitFor("the request to be on record", async () => {
      const { items } = await store.listRequests(key.organizationId, { limit: 5, after: null });
      return items.length > 0 && items;
    });
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ status: 503, errorCode: "gateway_unavailable", costMicrocents: 0n });
    await waitFor(
      "the hold to be gone",
      async () => (await redis.zcard(`igw:{${key.organizationId}}:holds`)) === 0,
    );
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
  });
});

describe("progress", () => {
  it.each([
    ["chat", undefined, chatBody],
    ["messages", MESSAGES_PATH, messagesBody],
  ] as const)(
    "of a stream is in GET /v1/key while it streams, and the exact cost right after it (%s)",
    async (_name, path, body) => {
      const key = await chat.stack.createKey();
      const gate = createGate();
      const words = Array.from({ length: 30 }, () => textChunk(" word"));
      chat.upstream.answer({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(USAGE)] });
      const sent = chat.send({
        key: key.key,
        ...(path === undefined ? {} : { path }),
        body: body({ model: GOLD_MODEL, stream: true, max_tokens: 100 }),
      });
      // Thirty tokens at two cents, and some for the prompt.
      const during = await waitFor("progress to be visible", async () => {
        const spent = await spentCents(key);
        return spent > 0 && spent;
      });
      expect(during).toBeGreaterThanOrEqual(60);
      expect(during).toBeLessThan(160);
      gate.release();
      expect(describeAnswer(await sent)).toBe("200");
      expect(await spentCents(key)).toBe(20);
      expect((await readSpend(chat.stack, key)).key).toBe(goldCostOf(USAGE));
    },
  );

  it("follows the upstream's own count where every chunk has one", async () => {
    const key = await chat.stack.createKey();
    const [first, second] = [createGate(), createGate()];
    const usage = (completion_tokens: number) => ({ usage: { prompt_tokens: 10, completion_tokens } });
    chat.upstream.answer({
      kind: "events",
      events: [
        textChunk("a", usage(1)),
        first,
        textChunk("b", usage(2)),
        second,
        finishChunk("stop", usage(3)),
      ],
    });
    const sent = chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL, stream: true }) });
    await waitFor("the first charge", async () => (await spentCents(key)) === 12);
    first.release();
    await waitFor("the second charge", async () => (await spentCents(key)) === 14);
    second.release();
    await sent;
    expect(await spentCents(key)).toBe(16);
  });
});

describe("the last piece of an answer", () => {
  it.each([
    ["[DONE]", "[DONE]", undefined, chatBody],
    ["message_stop", "message_stop", MESSAGES_PATH, messagesBody],
  ] as const)("%s waits for the charge to be on record", async (_name, mark, path, body) => {
    const key = await chat.stack.createKey();
    const gate = createGate();
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("hello"), gate, finishChunk(), usageChunk(USAGE)],
    });
    let sawText = false;
    const sent = chat.send({
      key: key.key,
      ...(path === undefined ? {} : { path }),
      body: body({ stream: true }),
      onData: (_, soFar) => {
        sawText = soFar.includes("hello");
      },
    });
    await waitFor("the first text", () => sawText);
    const pausedAtMs = performance.now();
    await redis.client("PAUSE", PAUSE_MS, "ALL");
    gate.release();
    const answer = await sent;
    expect(answer.text).toContain(mark);
    expect(performance.now() - pausedAtMs).toBeGreaterThan(PAUSE_MS - 100);
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      cost_microcents: 7_500,
      estimated: false,
    });
    expect((await readSpend(chat.stack, key)).key).toBe(7_500n);
  });

  it("the body of an answer that is not streamed waits for it too", async () => {
    const key = await chat.stack.createKey();
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const sent = chat.send({ key: key.key, body: chatBody() });
    await chat.upstream.waitForRequests(1);
    const pausedAtMs = performance.now();
    await redis.client("PAUSE", PAUSE_MS, "ALL");
    gate.release();
    expect(describeAnswer(await sent)).toBe("200");
    expect(performance.now() - pausedAtMs).toBeGreaterThan(PAUSE_MS - 100);
    expect((await readSpend(chat.stack, key)).key).toBe(7_500n);
  });

  it("comes in a bounded time all the same, and the charge later", async () => {
    const key = await chat.stack.createKey();
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const sent = chat.send({ key: key.key, body: chatBody() });
    await chat.upstream.waitForRequests(1);
    await redis.client("PAUSE", 6_000, "ALL");
    gate.release();
    expect(describeAnswer(await sent)).toBe("200");
    await waitFor("the charge", async () => (await readSpend(chat.stack, key)).key === 7_500n, {
      timeoutMs: 20_000,
    });
  });
});

/** Resolves when the request of the key was admitted and Redis answers nothing any more. */
async function pauseAfterAdmission(key: CreatedKey): Promise<void> {
  await waitForAdmission(redis, key);
  await redis.client("PAUSE", 1_000, "ALL");
}
