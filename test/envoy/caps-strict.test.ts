import { describe, expect, it } from "vitest";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { type HttpAnswer, readError, send as sendTo } from "../support/http.ts";
import { parseMetrics, sumOf } from "../support/metrics-page.ts";
import { finishChunk, textChunk, textCompletion, usageChunk } from "../support/scripted-answer.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";
import {
  GOLD_MODEL,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  ODD_MODEL,
  readKeyStatus,
  readRequest,
  readSpend,
  TEMPLATE_TOKENS,
  worstGoldCents,
} from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

/** Models at 100 microcents a token, whose prompts no other test has counted. */
const SEARCH_MODEL = "acme/search";
const EXCEPTION_MODEL = "acme/exception";
const UNPRICED = { web_search: { unpriced: true } };
const UNSEEN = [SEARCH_MODEL, EXCEPTION_MODEL].map((id) =>
  catalogEntry({
    id,
    prices: { USD: { input: "1", cached_input: "1", output: "1", server_tools: UNPRICED } },
  }),
);

const chat = withSharedChatStack([...METERED_CATALOG, ...UNSEEN]);
/** Twenty cents at GOLD_MODEL. */
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };
const STRICT = { strictCaps: true };
function formatDollars(cents: number): string {
  return `${(cents / 100).toFixed(2)} USD`;
}

function sendGold(key: CreatedKey, maxTokens: number, fields: object = {}): Promise<HttpAnswer> {
  return chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL, max_tokens: maxTokens, ...fields }) });
}

async function readHeldCents(key: CreatedKey): Promise<number> {
  const spend = await (await chat.stack.store()).readSpend(key.organizationId, null);
  return Number(spend.organizationHeldMicrocents / 1_000_000n);
}

describe("strict caps", () => {
  it.each([
    [
      "key",
      { limits: monthLimits({ cap: worstGoldCents(5) - 1 }), name: "ci" },
      {},
      "hard_cap_reached",
      'API key "ci"',
    ],
    [
      "organization",
      {},
      { limits: monthLimits({ cap: worstGoldCents(5) - 1 }), name: "Capped" },
      "org_hard_cap_reached",
      'organization "Capped"',
    ],
  ] as const)(
    "refuse a request that could pass the %s's cap before the upstream sees it, and let a smaller one pass",
    async (scope, settings, organization, code, subject) => {
      const key = await chat.stack.createKey(settings, { ...STRICT, ...organization });
      chat.upstream.answer({
        kind: "json",
        body: textCompletion("x", { ...USAGE, promptTokens: 1, completionTokens: 1 }),
      });
      const refused = await sendGold(key, 5);
      expect(refused.status).toBe(402);
      const error = readError(refused);
      expect(error).toMatchObject({
        code,
        scope,
        spent_cents: 0,
        held_cents: 0,
        hard_cap_cents: worstGoldCents(5) - 1,
      });
      expect(error.message).toContain(
        `Monthly hard cap of ${formatDollars(worstGoldCents(5) - 1)} for ${subject} would be exceeded`,
      );
      expect(error.message).toContain(`this request may cost up to ${formatDollars(worstGoldCents(5))}`);
      expect(error.message).not.toContain("requests in flight stand");
      expect(chat.upstream.requests).toHaveLength(0);
      expect((await sendGold(key, 4)).status).toBe(200);
    },
  );

  it("hold the worst case of what is in flight, and say when that alone stands in the way", async () => {
    const cap = 2 * worstGoldCents(10) - 1;
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: cap }) }, STRICT);
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const first = sendGold(key, 10);
    await chat.upstream.waitForRequests(1);
    expect(await readHeldCents(key)).toBe(worstGoldCents(10));
    const refused = await sendGold(key, 10);
    expect(readError(refused)).toMatchObject({
      code: "hard_cap_reached",
      spent_cents: 0,
      held_cents: worstGoldCents(10),
      hard_cap_cents: cap,
    });
    expect(readError(refused).message).toContain("Only requests in flight block this request");
    gate.release();
    expect((await first).status).toBe(200);
    expect(await readHeldCents(key)).toBe(0);
    expect((await sendGold(key, 10)).status).toBe(200);
    expect((await readSpend(chat.stack, key)).key).toBe(40_000_000n);
  });

  it("let a smaller request pass beside what is in flight", async () => {
    const key = await chat.stack.createKey(
      { limits: monthLimits({ cap: worstGoldCents(10) + worstGoldCents(3) }) },
      STRICT,
    );
    const gate = createGate();
    chat.upstream.answerNext({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    const first = sendGold(key, 10);
    await chat.upstream.waitForRequests(1);
    expect((await sendGold(key, 4)).status).toBe(402);
    expect((await sendGold(key, 3)).status).toBe(200);
    gate.release();
    await first;
  });

  it("count every answer that was asked for", async () => {
    const key = await chat.stack.createKey(
      { limits: monthLimits({ cap: worstGoldCents(5, { n: 2 }) - 1 }) },
      STRICT,
    );
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    expect((await sendGold(key, 5, { n: 2 })).status).toBe(402);
    expect((await sendGold(key, 5, { n: 1 })).status).toBe(200);
  });

  it("take the model's maximum where the request names none", async () => {
    const worst = worstGoldCents(100);
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: worst - 1 }) }, STRICT);
    const refused = await chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL }) });
    expect(readError(refused).message).toContain(`this request may cost up to ${formatDollars(worst)}`);
  });

  it("hold on the messages route too", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 250 }) }, STRICT);
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    const send = (max_tokens: number) =>
      chat.send({ key: key.key, path: MESSAGES_PATH, body: messagesBody({ model: GOLD_MODEL, max_tokens }) });
    const refused = await send(100);
    expect(refused.status).toBe(402);
    expect(refused.json()).toMatchObject({
      type: "error",
      error: { scope: "key", held_cents: 0, hard_cap_cents: 250 },
    });
    expect((await send(1)).status).toBe(200);
  });

  it("turn what streams into spend, never above the worst case, and give back the rest", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 300 }) }, STRICT);
    const gate = createGate();
    // More than it was allowed: forty tokens where ten were the most.
    const words = Array.from({ length: 40 }, () => textChunk(" word"));
    chat.upstream.answer({ kind: "events", events: [...words, gate, finishChunk(), usageChunk(USAGE)] });
    const sent = sendGold(key, 10, { stream: true });
    await waitFor("progress", async () => (await readSpend(chat.stack, key)).key > 0n);
    const during = await readSpend(chat.stack, key);
    const upstreamBytes = JSON.stringify(chat.upstream.requests.at(-1)?.body).length;
    const worst = upstreamBytes + TEMPLATE_TOKENS + 20;
    expect(during.key).toBeLessThanOrEqual(BigInt(worst) * 1_000_000n);
    const held = (await chat.stack.store()).readSpend(key.organizationId, null);
    expect(during.key + (await held).organizationHeldMicrocents).toBe(BigInt(worst) * 1_000_000n);
    gate.release();
    await sent;
    expect(await readHeldCents(key)).toBe(0);
    expect((await readSpend(chat.stack, key)).key).toBe(20_000_000n);
  });

  it.each(["json", "stream"])("are never passed under 200 concurrent requests (%s)", async (form) => {
    const key = await chat.stack.createKey(
      { limits: monthLimits({ cap: 1_000 }) },
      { ...STRICT, limits: monthLimits({ cap: 1_500 }) },
    );
    // The dearest answer that the request allows: ten tokens, and a prompt of 60.
    const usage = { promptTokens: 60, cachedTokens: 0, completionTokens: 10 };
    chat.upstream.answer(
      form === "json"
        ? { kind: "json", body: textCompletion("x", usage) }
        : { kind: "events", events: [textChunk("x"), finishChunk(), usageChunk(usage)] },
    );
    const statuses = await Promise.all(
      Array.from(
        { length: 200 },
        async () => (await sendGold(key, 10, { stream: form === "stream" })).status,
      ),
    );
    const passed = statuses.filter((status) => status === 200).length;
    // 503: Redis, on a machine that others use too, did not answer in time; such a request goes nowhere and costs nothing.
    const unanswered = statuses.filter((status) => status === 503).length;
    const refused = statuses.filter((status) => status === 402).length;
    expect(passed + unanswered + refused).toBe(200);
    expect(passed).toBeLessThan(200);
    // The cap has room for the worst case of so many at once; a stream's body is longer.
    expect(passed + unanswered).toBeGreaterThanOrEqual(form === "json" ? 4 : 3);
    const { key: spent } = await readSpend(chat.stack, key);
    expect(spent).toBe(BigInt(passed) * 80_000_000n);
    expect(spent).toBeLessThanOrEqual(1_000_000_000n);
    await waitFor("all that was held to be free again", async () => (await readHeldCents(key)) === 0);
    // What is left is given out to the last request that fits.
    let last = 200;
    while (last === 200) last = (await sendGold(key, 10, { stream: form === "stream" })).status;
    expect(last).toBe(402);
    expect((await readSpend(chat.stack, key)).key).toBeGreaterThan(1_000_000_000n - 250_000_000n);
    expect((await readSpend(chat.stack, key)).key).toBeLessThanOrEqual(1_000_000_000n);
  });

  it("hold every answer that is generated, whether or not the client gets it", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 1_000 }) }, STRICT);
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    expect((await sendGold(key, 10, { n: 1, best_of: 128 })).status).toBe(402);
    expect((await sendGold(key, 10, { n: 2, best_of: 20 })).status).toBe(200);
    expect((await sendGold(key, 10, { best_of: "128" })).status).toBe(400);
  });

  it.each([
    ["documents", { documents: [{ title: "a", text: "word ".repeat(2_000) }] }],
    ["a field that the operator lets pass", { retrieved: "word ".repeat(2_000) }],
    ["chat_template_kwargs", { chat_template_kwargs: { context: "word ".repeat(2_000) } }],
    ["a chat template of its own", { chat_template: "{{ 'word ' * 2000 }}" }],
    ["a prediction", { prediction: { type: "content", content: "word ".repeat(2_000) } }],
  ])("hold all that goes upstream: %s", async (_name, fields) => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 3_000 }) }, STRICT);
    const usage = { promptTokens: 2_010, cachedTokens: 0, completionTokens: 5 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    const statuses = await Promise.all(
      Array.from({ length: 3 }, async () => (await sendGold(key, 5, fields)).status),
    );
    expect(statuses).toEqual([402, 402, 402]);
    expect((await readSpend(chat.stack, key)).key).toBe(0n);
    expect(await readHeldCents(key)).toBe(0);
  });

  it("let no server read another limit than the one that is held", async () => {
    const key = await chat.stack.createKey({}, STRICT);
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    for (const fields of [{ n_predict: -1 }, { max_completion_tokens: 900 }, { Max_New_Tokens: 900 }]) {
      expect((await sendGold(key, 5, fields)).status).toBe(200);
      const { body } = chat.upstream.lastRequest;
      const expected = { model: CHAT_UPSTREAM_MODEL, max_tokens: 5, max_completion_tokens: 5 };
      expect(body).toEqual({ ...chatBody(), ...expected });
    }
    for (const model of [GOLD_MODEL, "gold"]) {
      expect((await chat.send({ key: key.key, body: chatBody({ model }) })).status).toBe(200);
      expect(chat.upstream.lastRequest.body).toMatchObject({ max_tokens: 100, max_completion_tokens: 100 });
    }
  });

  it.each([
    [{ tomorrow: 1 }, "tomorrow", "passthrough_fields"],
    [{ n_cmpl: 9 }, "n_cmpl", "use `n`"],
    [{ provider: { order: ["dear"] } }, "provider", "`model` selects the model server"],
  ])("refuse %j by its name before the upstream sees it", async (fields, param, hint) => {
    const key = await chat.stack.createKey({}, STRICT);
    const refused = await sendGold(key, 5, fields);
    expect(refused.status).toBe(400);
    expect(readError(refused)).toMatchObject({ code: "unsupported_parameter", param });
    expect(readError(refused).message).toContain(hint);
    expect(chat.upstream.requests).toHaveLength(0);
    expect(await readHeldCents(key)).toBe(0);
  });

  it("hold the chat template that an upstream has shown where it is larger than configured", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 100_000 }) }, STRICT);
    // A model of its own, whose template no other test has shown.
    const send = () => chat.send({ key: key.key, body: chatBody({ model: ODD_MODEL, max_tokens: 1 }) });
    const usage = { promptTokens: 5_000, cachedTokens: 0, completionTokens: 1 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    // One for each of the two workers, and some more since requests do not take turns.
    for (let sent = 0; sent < 12; sent += 1) expect((await send()).status).toBe(200);
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", usage) });
    const held = send();
    await chat.upstream.waitForRequests(13);
    const spend = await (await chat.stack.store()).readSpend(key.organizationId, null);
    gate.release();
    expect((await held).status).toBe(200);
    // 5,000 tokens at 1.23 microcents.
    expect(spend.organizationHeldMicrocents).toBeGreaterThanOrEqual(6_150n);
    const page = await sendTo(chat.stack.adminUrl, { path: "/metrics" });
    const exceeded = sumOf(parseMetrics(page.text), "inference_gateway_prompt_overhead_exceeded_total");
    expect(exceeded).toBeGreaterThan(0);
  });

  it.each([
    ["searches of the model server", SEARCH_MODEL, { web_search_options: {} }, TEMPLATE_TOKENS],
    ["prompts that came to 90,000 tokens", EXCEPTION_MODEL, {}, 1_024],
  ])("hold for others no more than a template, after %s of another organization", async (...given) => {
    const [name, model, fields, templateTokens] = given;
    const other = await chat.stack.createKey({ name });
    const usage = { promptTokens: 90_000, cachedTokens: 0, completionTokens: 1 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    const odd = chatBody({ model, max_tokens: 1, ...fields });
    for (let sent = 0; sent < 12; sent += 1) {
      expect((await chat.send({ key: other.key, body: odd })).status).toBe(200);
    }
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 100_000 }) }, STRICT);
    const gate = createGate();
    chat.upstream.answer({ kind: "json", before: gate, body: textCompletion("x", USAGE) });
    const body = chatBody({ model, max_tokens: 1 });
    const held = chat.send({ key: key.key, body });
    await chat.upstream.waitForRequests(13);
    const spend = await (await chat.stack.store()).readSpend(key.organizationId, null);
    gate.release();
    expect((await held).status).toBe(200);
    const sent = { ...body, model: CHAT_UPSTREAM_MODEL, max_completion_tokens: 1 };
    const sentBytes = JSON.stringify(sent).length;
    expect(spend.organizationHeldMicrocents).toBe(BigInt(sentBytes + templateTokens + 1) * 100n);
  });

  it("take effect on a request that was admitted before they were switched on", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 50 }) });
    const store = await chat.stack.store();
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    expect((await sendGold(key, 10)).status).toBe(200);
    await store.changeOrganization(key.organizationId, { strictCaps: true }, null);
    const refused = await sendGold(key, 10);
    expect(readError(refused)).toMatchObject({ spent_cents: 20, held_cents: 0, hard_cap_cents: 50 });
    expect(await readRequest(chat.stack, key, refused)).toMatchObject({
      status: 402,
      error_code: "hard_cap_reached",
    });
    expect((await readKeyStatus(chat.stack, key))["blocked_by"]).toBe(null);
    expect(
      (await chat.send({ key: key.key, path: CHAT_PATH, body: chatBody({ max_tokens: 10 }) })).status,
    ).toBe(200);
  });
});
