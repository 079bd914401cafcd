import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { runPython } from "../support/python.ts";
import { openaiError, type ScriptedAnswer, textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { messageParams } from "./anthropic-sdks.ts";
import { callAnswer, callDeltas, deltaStream, formatCall, interleave } from "./chat-answers.ts";
import { messageAnswer, PARIS, ROME, WEATHER_TOOL } from "./chat-answers.ts";

const chat = withChatStack();

/** What the caller of the Python SDK sees. */
function call(scenario: string, params: object = {}, input: object = {}): Promise<unknown> {
  const common = { base_url: chat.stack.baseUrl, api_key: chat.key.key, params: messageParams(params) };
  return runPython("anthropic_messages.py", scenario, { ...common, ...input });
}

function sentMessages(): object[] {
  return chat.upstream.lastRequest.body?.["messages"] as object[];
}

describe("anthropic for Python", () => {
  it("gets a message under the catalog's model id, with usage and the request's id", async () => {
    expect(await call("message", { system: "Be brief.", stop_sequences: ["END"] })).toMatchObject({
      type: "message",
      role: "assistant",
      model: CHAT_MODEL,
      content: [{ type: "text", text: "hello big world" }],
      stop_reason: "end_turn",
      usage: { input_tokens: 5, output_tokens: 3 },
      request_id: expect.stringMatching(/^req_/u) as string,
    });
    expect(chat.upstream.lastRequest.body).toMatchObject({
      stop: ["END"],
      messages: [{ role: "system", content: "Be brief." }, { role: "user" }],
    });
  });

  it("gets to concurrent calls each its own answer", async () => {
    const texts = Array.from({ length: 8 }, (_, index) => `number ${index}`);
    expect(await call("message_async")).toEqual({ texts });
  });

  it("reads the events of a stream", async () => {
    const { events } = (await call("events")) as { events: { type: string }[] };
    const types = events.map(({ type }) => type).filter((type) => type !== "content_block_delta");
    expect(types).toEqual([
      "message_start",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  it("puts a stream together", async () => {
    expect(await call("final_message")).toMatchObject({
      content: [{ type: "text", text: "hello big world" }],
      texts: ["hello", " big", " world"],
      stop_reason: "end_turn",
      usage: { input_tokens: 3, output_tokens: 3 },
    });
  });

  it("goes a round of parallel tools", async () => {
    chat.upstream.answerNext(callAnswer(PARIS, ROME), messageAnswer({ content: "Sunny." }));
    const { turns } = (await call("tool_round", { tools: [WEATHER_TOOL] })) as { turns: object[] };
    expect(turns).toMatchObject([
      {
        content: [
          { type: "tool_use", id: PARIS.id, input: { city: "Paris" } },
          { type: "tool_use", id: ROME.id, input: { city: "Rome" } },
        ],
        stop_reason: "tool_use",
      },
      { content: [{ type: "text", text: "Sunny." }], stop_reason: "end_turn" },
    ]);
    expect(sentMessages().slice(1)).toEqual([
      { role: "assistant", content: null, tool_calls: [formatCall(PARIS), formatCall(ROME)] },
      { role: "tool", tool_call_id: PARIS.id, content: "21 °C in Paris" },
      { role: "tool", tool_call_id: ROME.id, content: "21 °C in Rome" },
    ]);
  });

  it("puts thinking, text and interleaved tool calls together", async () => {
    const calls = interleave(callDeltas(PARIS, 0, 2), callDeltas(ROME, 1, 2));
    chat.upstream.answer(
      deltaStream([{ reasoning_content: "Hm." }, { content: "I look." }, ...calls], "stop"),
    );
    const fields = { tools: [WEATHER_TOOL], thinking: { type: "adaptive" } };
    expect(await call("final_message", fields)).toMatchObject({
      content: [
        { type: "thinking", thinking: "Hm.", signature: expect.stringMatching(/./u) as string },
        { type: "text", text: "I look." },
        { type: "tool_use", id: PARIS.id, input: { city: "Paris" } },
        { type: "tool_use", id: ROME.id, input: { city: "Rome", days: [1, 2] } },
      ],
      stop_reason: "tool_use",
    });
  });

  it("parses structured output", async () => {
    chat.upstream.answer(messageAnswer({ content: '{"city":"Oslo","people":7}' }));
    expect(await call("structured")).toEqual({ parsed: { city: "Oslo", people: 7 } });
    expect(chat.upstream.lastRequest.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { schema: { type: "object" } } },
    });
  });

  it("closes the upstream's connection when the caller leaves a stream", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    expect(await call("abort")).toEqual({ first: "one" });
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("counts tokens without an upstream", async () => {
    const { max_tokens: _, ...params } = messageParams({}, "one two three four");
    const { input_tokens } = (await call("count", {}, { params })) as { input_tokens: number };
    expect(input_tokens).toBeGreaterThanOrEqual(4);
    expect(input_tokens).toBeLessThan(30);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("lists the catalog and finds one model by its id", async () => {
    expect(await call("models")).toMatchObject({
      ids: [CHAT_MODEL],
      one: { id: CHAT_MODEL, type: "model", display_name: expect.any(String) as string },
    });
  });

  it("waits out a 429 by itself", async () => {
    const { key } = await chat.stack.createKey({ requestsPerMinute: 20 });
    await waitFor("an empty bucket", async () => {
      return (await chat.send({ key, path: "/v1/models" })).status === 429;
    });
    expect(await call("message", {}, { api_key: key, max_retries: 2 })).toMatchObject({
      content: [{ type: "text", text: "hello big world" }],
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });
});

interface Case {
  readonly name: string;
  readonly raised: readonly [cls: string, status: number, type: string, code: string];
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
    key: async () => (await chat.stack.createKey({ hardCapCents: 0 })).key,
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
    answer: failure(503),
  },
  {
    name: "an upstream that was too slow",
    raised: ["GatewayTimeoutError", 504, "timeout_error", "upstream_timeout"],
    answer: failure(504),
  },
  {
    name: "an overloaded model",
    raised: ["OverloadedError", 529, "overloaded_error", "model_overloaded"],
    answer: failure(429),
  },
];

describe("errors in anthropic for Python", () => {
  it.each(CASES)("are of their class for $name", async ({ raised, answer, params, key }) => {
    const [cls, status, type, code] = raised;
    if (answer !== undefined) chat.upstream.answer(answer);
    const error = (await call("error", params, key === undefined ? {} : { api_key: await key() })) as Raised;
    expect(error.bases).toContain(cls);
    expect(error).toMatchObject({ status, type, error_code: code });
    expect(error.request_id).toBe(error.header);
    expect(error.body).toMatchObject({ type: "error", request_id: error.header, error: { code } });
    expect(error.api_message).toBe(error.body.error.message);
  });

  it("have an upstream's message and param", async () => {
    chat.upstream.answer(failure(400, { param: "temperature" }));
    expect(await call("error", {}, { max_retries: 2 })).toMatchObject({
      api_message: "temperature is out of range",
      body: { error: { param: "temperature" } },
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("are raised in a stream that has begun", async () => {
    const broken = { error: { message: "out of memory", type: "server_error", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), broken], done: false });
    expect(await call("error", {}, { stream: true })).toMatchObject({
      type: "api_error",
      error_code: "upstream_error",
    });
  });
});

interface Raised {
  readonly bases: readonly string[];
  readonly request_id: string;
  readonly header: string;
  readonly api_message: string;
  readonly body: { readonly error: { readonly message: string } };
}
