/** Limits of tokens per minute through the real Envoy, on all routes. */
import { describe, expect, it } from "vitest";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import type { OrganizationSettings } from "../../src/shared/settings/organization.ts";
import { CHAT_PATH, chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { addTestKey } from "../support/test-key.ts";
import { createGate, waitFor } from "../support/wait.ts";

const EMBED_MODEL = "acme/embed";
const TEXT_MODEL = "acme/text";
const chat = withSharedChatStack([
  catalogEntry(),
  catalogEntry({ id: EMBED_MODEL, max_output_tokens: undefined, capabilities: ["embeddings"] }),
  catalogEntry({ id: TEXT_MODEL, capabilities: ["completions"] }),
]);

const ROUTES = [
  { path: CHAT_PATH, body: chatBody() },
  {
    path: "/v1/messages",
    body: { model: CHAT_MODEL, max_tokens: 50, messages: [{ role: "user", content: "hello big world" }] },
  },
  { path: "/v1/responses", body: { model: CHAT_MODEL, input: "hello big world" } },
] as const;

const usage = (prompt: number, completion: number, cached = 0) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached },
});

/** A whole chat completion whose usage is this. */
const completion = (used: object) =>
  ({
    kind: "json",
    body: {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "scripted",
      choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
      usage: used,
    },
  }) as const;

async function createKey(settings: Partial<KeySettings>, organization: Partial<OrganizationSettings> = {}) {
  const { key } = await chat.stack.createKey({ name: "ci", ...settings }, organization);
  return key;
}

const headerOf = (answer: HttpAnswer, name: string): number => Number(answer.headers[name]);

/** What a call that takes nothing is told of the key's tokens. */
async function left(key: string, type = "tokens"): Promise<number> {
  const answer = await chat.send({ method: "GET", path: "/v1/models", key });
  return headerOf(answer, `x-ratelimit-remaining-${type}`);
}

describe("a limit of tokens per minute", () => {
  it.each(ROUTES)(
    "is told and held on $path, with the true time until it is above 0",
    async ({ path, body }) => {
      const key = await createKey({ tokensPerMinute: 6_000, outputTokensPerMinute: 1_000_000 });
      chat.upstream.answer(completion(usage(60_000, 6_000)));
      const first = await chat.send({ path, key, body });
      expect(first.status).toBe(200);
      const isMessages = path === "/v1/messages";
      const named = (name: string, type: string) =>
        isMessages ? `anthropic-ratelimit-${type}-${name}` : `x-ratelimit-${name}-${type}`;
      expect(headerOf(first, named("limit", "tokens"))).toBe(6_000);
      // The prompt is taken by what the head tells of it.
      expect(headerOf(first, named("remaining", "tokens"))).toBeLessThan(6_000);
      expect(headerOf(first, named("remaining", "tokens"))).toBeGreaterThan(5_900);
      expect(headerOf(first, named("limit", "output-tokens"))).toBe(1_000_000);
      expect(first.headers[named("limit", "input-tokens")]).toBeUndefined();
      const refused = await chat.send({ path, key, body });
      expect(refused.status).toBe(429);
      const { error } = JSON.parse(refused.text) as { error: Record<string, unknown> };
      expect(error).toMatchObject({ type: "rate_limit_error", scope: "key", limit_type: "total" });
      expect(headerOf(refused, named("remaining", "tokens"))).toBe(0);
      // 60,000 tokens beyond what there was, at 100 a second.
      expect(headerOf(refused, "retry-after")).toBeGreaterThan(590);
      expect(headerOf(refused, "retry-after")).toBeLessThanOrEqual(601);
      expect(refused.headers["x-should-retry"]).toBe("true");
      expect(headerOf(refused, "x-service-ratelimit-remaining")).toBeGreaterThan(0);
      expect(chat.upstream.requests).toHaveLength(1);
    },
  );

  it("of an organization keeps others waiting for five minutes at most, and raising it ends that", async () => {
    const member = await chat.stack.createKey({ name: "member" }, { tokensPerMinute: 1_000 });
    const { organizationId } = member;
    const store = await chat.stack.store();
    const { key: other } = await addTestKey(store, organizationId);
    // 60 hours of the limit.
    chat.upstream.answer(completion(usage(10, 3_600_000)));
    expect((await chat.send({ path: CHAT_PATH, key: member.key, body: chatBody() })).status).toBe(200);
    const refused = await chat.send({ path: CHAT_PATH, key: other, body: chatBody() });
    expect(refused.status).toBe(429);
    expect(headerOf(refused, "retry-after")).toBeLessThanOrEqual(301);
    await store.changeOrganization(organizationId, { tokensPerMinute: 1_001 }, null);
    expect((await chat.send({ path: CHAT_PATH, key: other, body: chatBody() })).status).toBe(200);
  });

  it.each([
    {
      path: "/v1/embeddings",
      body: { model: EMBED_MODEL, input: "hello" },
      answer: {
        object: "list",
        data: [{ object: "embedding", index: 0, embedding: [0.5] }],
        model: "embed",
        usage: { prompt_tokens: 66_000, total_tokens: 66_000 },
      },
    },
    {
      path: "/v1/completions",
      body: { model: TEXT_MODEL, prompt: "hello" },
      answer: {
        id: "cmpl-1",
        object: "text_completion",
        created: 1_790_000_000,
        model: "text",
        choices: [{ index: 0, text: "x", logprobs: null, finish_reason: "stop" }],
        usage: { prompt_tokens: 60_000, completion_tokens: 6_000, total_tokens: 66_000 },
      },
    },
  ])("is held on $path by the upstream's count, too", async ({ path, body, answer }) => {
    const key = await createKey({ tokensPerMinute: 6_000 });
    chat.upstream.answer({ kind: "json", body: answer });
    const first = await chat.send({ path, key, body });
    expect(first.status).toBe(200);
    expect(headerOf(first, "x-ratelimit-limit-tokens")).toBe(6_000);
    const refused = await chat.send({ path, key, body });
    expect(refused.status).toBe(429);
    expect(headerOf(refused, "retry-after")).toBeGreaterThan(590);
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("is told to nobody who has none", async () => {
    const answer = await chat.send({ body: chatBody() });
    expect(Object.keys(answer.headers).filter((name) => name.includes("-tokens"))).toEqual([]);
  });

  it.each([
    { ofKey: null, ofOrganization: false, counted: 30 },
    { ofKey: null, ofOrganization: true, counted: 1_030 },
    { ofKey: "always", ofOrganization: false, counted: 1_030 },
    { ofKey: "never", ofOrganization: true, counted: 30 },
  ] as const)(
    "counts what comes from a prompt's cache as its key says ($ofKey), else its organization ($ofOrganization)",
    async (at) => {
      const { counted, ofKey, ofOrganization } = at;
      const settings = { inputTokensPerMinute: 10_000, countCachedTokens: ofKey };
      const key = await createKey(settings, { countCachedTokens: ofOrganization });
      chat.upstream.answer(completion(usage(1_030, 5, 1_000)));
      await chat.send({ key, body: chatBody() });
      const remaining = await left(key, "input-tokens");
      expect(remaining).toBeGreaterThanOrEqual(10_000 - counted);
      expect(remaining).toBeLessThan(10_000 - counted + 1_000);
    },
  );

  it("counts a stream while it runs, by an estimate where the upstream tells no usage", async () => {
    const key = await createKey({ outputTokensPerMinute: 100 });
    const gate = createGate();
    const many = textChunk("word ".repeat(400));
    chat.upstream.answer({ kind: "events", events: [many, gate, finishChunk()] });
    const streamed = chat.send({ key, body: chatBody({ stream: true }) });
    await waitFor("the stream is counted", async () => (await left(key, "output-tokens")) === 0);
    expect((await chat.send({ key, body: chatBody() })).status).toBe(429);
    gate.release();
    expect((await streamed).status).toBe(200);
    expect((await chat.send({ key, body: chatBody() })).status).toBe(429);
  });

  it("takes a prompt whose head does not tell its size when the body has come", async () => {
    const key = await createKey({ inputTokensPerMinute: 1_000 });
    chat.upstream.answer({ kind: "hang" });
    const body = JSON.stringify(chatBody({}, "many words ".repeat(3_000)));
    const controller = new AbortController();
    const hanging = fetch(new URL(CHAT_PATH, chat.stack.baseUrl), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: new Blob([body]).stream(),
      duplex: "half",
      signal: controller.signal,
    }).catch(() => null);
    await chat.upstream.waitForRequests(1);
    const refused = await chat.send({ key, body: chatBody() });
    expect(refused.status).toBe(429);
    controller.abort();
    await hanging;
    // Whoever leaves has used the prompt.
    expect((await chat.send({ key, body: chatBody() })).status).toBe(429);
  });

  it.each([
    { what: "its upstream cuts off before the first byte", answer: { kind: "reset" }, status: 502 },
    {
      what: "its upstream refuses",
      answer: { kind: "json", status: 500, body: { error: { message: "no" } } },
      status: 502,
    },
    { what: "has no model that there is", body: { model: "acme/none" }, status: 400 },
  ] as const)("gets back what it has taken for a request that $what", async (at) => {
    const key = await createKey({ inputTokensPerMinute: 1_000 });
    if ("answer" in at) for (let tries = 0; tries < 5; tries += 1) chat.upstream.answer(at.answer);
    const body = chatBody("body" in at ? at.body : {}, "many words ".repeat(1_000));
    const answer = await chat.send({ key, body });
    expect(answer.status).toBe(at.status);
    expect(headerOf(answer, "x-ratelimit-remaining-input-tokens")).toBe(0);
    await waitFor("it is given back", async () => (await left(key, "input-tokens")) > 900);
  });

  it("holds a flood of both workers to the limit, and refuses nothing while there is room", async () => {
    const key = await createKey({ tokensPerMinute: 10_000 });
    let admitted = 0;
    const flood = async () => {
      for (let refused = 0; refused < 3;) {
        chat.upstream.answer(completion(usage(300, 200)));
        const { status } = await chat.send({ key, body: chatBody() });
        if (status === 200) admitted += 1;
        else refused += 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, flood));
    // 20 requests use it up; what was in flight then passes, and time adds some.
    expect(admitted).toBeGreaterThanOrEqual(20);
    expect(admitted).toBeLessThan(60);
    expect(await left(key)).toBeGreaterThanOrEqual(0);
  });
});
