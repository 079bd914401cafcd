import { describe, expect, it } from "vitest";
import { CHAT_PATH, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, catalogEntry } from "../support/gateway-config.ts";
import { openaiError, type ScriptedAnswer, textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { type Anthropic, catchApiError, messageParams, readAll, SDKS, textOf } from "./anthropic-sdks.ts";
import { proves } from "./proofs.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";
import { monthLimits } from "../support/month-limits.ts";

const OTHER_MODEL = "acme/echo-other";
const MAX_BODY_BYTES = 32 * 1024 * 1024;

const chat = withSharedChatStack([catalogEntry(), catalogEntry({ id: OTHER_MODEL })]);

interface Case {
  readonly name: string;
  /** Class of major 1, and of major 0 where that has another one. */
  readonly classes: readonly [string, string?];
  readonly expected: { readonly status: number; readonly type: string };
  readonly errorCode: string;
  readonly answer?: ScriptedAnswer;
  readonly fields?: object;
  readonly content?: string;
  readonly key?: () => Promise<string> | string;
  /** Further fields of `error` in the body. */
  readonly inner?: object;
}

function failure(status: number): ScriptedAnswer {
  return { kind: "json", status, body: openaiError("internal trouble") };
}

async function createCappedKey(): Promise<string> {
  return (await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) })).key;
}

const CASES: readonly Case[] = [
  {
    name: "a field that is missing",
    classes: ["BadRequestError"],
    expected: { status: 400, type: "invalid_request_error" },
    errorCode: "missing_required_parameter",
    fields: { max_tokens: undefined },
    inner: { param: "max_tokens", message: "max_tokens: Field required" },
  },
  {
    name: "a model that is not there",
    classes: ["BadRequestError"],
    expected: { status: 400, type: "invalid_request_error" },
    errorCode: "model_not_found",
    fields: { model: "acme/echo-smal" },
    inner: { param: "model", message: expect.stringContaining(CHAT_MODEL) as string },
  },
  {
    name: "what the upstream says of the request",
    classes: ["BadRequestError"],
    expected: { status: 400, type: "invalid_request_error" },
    errorCode: "out_of_range",
    answer: {
      kind: "json",
      status: 400,
      body: openaiError("temperature is out of range", { param: "temperature", code: "out_of_range" }),
    },
    inner: { param: "temperature", message: "temperature is out of range" },
  },
  {
    name: "a made-up key",
    classes: ["AuthenticationError"],
    expected: { status: 401, type: "authentication_error" },
    errorCode: "invalid_api_key",
    key: () => "sk-igw-made-up",
  },
  {
    name: "a cap that is reached",
    classes: ["PaymentRequiredError", "APIError"],
    expected: { status: 402, type: "billing_error" },
    errorCode: "hard_cap_reached",
    key: createCappedKey,
    inner: { scope: "key", spent_cents: 0, hard_cap_cents: 0 },
  },
  {
    name: "a disabled key",
    classes: ["PermissionDeniedError"],
    expected: { status: 403, type: "permission_error" },
    errorCode: "key_disabled",
    key: async () => (await chat.stack.createKey({ disabled: true })).key,
  },
  {
    name: "a model that the key may not use",
    classes: ["PermissionDeniedError"],
    expected: { status: 403, type: "permission_error" },
    errorCode: "model_not_allowed",
    key: async () => (await chat.stack.createKey({ allowedModels: [OTHER_MODEL] })).key,
  },
  {
    name: "a body over the limit",
    classes: ["ContentTooLargeError", "APIError"],
    expected: { status: 413, type: "request_too_large" },
    errorCode: "request_too_large",
    content: "x".repeat(MAX_BODY_BYTES),
  },
  {
    name: "an empty bucket",
    classes: ["RateLimitError"],
    expected: { status: 429, type: "rate_limit_error" },
    errorCode: "rate_limit_exceeded",
    key: () => createDrainedKey(chat, 1),
  },
  {
    name: "a broken upstream",
    classes: ["InternalServerError"],
    expected: { status: 502, type: "api_error" },
    errorCode: "upstream_error",
    answer: failure(500),
  },
  {
    name: "a model that starts",
    classes: ["ServiceUnavailableError", "InternalServerError"],
    expected: { status: 503, type: "overloaded_error" },
    errorCode: "model_starting",
    answer: failure(503),
  },
  {
    name: "an upstream that is too slow",
    classes: ["GatewayTimeoutError", "InternalServerError"],
    expected: { status: 504, type: "timeout_error" },
    errorCode: "upstream_timeout",
    answer: failure(504),
  },
  {
    name: "an overloaded model",
    classes: ["OverloadedError", "InternalServerError"],
    expected: { status: 529, type: "overloaded_error" },
    errorCode: "model_overloaded",
    answer: failure(429),
  },
];

describe.each(SDKS)("errors in $name", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const client = (options: { apiKey?: string; maxRetries?: number; fetch?: typeof fetch } = {}): Anthropic =>
    sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey: chat.key.key, ...options });

  for (const stream of [false, true]) {
    it.each(CASES)(
      `are of their class for $name, ${stream ? "streamed" : "not streamed"}`,
      async ({ classes, expected, errorCode, answer, fields, content, key, inner }) => {
        if (answer !== undefined) chat.upstream.answer(answer);
        const caller = client(key === undefined ? {} : { apiKey: await key() });
        const params = { ...messageParams(fields, content), stream } as never;
        const error = await catchApiError(caller.messages.create(params));
        expect(error).toBeInstanceOf(sdk.errorClass(classes[0], classes[1]));
        expect(error).toMatchObject(expected);
        expect(error.requestID).toMatch(/^[\w-]{8,}$/u);
        expect(error.error).toMatchObject({
          type: "error",
          request_id: error.requestID,
          error: {
            type: expected.type,
            code: errorCode,
            request_id: error.requestID,
            details: { error_code: errorCode },
            ...inner,
          },
        });
        expect(error.error).not.toHaveProperty("message");
        expect(error.errorCode ?? errorCode).toBe(errorCode);
      },
    );
  }

  it("are NotFoundError for an endpoint that is not there", async () => {
    const error = await catchApiError(client().messages.batches.list());
    expect(error).toBeInstanceOf(sdk.errorClass("NotFoundError"));
    expect(error).toMatchObject({ status: 404, type: "not_found_error" });
    expect(JSON.stringify(error.error)).toContain(CHAT_PATH.slice(0, 3));
  });

  it.each([
    {
      name: "with figures",
      upstream:
        "This model's maximum context length is 128000 tokens. However, you requested 131000 tokens (130000 in the messages, 1000 in the completion).",
      message: /input length and `max_tokens` exceed context limit: 130000 \+ 1000 > 128000/u,
    },
    {
      name: "without figures",
      upstream: "This model's maximum context length is 128000 tokens.",
      message: /^prompt is too long: /u,
    },
  ])("have the words that clients look for when the prompt is too long, $name", async (row) => {
    const body = openaiError(row.upstream, { code: "context_length_exceeded" });
    chat.upstream.answer({ kind: "json", status: 400, body });
    const error = await catchApiError(client({ maxRetries: 2 }).messages.create(messageParams()));
    const { message } = (error.error as { error: { message: string } }).error;
    expect(message).toMatch(row.message);
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it.each([
    { name: "the upstream sends an error", events: [{ error: { message: "out of memory", code: 500 } }] },
    { name: "the upstream ends early", events: [] },
  ])("are thrown in a stream that has begun when $name", async ({ events }) => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), ...events], done: false });
    const streamed = async () =>
      readAll(await client().messages.create({ ...messageParams(), stream: true }));
    const joined = () => client().messages.stream(messageParams()).finalMessage();
    for (const read of [streamed, joined]) {
      const error = await catchApiError(read());
      expect(error).toBeInstanceOf(sdk.errorClass("APIError"));
      expect(error).toMatchObject({
        type: "api_error",
        error: {
          type: "error",
          error: { code: "upstream_error", details: { error_code: "upstream_error" } },
        },
      });
      expect(error.requestID).toMatch(/^req_/u);
    }
  });

  it("are thrown in a stream whose upstream is cut", async () => {
    const cut = { events: [textChunk("one")], done: false, ending: "reset" as const };
    chat.upstream.answer({ kind: "events", ...cut });
    const streamed = async () =>
      readAll(await client().messages.create({ ...messageParams(), stream: true }));
    await expect(streamed()).rejects.toThrow(/./u);
    await expect(client().messages.stream(messageParams()).finalMessage()).rejects.toThrow(/./u);
  });

  it("close the upstream's connection when the caller aborts a stream", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const stream = client().messages.stream(messageParams());
    stream.on("text", () => stream.abort());
    expect(await catchApiError(stream.finalMessage())).toBeInstanceOf(sdk.errorClass("APIUserAbortError"));
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("are waited out by themselves: a 429", async () => {
    const key = await createDrainedKey(chat);
    const statuses: number[] = [];
    const record: typeof fetch = async (...args) => {
      const response = await fetch(...args);
      statuses.push(response.status);
      return response;
    };
    const message = await client({ apiKey: key, maxRetries: 2, fetch: record }).messages.create(
      messageParams(),
    );
    expect(textOf(message)).toBe("hello big world");
    expect(statuses).toEqual([429, 200]);
  });

  it("are waited out by themselves: a model that starts", async () => {
    const starting = { ...failure(503), headers: { "retry-after": "1" } } as ScriptedAnswer;
    chat.upstream.answerNext(starting, starting);
    const message = await client({ maxRetries: 2 }).messages.create(messageParams());
    expect(textOf(message)).toBe("hello big world");
    expect(chat.upstream.requests).toHaveLength(3);
  });
});
