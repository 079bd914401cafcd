import { describe, expect, it } from "vitest";
import { METRICS } from "../../src/shared/telemetry/metric-definitions.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { type HttpAnswer, send } from "../support/http.ts";
import { parseMetrics, sumOf } from "../support/metrics-page.ts";
import { finishChunk, type ScriptedAnswer, textChunk, textCompletion } from "../support/scripted-answer.ts";
import {
  messagesBody,
  MESSAGES_PATH,
  METERED_CATALOG,
  readRequest,
  readSpend,
  readUsageTotals,
} from "./metering-figures.ts";
import { waitFor } from "../support/wait.ts";
import { PRICED_ENTRY, PRICED_MODEL, PRICED_REQUESTS, type PricedRequest } from "./priced-requests.ts";
import { monthLimits } from "../support/month-limits.ts";

const RESPONSES_PATH = "/v1/responses";
/** Priced alike, on every endpoint. */
const EVERYWHERE = {
  ...PRICED_ENTRY,
  id: "priced/everywhere",
  capabilities: ["chat", "completions", "embeddings"],
};
const chat = withSharedChatStack([...METERED_CATALOG, PRICED_ENTRY, EVERYWHERE]);

/** "0.00400000", as eight decimals of the currency. */
const decimal = (microcents: number): string => (microcents / 1e8).toFixed(8);

/** The tier stands in the last chunk alone, after the usage. */
function streamed({ usage, serviceTier }: PricedRequest): ScriptedAnswer {
  const last = textChunk("", { choices: [], service_tier: serviceTier });
  return {
    kind: "events",
    events: [textChunk("x"), finishChunk(), textChunk("", { choices: [], usage }), last],
  };
}

function whole({ usage, serviceTier }: PricedRequest): ScriptedAnswer {
  return { kind: "json", body: textCompletion("x", null, { usage, service_tier: serviceTier }) };
}

/** The usage of the last chunk that has one. */
function lastUsage({ text }: HttpAnswer): Record<string, unknown> {
  const usages = text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => (JSON.parse(line.slice(6)) as { usage?: Record<string, unknown> | null }).usage);
  return usages.findLast((usage) => usage !== undefined && usage !== null) ?? {};
}

describe("what a request is charged, told and recorded", () => {
  for (const [how, makeAnswer] of [
    ["a JSON answer", whole],
    ["a stream", streamed],
  ] as const) {
    it.each(PRICED_REQUESTS)(`is $microcents for $form at $price in ${how}`, async (row) => {
      const key = await chat.stack.createKey({}, { currency: row.currency });
      chat.upstream.answer(makeAnswer(row));
      const isStream = how === "a stream";
      const body = chatBody({ model: PRICED_MODEL, stream: isStream, usage: { include: true } });
      const answer = await chat.send({ key: key.key, body });
      expect(answer.status).toBe(200);
      const usage = isStream ? lastUsage(answer) : (answer.json()["usage"] as Record<string, unknown>);
      expect(usage).toMatchObject({ cost: decimal(row.microcents), cost_currency: row.currency });
      const told = `${decimal(row.microcents)} ${row.currency}`;
      expect(answer.headers["x-request-cost"]).toBe(isStream ? undefined : told);
      const amount = BigInt(row.microcents);
      expect(await readSpend(chat.stack, key)).toEqual({ key: amount, organization: amount });
      expect((await readUsageTotals(chat.stack, key)).costMicrocents).toBe(amount);
      const recorded = await readRequest(chat.stack, key, answer);
      expect(recorded).toMatchObject({
        cost_microcents: row.microcents,
        cost_details: usage["cost_details"],
      });
    });
  }
});

describe("the wish for the cost", () => {
  const [first] = PRICED_REQUESTS;
  const cost = decimal(first?.microcents ?? 0);
  const answerFirst = (make: typeof whole): void => {
    if (first !== undefined) chat.upstream.answer(make(first));
  };
  const byHeader = { headers: { "x-include-cost": "true" } };

  it("reaches no upstream, in the body or as a header", async () => {
    answerFirst(whole);
    const body = chatBody({ model: PRICED_MODEL, usage: { include: true } });
    expect((await chat.send({ body, ...byHeader })).status).toBe(200);
    const [sent] = chat.upstream.requests;
    expect(sent?.body).not.toHaveProperty("usage");
    expect(sent?.headers).not.toHaveProperty("x-include-cost");
  });

  it("brings a stream its usage chunk, with the cost, last before its end", async () => {
    answerFirst(streamed);
    const answer = await chat.send({ body: chatBody({ model: PRICED_MODEL, stream: true }), ...byHeader });
    expect(lastUsage(answer)).toMatchObject({ prompt_tokens: 1000, cost });
    expect(answer.text.trimEnd().split("\n\n").slice(-2).join()).toMatch(/"cost":.*,data: \[DONE\]$/s);
  });

  it("brings messages theirs, whole and in `message_delta`", async () => {
    for (const make of [whole, streamed]) {
      answerFirst(make);
      const body = messagesBody({ model: PRICED_MODEL, stream: make === streamed });
      const answer = await chat.stack.send({ path: MESSAGES_PATH, key: chat.key.key, body, ...byHeader });
      const usage = make === streamed ? lastUsage(answer) : answer.json()["usage"];
      expect(usage).toMatchObject({ input_tokens: 1000, cost, cost_currency: "USD" });
    }
  });

  it("brings responses theirs, whole and at a stream's end", async () => {
    for (const make of [whole, streamed]) {
      answerFirst(make);
      const body = {
        model: PRICED_MODEL,
        input: "hello",
        stream: make === streamed,
        usage: { include: true },
      };
      const answer = await chat.stack.send({ path: RESPONSES_PATH, key: chat.key.key, body });
      expect(answer.text).toMatch(new RegExp(`"usage":{"input_tokens":1000,.*"cost":"${cost}"`));
    }
  });

  it.each([
    ["chat completions", CHAT_PATH, chatBody({ model: PRICED_MODEL })],
    ["messages", MESSAGES_PATH, messagesBody({ model: PRICED_MODEL })],
    ["responses", RESPONSES_PATH, { model: PRICED_MODEL, input: "hello" }],
  ])("left out, %s have the cost in a header alone", async (_name, path, body) => {
    answerFirst(whole);
    const answer = await chat.stack.send({ path, key: chat.key.key, body });
    expect(answer.status).toBe(200);
    expect(answer.headers["x-request-cost"]).toBe(`${cost} USD`);
    expect(answer.text).not.toContain("cost");
  });

  it("of an answer without usage brings the estimate in the header, and no cost in its body", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion("hello", null) });
    const answer = await chat.send({ body: chatBody({ model: PRICED_MODEL }), ...byHeader });
    const { cost_microcents: charged } = await readRequest(chat.stack, chat.key, answer);
    expect(answer.headers["x-request-cost"]).toBe(`${decimal(charged)} USD`);
    expect(answer.json()).not.toHaveProperty("usage");
  });

  it("of an error that is charged is in its header, and in none that is free", async () => {
    if (first === undefined) throw new Error("no request has a price");
    const askFor = (body: object): Promise<HttpAnswer> => {
      chat.upstream.answer({ kind: "json", body });
      return chat.send({ body: chatBody({ model: PRICED_MODEL }) });
    };
    const charged = await askFor({ usage: first.usage, service_tier: first.serviceTier });
    expect(charged.status).toBe(502);
    expect(charged.headers["x-request-cost"]).toBe(`${cost} USD`);
    const free = await askFor({ error: { message: "no", code: 400 } });
    expect(free.status).toBe(400);
    expect(free.headers).not.toHaveProperty("x-request-cost");
  });
});

describe("usage whose figures cannot all be true", () => {
  const count = async (kind: string): Promise<number> => {
    const page = await send(chat.stack.adminUrl, { path: "/metrics" });
    return sumOf(parseMetrics(page.text), METRICS.usageContradictions.name, { model: PRICED_MODEL, kind });
  };
  const base = { prompt_tokens: 1000, completion_tokens: 100 };

  it.each([
    // 1_000 * 25 + 100 * 1_000 + 50_000
    { kind: "cached_above_prompt", prompt: { cached_tokens: 1200 }, microcents: 175_000 },
    // 600 * 25 + 400 * 312.5 + 100 * 1_000 + 50_000
    {
      kind: "cache_write_above_prompt",
      prompt: { cached_tokens: 600, cache_write_tokens: 500 },
      microcents: 290_000,
    },
    // 600 * 250 + 200 * 312.5 + 200 * 500 + 100 * 1_000 + 50_000
    {
      kind: "cache_write_split",
      prompt: {
        cache_creation_tokens: 400,
        cache_creation_token_details: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
      },
      microcents: 462_500,
    },
    // 600 * 25 + 400 * 1_000 + 100 * 1_000 + 50_000
    {
      kind: "audio_above_prompt",
      prompt: { cached_tokens: 600, audio_tokens: 1200 },
      microcents: 565_000,
    },
    // 1_000 * 250 + 100 * 1_200 + 50_000
    { kind: "reasoning_above_output", output: { reasoning_tokens: 150 }, microcents: 420_000 },
    // 1_000 * 250 + 30 * 1_200 + 70 * 2_000 + 50_000
    {
      kind: "audio_above_output",
      output: { reasoning_tokens: 30, audio_tokens: 120 },
      microcents: 476_000,
    },
    // 1_000 * 250 + 100 * 1_000 + 50_000
    { kind: "total", total: { total_tokens: 900 }, microcents: 400_000 },
  ])(
    "is charged by the stated rule and counted: $kind",
    async ({ kind, prompt, output, total, microcents }) => {
      const details = { prompt_tokens_details: prompt, completion_tokens_details: output };
      const body = textCompletion("x", null, { usage: { ...base, ...details, ...total } });
      chat.upstream.answer({ kind: "json", body });
      const before = await count(kind);
      const answer = await chat.send({ body: chatBody({ model: PRICED_MODEL }) });
      expect(answer.headers["x-request-cost"]).toBe(`${decimal(microcents)} USD`);
      await waitFor("the count", async () => (await count(kind)) === before + 1);
    },
  );
});

describe("strict caps", () => {
  it("hold the dearest service tier with a price, whichever is asked for", async () => {
    // 8_192 * 2_000 of `priority` are above 15 cents, 8_192 * 1_000 of the default below 10.
    const key = await chat.stack.createKey({}, { strictCaps: true, limits: monthLimits({ cap: 15 }) });
    const ask = (maxTokens: number): Promise<HttpAnswer> => {
      const body = chatBody({ model: PRICED_MODEL, max_tokens: maxTokens, service_tier: "default" });
      return chat.send({ key: key.key, body });
    };
    expect((await ask(8192)).status).toBe(402);
    expect(chat.upstream.requests).toHaveLength(0);
    expect((await ask(4096)).status).toBe(200);
  });
});

describe("a service tier that is asked for", () => {
  const ask = (model: string, tier: unknown): Promise<HttpAnswer> =>
    chat.send({ body: chatBody({ model, service_tier: tier }) });

  it.each(["auto", "default", "flex", "priority", null])(
    "passes on where it has a price: %s",
    async (tier) => {
      expect((await ask(PRICED_MODEL, tier)).status).toBe(200);
      expect(chat.upstream.requests[0]?.body).toMatchObject({ service_tier: tier });
    },
  );

  it.each([
    [CHAT_PATH, chatBody()],
    [RESPONSES_PATH, { input: "hello" }],
    ["/v1/completions", { prompt: "hello" }],
    ["/v1/embeddings", { input: "hello" }],
  ])("is a 400 of %s that names those with a price where it has none", async (path, fields) => {
    const body = { ...fields, model: EVERYWHERE.id, service_tier: "scale" };
    const answer = await chat.stack.send({ path, key: chat.key.key, body });
    expect(answer.status).toBe(400);
    expect(answer.json()["error"]).toMatchObject({ code: "invalid_parameter", param: "service_tier" });
    expect(answer.text).toMatch(/`auto`, `default`, `flex` or `priority`/);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("passes on whatever it is where the model has none", async () => {
    expect((await ask("acme/echo-small", "scale")).status).toBe(200);
    expect(chat.upstream.requests[0]?.body).toMatchObject({ service_tier: "scale" });
  });

  it("passes on from responses, which are charged and answered at the one that served", async () => {
    const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", null, { usage, service_tier: "flex" }) });
    const body = { model: PRICED_MODEL, input: "hello", service_tier: "priority" };
    const answer = await chat.stack.send({ path: RESPONSES_PATH, key: chat.key.key, body });
    expect(chat.upstream.requests[0]?.body).toMatchObject({ service_tier: "priority" });
    expect(answer.json()["service_tier"]).toBe("flex");
    const { cost_details: details } = await readRequest(chat.stack, chat.key, answer);
    expect(details).toMatchObject({ service_tier: "flex" });
  });
});

describe("GET /v1/models", () => {
  it("shows the prices in force and those that are announced, in the organization's currency", async () => {
    const key = await chat.stack.createKey({}, { currency: "EUR" });
    const answer = await chat.stack.send({ path: `/v1/models/${PRICED_MODEL}`, key: key.key });
    expect(answer.json()["pricing"]).toMatchObject({
      currency: "EUR",
      input: "2.30",
      cache_write_1h: "2.90",
      service_tiers: { flex: { output: "4.60" } },
      announced: [{ from: "2999-01-01", input: "9.00" }],
    });
  });
});
