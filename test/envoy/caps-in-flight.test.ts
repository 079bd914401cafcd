import { request, Agent } from "node:http";
import { describe, expect, it, afterAll } from "vitest";
import { describeAnswer } from "../support/answer-checks.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import type { HttpAnswer } from "../support/http.ts";
import {
  finishChunk,
  textChunk,
  textCompletion,
  usageChunk,
  type ScriptedAnswer,
} from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import {
  addKey,
  connectRedis,
  costOf,
  DOLLAR_MODEL,
  GOLD_MODEL,
  METERED_CATALOG,
  readKeyStatus,
  readSpend,
  waitForAdmission,
  goldCostOf,
} from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack(METERED_CATALOG);
/** Twenty cents at GOLD_MODEL. */
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };

function sendGold(key: CreatedKey): Promise<HttpAnswer> {
  return chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL }) });
}

function answerTwentyCents(): void {
  chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
}

/** A body that comes later behind its headers meets the caps once more. */
const LATE_BODY_MS = 1_000;

describe("a cap that is reached between the headers and the body of a request", () => {
  it.each([
    ["key", { limits: monthLimits({ cap: 20 }) }, {}, "hard_cap_reached"],
    ["organization", {}, { limits: monthLimits({ cap: 20 }) }, "org_hard_cap_reached"],
  ] as const)(
    "refuses it before its record (%s), and the upstream never sees it",
    async (_name, settings, organization, code) => {
      const key = await chat.stack.createKey(settings, organization);
      const redis = connectRedis(chat.stack);
      answerTwentyCents();
      const late = startLateRequest(key);
      await waitForAdmission(redis, key);
      redis.disconnect();
      expect((await sendGold(key)).status).toBe(200);
      const before = chat.upstream.requests.length;
      const admittedMs = performance.now();
      await waitFor("the body to be late", () => performance.now() - admittedMs > LATE_BODY_MS);
      late.finish();
      const refused = await late.answer;
      expect(refused.status).toBe(402);
      expect(refused.error).toMatchObject({ code, hard_cap_cents: 20 });
      expect(chat.upstream.requests).toHaveLength(before);
      const row = (await chat.stack.send({ path: `/v1/requests/${refused.id}`, key: key.key })).json();
      expect(row).toMatchObject({ status: 402, error_code: code, cost_microcents: 0 });
      expect(row["checks"]).toMatchObject([{ passed: false, figures: { hard_cap_cents: 20 } }]);
    },
  );
});

describe("default caps", () => {
  it("count what streams in flight have used so far", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 50 }) });
    const gate = createGate();
    const words = Array.from({ length: 40 }, () => textChunk(" word"));
    const usage = { ...USAGE, completionTokens: 40 };
    chat.upstream.answerNext({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(usage)] });
    answerTwentyCents();
    const streaming = chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL, stream: true }) });
    await waitFor(
      "progress to reach the cap",
      async () => (await readKeyStatus(chat.stack, key))["blocked_by"] === "key",
    );
    expect((await sendGold(key)).status).toBe(402);
    gate.release();
    expect(describeAnswer(await streaming)).toBe("200");
    expect((await readSpend(chat.stack, key)).key).toBe(90_000_000n);
    expect((await sendGold(key)).status).toBe(402);
  });

  it("refuse nothing that fits while a long prompt streams, whatever its estimate", async () => {
    const streaming = await chat.stack.createKey({}, { limits: monthLimits({ cap: 15 }) });
    const other = await addKey(chat.stack, streaming);
    // Short chats with a long template must not make the long prompt look longer than it is.
    const chatUsage = { promptTokens: 36, cachedTokens: 0, completionTokens: 1 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", chatUsage) });
    for (let sent = 0; sent < 10; sent += 1) await chat.send({ key: other.key, body: chatBody() });
    const usage = { promptTokens: 40_000, cachedTokens: 0, completionTokens: 60 };
    const gate = createGate();
    const words = Array.from({ length: 60 }, () => textChunk(" word"));
    chat.upstream.answerNext({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(usage)] });
    const before = (await readSpend(chat.stack, streaming)).organization;
    const long = chat.send({
      key: streaming.key,
      body: chatBody({ stream: true, messages: [{ role: "user", content: "wordy ".repeat(30_000) }] }),
    });
    const during = await waitFor("progress to count", async () => {
      const { organization } = await readSpend(chat.stack, streaming);
      return organization > before && organization - before;
    });
    const truth = costOf(usage);
    expect(during).toBeLessThanOrEqual(truth);
    const statuses: number[] = [];
    for (let sent = 0; sent < 7; sent += 1) {
      statuses.push((await chat.send({ key: other.key, body: chatBody() })).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200]);
    gate.release();
    expect(describeAnswer(await long)).toBe("200");
    const spent = (await readSpend(chat.stack, streaming)).organization;
    expect(spent).toBe(before + truth + 7n * costOf(chatUsage));
  });

  it("fire their alerts with the same spend that refuses, while the stream is open", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 50 }) });
    const gate = createGate();
    const words = Array.from({ length: 40 }, () => textChunk(" word"));
    const usage = { ...USAGE, completionTokens: 40 };
    chat.upstream.answerNext({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(usage)] });
    const open = chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL, stream: true }) });
    const store = await chat.stack.store();
    const fired = await waitFor("alerts of the open stream", async () => {
      const { items } = await store.listAlerts(key.organizationId, { limit: 10, after: null });
      return items.length === 2 && items;
    });
    expect(fired.map(({ kind, thresholdPercent }) => `${kind} ${thresholdPercent}`).toSorted()).toEqual([
      "hard_cap 100",
      "hard_cap 90",
    ]);
    expect((await sendGold(key)).status).toBe(402);
    gate.release();
    expect(describeAnswer(await open)).toBe("200");
  });

  it("let what is in flight end when they are reached", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 30 }) });
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const sent = Array.from({ length: 5 }, () => sendGold(key));
    await chat.upstream.waitForRequests(5);
    gate.release();
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect((await readSpend(chat.stack, key)).key).toBe(100_000_000n);
    expect((await sendGold(key)).status).toBe(402);
  });

  it("are exact to the microcent: one below passes, the amount itself does not", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 1 }) });
    const usage = (completionTokens: number) => ({ promptTokens: 0, cachedTokens: 0, completionTokens });
    const store = await chat.stack.store();
    chat.upstream.answerNext({ kind: "json", body: textCompletion("x", usage(999)) });
    await chat.send({ key: key.key, body: chatBody() });
    await store.correct({
      organizationId: key.organizationId,
      keyId: key.id,
      amountMicrocents: 999n,
      correctionId: `corr_${key.id.slice(4)}`,
    });
    expect((await readSpend(chat.stack, key)).key).toBe(999_999n);
    chat.upstream.answerNext({ kind: "json", body: textCompletion("", { ...usage(0), promptTokens: 1 }) });
    expect((await chat.send({ key: key.key, body: chatBody({ model: DOLLAR_MODEL }) })).status).toBe(200);
    expect((await readSpend(chat.stack, key)).key).toBe(1_000_099n);
    expect((await chat.send({ key: key.key, body: chatBody() })).status).toBe(402);
  });
});

interface LateAnswer {
  readonly status: number;
  readonly id: string;
  readonly error: Record<string, unknown>;
}

/** A request whose headers are sent at once and whose body when the test says so. */
function startLateRequest(key: CreatedKey): { finish(): void; readonly answer: Promise<LateAnswer> } {
  const body = JSON.stringify(chatBody({ model: GOLD_MODEL }));
  const { hostname, port } = new URL(chat.stack.baseUrl);
  const headers = { authorization: `Bearer ${key.key}`, "content-length": String(Buffer.byteLength(body)) };
  const sending = request({ hostname, port, method: "POST", path: CHAT_PATH, headers });
  sending.write(body.slice(0, 10));
  const answer = new Promise<LateAnswer>((resolve, reject) => {
    sending.on("error", reject);
    sending.on("response", (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on("end", () => {
        const { error } = JSON.parse(text) as { error: Record<string, unknown> };
        resolve({ status: response.statusCode ?? 0, id: String(response.headers["x-request-id"]), error });
      });
    });
  });
  return { finish: () => void sending.end(body.slice(10)), answer };
}

const CLIENTS = 100;
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
afterAll(() => {
  agent.destroy();
});

/** From 3 to 22 cents, so that sums are not all alike. */
function usageOf(index: number): { promptTokens: number; cachedTokens: number; completionTokens: number } {
  return { promptTokens: 1 + (index % 10), cachedTokens: 0, completionTokens: 1 + (index % 6) };
}
const DEAREST_CENTS = 22n;

describe("default caps under load", () => {
  it.each([
    ["key", { limits: monthLimits({ cap: 3_000 }) }, {}],
    ["organization", {}, { limits: monthLimits({ cap: 3_000 }) }],
  ] as const)(
    "refuse nothing while the upstream's own sum is under the %s's cap, and pass it by no more than was in flight",
    async (_name, settings, organization) => {
      const key = await chat.stack.createKey(settings, organization);
      let answered = 0;
      chat.upstream.answer((request): ScriptedAnswer => {
        const usage = usageOf(answered++);
        return request.body?.["stream"] === true
          ? { kind: "events", events: [textChunk("x"), finishChunk(), usageChunk(usage)] }
          : { kind: "json", body: textCompletion("x", usage) };
      });
      const ownSum = () => goldCostOf(chat.upstream.totalReported());
      const wronglyRefused: bigint[] = [];
      const statuses: number[] = [];
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          for (;;) {
            const body = chatBody({ model: GOLD_MODEL, stream: client % 2 === 0 });
            const { status } = await chat.send({ key: key.key, agent, body });
            statuses.push(status);
            // The upstream's sum only grows: what is under the cap now was so when the request was refused.
            if (status !== 200) {
              const sum = ownSum();
              if (sum < 3_000_000_000n) wronglyRefused.push(sum);
              return;
            }
          }
        }),
      );
      expect(wronglyRefused).toEqual([]);
      expect(statuses.filter((status) => status !== 200)).toEqual(Array.from({ length: CLIENTS }, () => 402));
      const { key: spent, organization: spentTogether } = await readSpend(chat.stack, key);
      expect(spent).toBe(ownSum());
      expect(spentTogether).toBe(spent);
      expect(spent).toBeGreaterThanOrEqual(3_000_000_000n);
      expect(spent).toBeLessThan(3_000_000_000n + BigInt(CLIENTS) * DEAREST_CENTS * 1_000_000n);
    },
  );
});
