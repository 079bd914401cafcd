import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { openaiError, type ScriptedAnswer, textChunk } from "../support/scripted-answer.ts";
import { withPythonSdk, PYTHON_SDKS } from "./anthropic-python-sdks.ts";
import { proves } from "./proofs.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack();

interface Case {
  readonly name: string;
  readonly raised: readonly [cls: string, status: number, type: string, code: string];
  /** What an older SDK has instead of a class of its own. */
  readonly olderClass?: string;
  readonly answer?: ScriptedAnswer;
  readonly params?: object;
  readonly key?: () => Promise<string> | string;
}

function failure(status: number, fields: object = {}): ScriptedAnswer {
  return { kind: "json", status, body: openaiError("temperature is out of range", fields) };
}

const CASES: readonly Case[] = [
  {
    name: "an upstream's 400",
    raised: ["BadRequestError", 400, "invalid_request_error", "out_of_range"],
    answer: failure(400, { code: "out_of_range", param: "temperature" }),
  },
  {
    name: "an unknown model",
    raised: ["BadRequestError", 400, "invalid_request_error", "model_not_found"],
    params: { model: "acme/nothing" },
  },
  {
    name: "a made-up key",
    raised: ["AuthenticationError", 401, "authentication_error", "invalid_api_key"],
    key: () => "sk-igw-made-up",
  },
  {
    name: "a cap that is reached",
    raised: ["PaymentRequiredError", 402, "billing_error", "hard_cap_reached"],
    olderClass: "APIStatusError",
    key: async () => (await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) })).key,
  },
  {
    name: "a disabled key",
    raised: ["PermissionDeniedError", 403, "permission_error", "key_disabled"],
    key: async () => (await chat.stack.createKey({ disabled: true })).key,
  },
  {
    name: "a broken upstream",
    raised: ["InternalServerError", 502, "api_error", "upstream_error"],
    answer: failure(500),
  },
  {
    name: "a model that starts",
    raised: ["ServiceUnavailableError", 503, "overloaded_error", "model_starting"],
    olderClass: "InternalServerError",
    answer: failure(503),
  },
  {
    name: "an upstream that was too slow",
    raised: ["GatewayTimeoutError", 504, "timeout_error", "upstream_timeout"],
    olderClass: "InternalServerError",
    answer: failure(504),
  },
  {
    name: "an overloaded model",
    raised: ["OverloadedError", 529, "overloaded_error", "model_overloaded"],
    answer: failure(429),
  },
];

describe.each(PYTHON_SDKS)("errors in $name", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const call = withPythonSdk(chat, sdk);

  it.each(CASES)("are of their class for $name", async ({ raised, olderClass, answer, params, key }) => {
    const [cls, status, type, code] = raised;
    if (answer !== undefined) chat.upstream.answer(answer);
    const error = (await call("error", params, key === undefined ? {} : { api_key: await key() })) as Raised;
    expect(error.bases).toContain(sdk.isCurrent ? cls : (olderClass ?? cls));
    expect(error).toMatchObject({ status, body: { type: "error", error: { type, code } } });
    expect(error.request_id).toBe(error.header);
    expect(error.body.request_id).toBe(error.header);
    if (!sdk.isCurrent) return;
    expect(error).toMatchObject({ type, error_code: code, api_message: error.body.error.message });
  });

  it("have an upstream's message and param", async () => {
    chat.upstream.answer(failure(400, { param: "temperature" }));
    expect(await call("error", {}, { max_retries: 2 })).toMatchObject({
      body: { error: { message: "temperature is out of range", param: "temperature" } },
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("say that a prompt is too long in Anthropic's words", async () => {
    const text = "This model's maximum context length is 8192 tokens, however you requested more.";
    chat.upstream.answer({ kind: "json", status: 400, body: openaiError(text) });
    expect(await call("error", {}, { max_retries: 2 })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^prompt is too long: /u) as string } },
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("are raised in a stream that has begun", async () => {
    const broken = { error: { message: "out of memory", type: "server_error", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), broken], done: false });
    expect(await call("error", {}, { stream: true })).toMatchObject({
      bases: expect.arrayContaining(["APIStatusError"]) as string[],
      body: { type: "error", error: { type: "api_error", code: "upstream_error" } },
    });
  });

  it("are waited out: a 429", async () => {
    const key = await createDrainedKey(chat);
    expect(await call("message", {}, { api_key: key, max_retries: 2 })).toMatchObject({
      content: [{ type: "text", text: "hello big world" }],
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("are waited out: a model that starts", async () => {
    const starting = { kind: "json", status: 503, body: openaiError("loading") } as const;
    chat.upstream.answerNext({ ...starting, headers: { "retry-after": "1" } });
    expect(await call("message", {}, { max_retries: 1 })).toMatchObject({
      content: [{ type: "text", text: "hello big world" }],
    });
    expect(chat.upstream.requests).toHaveLength(2);
  });
});

interface Raised {
  readonly bases: readonly string[];
  readonly request_id: string;
  readonly header: string;
  readonly body: { readonly request_id: string; readonly error: { readonly message: string } };
}
