import { describe, expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { readError } from "../support/http.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import {
  addKey,
  GOLD_MODEL,
  MESSAGES_PATH,
  messagesBody,
  METERED_CATALOG,
  readKeyStatus,
  readRequest,
  readRequestById,
} from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack(METERED_CATALOG);
/** Twenty cents at GOLD_MODEL. */
const USAGE = { promptTokens: 10, cachedTokens: 0, completionTokens: 5 };

describe("GET /v1/key", () => {
  it("tells everything that the contract names", async () => {
    // Slow enough that nothing comes back into the bucket meanwhile.
    const key = await chat.stack.createKey(
      { name: "ci", requestsPerMinute: 6, limits: monthLimits({ cap: 5_000, budget: 4_000 }) },
      { name: "Acme", limits: monthLimits({ cap: 100_000 }) },
    );
    const other = await addKey(chat.stack, key);
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    await chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL }) });
    await chat.send({ key: other.key, body: chatBody({ model: GOLD_MODEL }) });
    const status = await readKeyStatus(chat.stack, key);
    const now = new Date();
    const next = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    const monthly = (scope: string, kind: string, cents: number, spent: number) => ({
      scope,
      period: "month",
      kind,
      cents,
      raised_cents: 0,
      spent_cents: spent,
      remaining_cents: cents - spent,
      resets_at: `${next.toISOString().slice(0, 19)}Z`,
    });
    expect(status).toEqual({
      object: "key",
      id: key.id,
      name: "ci",
      display: `sk-igw-…${key.key.slice(-4)}`,
      organization: {
        id: key.organizationId,
        name: "Acme",
        spent_cents: 40,
        hard_cap_cents: 100_000,
        budget_cents: null,
        remaining_cents: 99_960,
      },
      currency: "USD",
      month: now.toISOString().slice(0, 7),
      resets_at: `${next.toISOString().slice(0, 19)}Z`,
      rate_limit: { requests_per_minute: 6, burst: 10, remaining: 8 },
      spent_cents: 20,
      hard_cap_cents: 5_000,
      budget_cents: 4_000,
      remaining_cents: 4_980,
      headroom_cents: 4_980,
      blocked_by: null,
      allowed_models: null,
      expires_at: null,
      user: null,
      group: null,
      limits: [
        monthly("key", "cap", 5_000, 20),
        monthly("key", "budget", 4_000, 20),
        monthly("organization", "cap", 100_000, 40),
      ],
      token_limits: [],
    });
  });

  it("has no remaining amounts without caps", async () => {
    const key = await chat.stack.createKey();
    expect(await readKeyStatus(chat.stack, key)).toMatchObject({
      remaining_cents: null,
      headroom_cents: null,
      blocked_by: null,
      organization: { remaining_cents: null, hard_cap_cents: null },
    });
  });

  it.each([
    ["key", { limits: monthLimits({ cap: 15 }) }, {}, 0],
    ["organization", {}, { limits: monthLimits({ cap: 20 }) }, null],
  ] as const)(
    "says that the %s's cap blocks it, with 0 left, never less",
    async (scope, settings, organization, remaining) => {
      const key = await chat.stack.createKey(settings, organization);
      chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
      await chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL }) });
      expect(await readKeyStatus(chat.stack, key)).toMatchObject({
        blocked_by: scope,
        headroom_cents: 0,
        remaining_cents: remaining,
        spent_cents: 20,
      });
    },
  );

  it("tells models and expiry of a key that has them", async () => {
    const expiresAtMs = Date.UTC(2096, 0, 1);
    const key = await chat.stack.createKey({ allowedModels: [CHAT_MODEL], expiresAtMs });
    const status = await readKeyStatus(chat.stack, key);
    expect(status["allowed_models"]).toEqual([CHAT_MODEL]);
    expect(Date.parse(String(status["expires_at"]))).toBe(expiresAtMs);
  });

  it("is not answered without a key", async () => {
    expect((await chat.stack.send({ path: "/v1/key", key: null })).status).toBe(401);
  });
});

describe("GET /v1/requests/{id}", () => {
  it.each([
    { hideAmounts: false, figures: { hard_cap_cents: 0, spent_microcents: "0", currency: "USD" } },
    { hideAmounts: true, figures: {} },
  ])("has the figures of the organization's cap unless it hides them: $hideAmounts", async (row) => {
    const { hideAmounts, figures } = row;
    const key = await chat.stack.createKey({}, { limits: monthLimits({ cap: 0 }), hideAmounts });
    const refused = await chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL }) });
    expect(refused.status).toBe(402);
    const { checks } = await readRequest(chat.stack, key, refused);
    expect(checks.at(-1)).toEqual({ name: "organization_hard_cap", passed: false, figures });
  });

  it("tells what a request cost, and at which prices", async () => {
    const key = await chat.stack.createKey();
    const usage = { promptTokens: 10, cachedTokens: 4, completionTokens: 5 };
    chat.upstream.answer({ kind: "json", body: textCompletion("x", usage) });
    const answer = await chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL }) });
    const body = (await readRequestById(chat.stack, key.key, String(answer.headers["x-request-id"]))).json();
    expect(body).toEqual({
      object: "request",
      id: answer.headers["x-request-id"],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/u) as string,
      model: GOLD_MODEL,
      requested_model: null,
      route: "POST /v1/chat/completions",
      session_id: null,
      tags: {},
      status: 200,
      error_code: null,
      input_tokens: 6,
      cached_input_tokens: 4,
      output_tokens: 5,
      estimated: false,
      cost_microcents: 16_400_000,
      cost_cents: 16,
      cost_details: {
        service_tier: "default",
        above_prompt_tokens: null,
        price_from: null,
        parts: [
          { name: "input", tokens: 6, price: "10000.00", cost: "0.06000000" },
          { name: "cached_input", tokens: 4, price: "1000.00", cost: "0.00400000" },
          { name: "output", tokens: 5, price: "20000.00", cost: "0.10000000" },
        ],
      },
      checks: [
        {
          name: "price",
          passed: true,
          figures: {
            currency: "USD",
            input_microcents_per_million: "1000000000000",
            cached_input_microcents_per_million: "100000000000",
            output_microcents_per_million: "2000000000000",
          },
        },
      ],
    });
    expect(Math.abs(Date.parse(String(body["created_at"])) - Date.now())).toBeLessThan(60_000);
  });

  it("tells the model and route of the messages route", async () => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    const answer = await chat.send({
      key: key.key,
      path: `${MESSAGES_PATH}?beta=true`,
      body: messagesBody(),
    });
    expect(await readRequest(chat.stack, key, answer)).toMatchObject({
      model: CHAT_MODEL,
      route: "POST /v1/messages",
      status: 200,
      cost_microcents: 7_500,
    });
  });

  it("says why a request was refused: 429, with the limit that it met", async () => {
    const key = await chat.stack.createKey({ requestsPerMinute: 1 });
    const send = () => chat.send({ key: key.key, body: chatBody({ model: "acme/unknown" }) });
    let answer = await send();
    while (answer.status !== 429) answer = await send();
    const store = await chat.stack.store();
    const reference = { organizationId: key.organizationId, keyId: key.id };
    await store.changeKey(reference, { requestsPerMinute: 1_000_000 }, null);
    const row = await readRequest(chat.stack, key, answer);
    expect(row).toMatchObject({ status: 429, error_code: "rate_limit_exceeded", cost_microcents: 0 });
    const figures = { requests_per_minute: 1, burst: 10 };
    expect(row.checks.at(-1)).toMatchObject({ name: "rate_limit", passed: false, figures });
  });

  it("says why a request was refused: 400, with the model that there is not", async () => {
    const key = await chat.stack.createKey();
    const answer = await chat.send({ key: key.key, body: chatBody({ model: "acme/unknown" }) });
    const row = await readRequest(chat.stack, key, answer);
    expect(row).toMatchObject({ status: 400, error_code: "model_not_found", model: null });
    expect(row.checks).toMatchObject([{ name: "model", passed: false, figures: { param: "model" } }]);
  });

  it("names the field of a body that was refused", async () => {
    const key = await chat.stack.createKey();
    const answer = await chat.send({ key: key.key, body: { model: CHAT_MODEL } });
    const { checks } = await readRequest(chat.stack, key, answer);
    expect(checks).toMatchObject([{ name: "body", passed: false, figures: { param: "messages" } }]);
  });

  it.each([
    ["another key's", "other"],
    ["another key's of the same organization", "beside"],
    ["a request that never was", "none"],
    ["something that is no id", "nonsense"],
  ])("is 404 for %s", async (_name, what) => {
    const key = await chat.stack.createKey();
    chat.upstream.answer({ kind: "json", body: textCompletion("x", USAGE) });
    const answer = await chat.send({ key: key.key, body: chatBody() });
    const id = String(answer.headers["x-request-id"]);
    const asking =
      what === "other"
        ? await chat.stack.createKey()
        : what === "beside"
          ? await addKey(chat.stack, key)
          : key;
    const asked = { other: id, beside: id, none: `${id.slice(0, -4)}0000`, nonsense: "req_1" }[what] ?? "";
    const found = await readRequestById(chat.stack, asking.key, asked);
    expect(found.status).toBe(404);
    expect(readError(found)).toMatchObject({ type: "not_found_error", code: "request_not_found" });
  });
});
