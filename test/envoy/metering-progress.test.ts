import { existsSync, readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { beforeAll, describe, expect, it } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withChatStack } from "../support/chat-stack.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { firstOnPush } from "../support/extent.ts";
import { createGate, type Gate, waitFor } from "../support/wait.ts";
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
import { monthLimits } from "../support/month-limits.ts";

/** Without a grace period: what Redis does not answer before a record is refused. */
const chat = withChatStack(() => ({
  catalog: METERED_CATALOG,
  overrides: { settlement: { grace_seconds: 0 } },
}));
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
/** Under the 250 ms after which a charge goes to the spool instead. */
const SHORT_PAUSE_MS = 150;
const LONG_PAUSE_MS = 6_000;
const POLL = { timeout: 10_000 };

let redis: Redis;
beforeAll(() => {
  redis = connectRedis(chat.stack);
  return () => redis.disconnect();
});

/** Resolves with the status of a request whose body comes when something has happened behind its headers. */
function sendAround(key: CreatedKey, happen: () => Promise<void>): Promise<number> {
  const { hostname, port } = new URL(chat.stack.baseUrl);
  return new Promise((resolve, reject) => {
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
    void happen().then(() => late.end(JSON.stringify(chatBody({ model: GOLD_MODEL }))));
  });
}

function spentCents(key: CreatedKey): Promise<number> {
  return readKeyStatus(chat.stack, key).then((status) => Number(status["spent_cents"]));
}

describe("requests that need no record", () => {
  const journal = () => {
    const spool = join(chat.stack.dir, "data/spool");
    // There from the first line on.
    const files = existsSync(spool) ? readdirSync(spool).filter((name) => name.endsWith(".begun")) : [];
    return files.map((name) => readFileSync(join(spool, name), "utf8")).join("");
  };

  it("are in the journal when the upstream sees them, and have a record before it answers", async () => {
    const readRecords = ({ organizationId }: CreatedKey) => redis.keys(`igw:{${organizationId}}:request:*`);
    // A body that comes later than a second waits for its record.
    const { key, gate, sent } = await waitFor("a body in time", async () => {
      const candidate = await chat.stack.createKey();
      const shut = createGate();
      const before = chat.upstream.requests.length;
      chat.upstream.answer({ kind: "json", before: shut, body: textCompletion("x", USAGE) });
      const answer = chat.send({ key: candidate.key, body: chatBody() });
      await chat.upstream.waitForRequests(before + 1);
      if (journal().includes(`"organizationId":"${candidate.organizationId}"`)) {
        return { key: candidate, gate: shut, sent: answer };
      }
      expect(await readRecords(candidate)).toHaveLength(1);
      shut.release();
      await answer;
      return null;
    });
    await waitFor("its record", async () => (await readRecords(key)).length === 1);
    gate.release();
    expect((await sent).status).toBe(200);
    await waitFor("its record to be deleted", async () => (await readRecords(key)).length === 0);
    expect(await redis.zcard(`igw:{${key.organizationId}}:open-requests`)).toBe(0);
  });

  it("leave Redis's open requests within a second when they are refused for what is in their body", async () => {
    const key = await chat.stack.createKey();
    const { status } = await chat.send({ key: key.key, body: chatBody({ model: "acme/unknown" }) });
    expect(status).toBe(400);
    await expect.poll(() => redis.zcard(`igw:{${key.organizationId}}:open-requests`), POLL).toBe(0);
  });

  it("go upstream when Redis does not answer any more, and their charge is on record once it does", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    // A body that comes later than a second waits for its record.
    const key = await waitFor("a body in time", async () => {
      const candidate = await chat.stack.createKey();
      const status = await sendAround(candidate, () => pauseAfterAdmission(candidate));
      await redis.ping();
      return status === 200 && candidate;
    });
    await expect.poll(() => readSpend(chat.stack, key), POLL).toMatchObject({ key: goldCostOf(USAGE) });
  });
});

describe("records", () => {
  it("are there before the upstream sees the request", async () => {
    const key = await chat.stack.createKey();
    let openRequests = -1;
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const sent = chat.send({ key: key.key, body: chatBody() });
    await chat.upstream.waitForRequests(1);
    openRequests = await redis.zcard(`igw:{${key.organizationId}}:open-requests`);
    gate.release();
    await sent;
    expect(openRequests).toBe(1);
    expect(await redis.zcard(`igw:{${key.organizationId}}:open-requests`)).toBe(0);
  });

  it("leave nothing behind once their requests are settled", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    await Promise.all(Array.from({ length: 20 }, () => chat.send({ key: key.key, body: chatBody() })));
    const readLeft = () => redis.keys(`igw:{${key.organizationId}}:request:*`);
    await waitFor("the records to be deleted", async () => (await readLeft()).length === 0);
    expect(await redis.zcard(`igw:{${key.organizationId}}:open-requests`)).toBe(0);
  });

  it("keep a request from the upstream when Redis does not answer, and it costs nothing", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 1_000 }) }, { strictCaps: true });
    // Longer than a record of strict caps waits for Redis.
    expect(await sendAround(key, () => pauseAfterAdmission(key, 6_000))).toBe(503);
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
      "the record to be gone",
      async () => (await redis.zcard(`igw:{${key.organizationId}}:open-requests`)) === 0,
    );
    expect(await readSpend(chat.stack, key)).toEqual({ key: 0n, organization: 0n });
  });
});

describe("progress", () => {
  const CONTENT = { content: " word" };
  it.each([
    ["chat", undefined, chatBody, CONTENT],
    ["chat, reasoning details", undefined, chatBody, { reasoning_details: [{ text: " word", index: 0 }] }],
    ["messages", MESSAGES_PATH, messagesBody, CONTENT],
    ["messages, a field of tomorrow", MESSAGES_PATH, messagesBody, { of_tomorrow: [" word"] }],
  ] as const)(
    "of a stream is in GET /v1/key while it streams, and the exact cost right after it (%s)",
    async (_name, path, body, delta) => {
      const key = await chat.stack.createKey();
      const gate = createGate();
      const choices = [{ index: 0, delta, finish_reason: null }];
      const words = Array.from({ length: 30 }, () => textChunk("", { choices }));
      // As many tokens as deltas: what an upstream reports teaches the bound of the next request.
      const usage = { ...USAGE, completionTokens: 30 };
      chat.upstream.answer({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(usage)] });
      const sent = chat.send({
        key: key.key,
        ...(path === undefined ? {} : { path }),
        body: body({ model: GOLD_MODEL, stream: true, max_tokens: 100 }),
      });
      // Thirty tokens at two cents; never more than it comes to.
      const during = await waitFor("progress to be visible", async () => {
        const spent = await spentCents(key);
        return spent > 0 && spent;
      });
      expect(during).toBeGreaterThanOrEqual(60);
      expect(during).toBeLessThanOrEqual(70);
      gate.release();
      expect(describeAnswer(await sent)).toBe("200");
      expect(await spentCents(key)).toBe(70);
      expect((await readSpend(chat.stack, key)).key).toBe(goldCostOf(usage));
    },
  );

  it.each([
    ["between the fields of its body", { pad: " ".repeat(200_000), content: "hi" }],
    ["in what it says", { pad: "", content: `hi${" \n".repeat(100_000)}` }],
  ])(
    "counts nothing for white space %s: another key would be refused for it",
    async (_name, { pad, content }) => {
      const key = await chat.stack.createKey();
      const gate = createGate();
      const usage = { promptTokens: 14, cachedTokens: 0, completionTokens: 10 };
      const words = Array.from({ length: 10 }, () => textChunk(" word"));
      chat.upstream.answer({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(usage)] });
      const text = JSON.stringify({ ...chatBody({ model: GOLD_MODEL, stream: true }, content) });
      const headers = { "content-type": "application/json" };
      const sent = chat.send({ key: key.key, headers, body: `{${pad}${text.slice(1)}` });
      const during = await waitFor("progress to be visible", async () => {
        const spent = await spentCents(key);
        return spent > 0 && spent;
      });
      gate.release();
      expect(describeAnswer(await sent)).toBe("200");
      expect(await spentCents(key)).toBe(34);
      expect(during).toBeLessThanOrEqual(34);
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
    // The prompt at the price of cached tokens: the upstream may still say that they were.
    await waitFor("the first charge", async () => (await spentCents(key)) === 3);
    first.release();
    await waitFor("the second charge", async () => (await spentCents(key)) === 5);
    second.release();
    await sent;
    expect(await spentCents(key)).toBe(16);
  });
});

/** What is in the spool of the stack at this moment, as text. */
function readSpool(): string {
  const dir = join(chat.stack.dir, "data/spool");
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8")).join("\n");
}

describe("the last piece of an answer", () => {
  const routes = [
    ["[DONE]", CHAT_PATH, chatBody({ stream: true })],
    ["message_stop", MESSAGES_PATH, messagesBody({ stream: true })],
    ['"finish_reason":"stop"', CHAT_PATH, chatBody()],
    ['"stop_reason":"end_turn"', MESSAGES_PATH, messagesBody()],
  ] as const;

  /** Before its first progress, an answer's charge is on its way only (`open-record-begun.test.ts`). */
  async function waitForRecord({ organizationId }: CreatedKey): Promise<void> {
    await chat.upstream.waitForRequests(1);
    const readRecords = () => redis.keys(`igw:{${organizationId}}:request:*`);
    await waitFor("its record", async () => (await readRecords()).length === 1);
  }

  /** Answers when the gate is opened; what was asked to stream has begun before. */
  function answerBehind(gate: Gate): void {
    const rest = [finishChunk(), usageChunk(USAGE)];
    chat.upstream.answer(({ body }) =>
      body?.["stream"] === true
        ? { kind: "events", events: [textChunk("hello"), gate, ...rest] }
        : { kind: "json", before: gate, body: textCompletion("hello", USAGE) },
    );
  }

  it.each(routes)(
    "%s is not given out before Redis has acknowledged the charge (%s)",
    async (mark, path, body) => {
      const key = await chat.stack.createKey();
      const gate = createGate();
      answerBehind(gate);
      const seenAtMs: number[] = [];
      const sent = chat.send({
        key: key.key,
        path,
        body,
        onData: (_, soFar) => {
          if (soFar().includes(mark)) seenAtMs.push(performance.now());
        },
      });
      await waitForRecord(key);
      const pausedAtMs = performance.now();
      await redis.client("PAUSE", SHORT_PAUSE_MS, "ALL");
      gate.release();
      const answer = await sent;
      expect(describeAnswer(answer)).toBe("200");
      // Redis keeps a pause to the millisecond, so nothing was acknowledged before.
      expect(seenAtMs[0]).toBeGreaterThanOrEqual(pausedAtMs + SHORT_PAUSE_MS - 1);
      expect((await readSpend(chat.stack, key)).key).toBe(7_500n);
      expect(await readRequest(chat.stack, key, answer)).toMatchObject({
        cost_microcents: 7_500,
        estimated: false,
      });
    },
  );

  it.each(firstOnPush(routes))(
    "%s is given out once the charge is in the spool, when Redis stays away (%s)",
    async (mark, path, body) => {
      const key = await chat.stack.createKey();
      const gate = createGate();
      answerBehind(gate);
      const spoolAtMark: string[] = [];
      const sent = chat.send({
        key: key.key,
        path,
        body,
        onData: (_, soFar) => {
          if (soFar().includes(mark)) spoolAtMark.push(readSpool());
        },
      });
      await waitForRecord(key);
      await redis.client("PAUSE", LONG_PAUSE_MS, "ALL");
      gate.release();
      const answer = await sent;
      await redis.client("UNPAUSE");
      expect(describeAnswer(answer)).toBe("200");
      expect(spoolAtMark[0]).toContain(String(answer.headers["x-request-id"]));
      const readSpent = async () => (await readSpend(chat.stack, key)).key;
      await waitFor("the charge", async () => (await readSpent()) === 7_500n, { timeoutMs: 20_000 });
      expect(await readRequest(chat.stack, key, answer)).toMatchObject({
        cost_microcents: 7_500,
        estimated: false,
      });
    },
  );
});

/** Resolves when the request of the key was admitted and Redis answers nothing any more. */
async function pauseAfterAdmission(key: CreatedKey, pauseMs = 1_000): Promise<void> {
  await waitForAdmission(redis, key);
  await redis.client("PAUSE", pauseMs, "ALL");
}
