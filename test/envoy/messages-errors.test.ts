import { beforeAll, describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, catalogEntry } from "../support/gateway-config.ts";
import type { SendOptions } from "../support/http.ts";
import { openaiError } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { COUNT_TOKENS_PATH, sendMessages, summarizeMessagesError } from "./messages-checks.ts";
import { MESSAGES_PATH, messagesBody } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const OTHER_MODEL = "acme/echo-other";
const MAX_BODY_BYTES = 32 * 1024 * 1024;

const chat = withSharedChatStack([catalogEntry(), catalogEntry({ id: OTHER_MODEL })]);

const keys = { capped: "", orgCapped: "", disabled: "", expired: "", narrow: "", suspended: "" };
beforeAll(async () => {
  const { stack } = chat;
  keys.capped = (await stack.createKey({ limits: monthLimits({ cap: 0 }) })).key;
  keys.orgCapped = (await stack.createKey({}, { limits: monthLimits({ cap: 0 }) })).key;
  keys.disabled = (await stack.createKey({ disabled: true })).key;
  keys.expired = (await stack.createKey({ expiresAtMs: Date.now() - 1_000 })).key;
  keys.narrow = (await stack.createKey({ allowedModels: [OTHER_MODEL] })).key;
  keys.suspended = (await stack.createKey({}, { suspended: true })).key;
});

interface Row {
  readonly name: string;
  readonly options: () => Partial<SendOptions> & { readonly key?: string | null };
  readonly expected: object;
  /** Only on this route. */
  readonly only?: string;
}

const INVALID = { status: 400, type: "invalid_request_error" };

const ROWS: readonly Row[] = [
  {
    name: "no key",
    options: () => ({ key: null, body: messagesBody() }),
    expected: { status: 401, type: "authentication_error", code: "missing_api_key" },
  },
  {
    name: "a made-up key",
    options: () => ({ key: "sk-ant-1234", body: messagesBody() }),
    expected: { status: 401, type: "authentication_error", code: "invalid_api_key" },
  },
  {
    name: "a key's cap",
    options: () => ({ key: keys.capped, body: messagesBody() }),
    expected: { status: 402, type: "billing_error", code: "hard_cap_reached" },
    only: MESSAGES_PATH,
  },
  {
    name: "an organization's cap",
    options: () => ({ key: keys.orgCapped, body: messagesBody() }),
    expected: { status: 402, type: "billing_error", code: "org_hard_cap_reached" },
    only: MESSAGES_PATH,
  },
  {
    name: "a disabled key",
    options: () => ({ key: keys.disabled, body: messagesBody() }),
    expected: { status: 403, type: "permission_error", code: "key_disabled" },
  },
  {
    name: "an expired key",
    options: () => ({ key: keys.expired, body: messagesBody() }),
    expected: { status: 403, type: "permission_error", code: "key_expired" },
  },
  {
    name: "a suspended organization",
    options: () => ({ key: keys.suspended, body: messagesBody() }),
    expected: { status: 403, type: "permission_error", code: "organization_suspended" },
  },
  {
    name: "a model that the key may not use",
    options: () => ({ key: keys.narrow, body: messagesBody() }),
    expected: { status: 403, type: "permission_error", code: "model_not_allowed" },
  },
  {
    name: "a wrong method",
    options: () => ({ method: "PUT", body: messagesBody() }),
    expected: { status: 405, type: "invalid_request_error", code: "method_not_allowed" },
  },
  {
    name: "GET",
    options: () => ({ method: "GET" }),
    expected: { status: 405, type: "invalid_request_error", code: "method_not_allowed" },
  },
  {
    name: "a body over the limit",
    options: () => ({ body: messagesBody({}, "x".repeat(MAX_BODY_BYTES)) }),
    expected: { status: 413, type: "request_too_large", code: "request_too_large" },
  },
  {
    name: "a chunked body over the limit",
    options: () => ({ chunks: [JSON.stringify(messagesBody({}, "x".repeat(MAX_BODY_BYTES)))] }),
    expected: { status: 413, type: "request_too_large", code: "request_too_large" },
  },
  {
    name: "a compressed body",
    options: () => ({ body: "{}", headers: { "content-encoding": "gzip" } }),
    expected: { status: 415, type: "invalid_request_error", code: "unsupported_media_type" },
  },
  {
    name: "broken JSON",
    options: () => ({ body: '{"model":' }),
    expected: { ...INVALID, code: "invalid_json" },
  },
  {
    name: "an empty body",
    options: () => ({ method: "POST", headers: { "content-length": "0" } }),
    expected: INVALID,
  },
  {
    name: "an unknown model",
    options: () => ({ body: messagesBody({ model: "claude-sonnet-4-5" }) }),
    expected: { ...INVALID, code: "model_not_found", param: "model" },
  },
  {
    name: "no max_tokens",
    options: () => ({ body: messagesBody({ max_tokens: undefined }) }),
    expected: { ...INVALID, param: "max_tokens", message: "max_tokens: Field required" },
    only: MESSAGES_PATH,
  },
  {
    name: "a block that is not supported",
    options: () => ({
      body: messagesBody({ messages: [{ role: "user", content: [{ type: "video" }] }] }),
    }),
    expected: {
      ...INVALID,
      param: "messages.0.content.0",
      message: expect.stringContaining("unsupported content block type 'video'") as string,
    },
  },
];

describe.each([{ path: MESSAGES_PATH }, { path: `${MESSAGES_PATH}?beta=true` }, { path: COUNT_TOKENS_PATH }])(
  "an error on $path",
  ({ path }) => {
    const rows = ROWS.filter(({ only }) => only === undefined || path.split("?")[0] === only);

    it.each(rows)(
      "[headers.encoding] has the Anthropic envelope for $name",
      async ({ options, expected }) => {
        const answer = await sendMessages(chat, { path, ...options() });
        expect(summarizeMessagesError(answer)).toMatchObject({ ...expected, breaches: [] });
        expect(answer.headers["x-service-ratelimit-remaining"]).toMatch(/^\d+$/u);
        expect(chat.upstream.requests).toHaveLength(0);
      },
    );

    it("has the Anthropic envelope for an empty bucket, and says when to come back", async () => {
      const { key } = await chat.stack.createKey({ requestsPerMinute: 1 });
      const answer = await waitFor("an empty bucket", async () => {
        const sent = await sendMessages(chat, { path, key, body: messagesBody() });
        return sent.status === 429 && sent;
      });
      expect(summarizeMessagesError(answer)).toMatchObject({
        status: 429,
        type: "rate_limit_error",
        code: "rate_limit_exceeded",
        retryAfter: expect.stringMatching(/^\d+$/u) as string,
        breaches: [],
      });
    });

    it("does not hang on the protocol's header", async () => {
      const headers = { "anthropic-version": "2023-06-01" };
      const options = { path, headers, body: messagesBody({ model: "acme/nothing" }) };
      expect(summarizeMessagesError(await sendMessages(chat, options)).breaches).toEqual([]);
    });
  },
);

describe("an error beside the messages route", () => {
  it.each(["/v1/messages/batches", "/v1/messages/", "/v1/messages/count_tokens/x"])(
    "has the Anthropic envelope on %s, which is not there",
    async (path) => {
      const answer = await sendMessages(chat, { path, body: messagesBody() });
      expect(summarizeMessagesError(answer)).toMatchObject({
        status: 404,
        type: "not_found_error",
        breaches: [],
      });
    },
  );

  it("says what the cap is in the protocol's own fields", async () => {
    const answer = await sendMessages(chat, { key: keys.capped, body: messagesBody() });
    expect(answer.json()).toMatchObject({
      type: "error",
      error: { type: "billing_error", scope: "key", spent_cents: 0, hard_cap_cents: 0 },
    });
    expect(answer.headers["x-should-retry"]).toBe("false");
  });

  it("never refuses to count tokens for a cap", async () => {
    const options = { path: COUNT_TOKENS_PATH, key: keys.capped, body: messagesBody() };
    expect((await sendMessages(chat, options)).status).toBe(200);
  });

  it("names the field of the client's own request in what the upstream says", async () => {
    const body = openaiError("Invalid schema for function 'x'", { param: "tools[0].function.parameters" });
    chat.upstream.answer({ kind: "json", status: 400, body });
    const answer = await sendMessages(chat, { body: messagesBody({ model: CHAT_MODEL }) });
    expect(summarizeMessagesError(answer)).toMatchObject({ ...INVALID, breaches: [] });
  });
});
