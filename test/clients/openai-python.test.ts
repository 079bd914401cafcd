import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import type { PythonPlayer } from "../support/python.ts";
import { openaiError, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { withOpenAiPythonSdks } from "./openai-python-sdks.ts";
import { proves } from "./proofs.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";
import {
  callAnswer,
  callDeltas,
  deltaStream,
  interleave,
  messageAnswer,
  PARIS,
  ROME,
  WEATHER_SCHEMA,
} from "./chat-answers.ts";

const chat = withSharedChatStack();
const SDKS = withOpenAiPythonSdks();
const USAGE = { promptTokens: 11, cachedTokens: 4, completionTokens: 2 };

/** What the caller of the Python SDK sees. */
function callOf(player: PythonPlayer): (scenario: string, input?: object) => Promise<unknown> {
  return (scenario, input = {}) => {
    const common = { base_url: chat.stack.baseUrl, api_key: chat.key.key, model: CHAT_MODEL };
    return player.play(scenario, { ...common, ...input });
  };
}

describe.each(SDKS)("$name", ({ proven, player }) => {
  proves(proven, "/v1/chat/completions");
  const call = callOf(player);

  it("completes a chat under the catalog's model id", async () => {
    expect(await call("chat")).toMatchObject({
      model: CHAT_MODEL,
      choices: [{ message: { role: "assistant", content: "hello big world" }, finish_reason: "stop" }],
      usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
      request_id: expect.stringMatching(/^req_/u) as string,
    });
    expect(chat.upstream.lastRequest.body?.["model"]).toBe(CHAT_UPSTREAM_MODEL);
  });

  it("answers concurrent calls each with its own answer", async () => {
    const contents = Array.from({ length: 8 }, (_, index) => `number ${index}`);
    expect(await call("chat_async")).toEqual({ contents });
  });

  it.each([
    { name: "without a usage chunk that was not asked for", includeUsage: false, usages: [] },
    {
      name: "with the usage chunk that was asked for",
      includeUsage: true,
      usages: [{ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 }],
    },
  ])("streams $name", async ({ includeUsage, usages }) => {
    const { chunks } = (await call("stream", { include_usage: includeUsage })) as { chunks: Chunk[] };
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("")).toBe("hello big world");
    expect(new Set(chunks.map((chunk) => chunk.model))).toEqual(new Set([CHAT_MODEL]));
    const given = chunks.flatMap((chunk) => (chunk.usage === null ? [] : [chunk.usage]));
    expect(given).toMatchObject(usages);
  });

  it.each([
    {
      name: "an image",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "what is it?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
          ],
        },
      ],
      fields: {},
    },
    {
      name: "response_format",
      fields: {
        response_format: {
          type: "json_schema",
          json_schema: { name: "city", strict: true, schema: { type: "object", properties: {} } },
        },
      },
    },
    { name: "reasoning_effort", fields: { reasoning_effort: "low" } },
    { name: "a field that nobody knows", fields: { x_vendor: { deep: [1, 2.5, null, "ü"] } } },
  ])("passes $name on untouched", async ({ messages, fields }) => {
    await call("passed", { fields, ...(messages === undefined ? {} : { messages }) });
    const expected = { ...fields, ...(messages === undefined ? {} : { messages }) };
    expect(chat.upstream.lastRequest.body).toMatchObject(expected);
  });

  it("passes fields back that nobody knows", async () => {
    const extra = { x_vendor: { seen: true, list: [1, "two"] } };
    chat.upstream.answer({ kind: "json", body: textCompletion("hi", USAGE, extra) });
    expect(await call("chat")).toMatchObject(extra);
  });

  it("carries tools there and tool calls back", async () => {
    const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object" } } }];
    const toolCall = { id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } };
    const message = { role: "assistant", content: null, tool_calls: [toolCall] };
    chat.upstream.answer({
      kind: "json",
      body: textCompletion("", USAGE, { choices: [{ index: 0, message, finish_reason: "tool_calls" }] }),
    });
    expect(await call("tools", { tools })).toMatchObject({
      choices: [{ message: { tool_calls: [toolCall] }, finish_reason: "tool_calls" }],
    });
    expect(chat.upstream.lastRequest.body).toMatchObject({ tools, tool_choice: "auto" });
  });

  it("closes the upstream's connection when the caller closes a stream", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    expect(await call("abort")).toMatchObject({ choices: [{ delta: { content: "one" } }] });
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("lists the catalog and finds one model by its id", async () => {
    expect(await call("models")).toMatchObject({
      ids: [CHAT_MODEL],
      one: { id: CHAT_MODEL, object: "model" },
    });
  });

  it("waits out a 429 by itself", async () => {
    expect(await call("retried", { api_key: await createDrainedKey(chat) })).toMatchObject({
      choices: [{ message: { content: "hello big world" } }],
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });
});

describe.each(SDKS)("errors in $name", ({ proven, player }) => {
  proves(proven, "/v1/chat/completions");
  const call = callOf(player);

  it("raises AuthenticationError for a made-up key", async () => {
    expect(await call("error", { api_key: "sk-igw-made-up", max_retries: 2 })).toMatchObject({
      class: "AuthenticationError",
      status: 401,
      code: "invalid_api_key",
      request_id: expect.stringMatching(/^req_/u) as string,
    });
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("raises BadRequestError with the field that is wrong", async () => {
    const raised = await call("error", { call: { messages: "hi" } });
    expect(raised).toMatchObject({ class: "BadRequestError", status: 400, param: "messages" });
  });

  it("raises NotFoundError for an endpoint that is not there, and says what to use", async () => {
    expect(await call("error", { endpoint: "images" })).toMatchObject({
      class: "NotFoundError",
      status: 404,
      message: expect.stringContaining("/v1/chat/completions") as string,
    });
  });

  it("raises InternalServerError once a 503 has outlasted its retries", async () => {
    chat.upstream.answer({
      kind: "json",
      status: 503,
      headers: { "retry-after": "1" },
      body: openaiError("loading"),
    });
    const raised = await call("error", { max_retries: 1 });
    expect(raised).toMatchObject({ class: "InternalServerError", status: 503, code: "model_starting" });
    expect(chat.upstream.requests).toHaveLength(2);
  });

  it("raises an upstream's 400 as BadRequestError with its message and param, without a retry", async () => {
    const body = openaiError("temperature is out of range", { param: "temperature", code: "out_of_range" });
    chat.upstream.answer({ kind: "json", status: 400, body });
    expect(await call("error", { max_retries: 2 })).toMatchObject({
      class: "BadRequestError",
      code: "out_of_range",
      param: "temperature",
      message: expect.stringContaining("temperature is out of range") as string,
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("raises an APIError in a stream that the upstream broke with an error", async () => {
    const broken = { error: { message: "out of memory", type: "server_error", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), broken], done: false });
    expect(await call("error", { call: { stream: true } })).toMatchObject({
      class: "APIError",
      type: "api_error",
    });
  });
});

interface Chunk {
  readonly model: string;
  readonly usage: object | null;
  readonly choices: readonly { readonly delta: { readonly content: string | null } }[];
}

const TOOL = { type: "function", name: "get_weather", parameters: WEATHER_SCHEMA, strict: false };

describe.each(SDKS)("responses of $name", ({ proven, player }) => {
  proves(proven, "/v1/responses");
  const call = callOf(player);

  it("creates a response with its text", async () => {
    chat.upstream.answer(messageAnswer({ content: "Hello." }));
    expect(await call("response", { fields: { input: "Hi." } })).toMatchObject({
      output_text: "Hello.",
      model: CHAT_MODEL,
      usage: { input_tokens: 11, output_tokens: 2 },
    });
  });

  it("puts a stream of reasoning, text and mixed calls together", async () => {
    const calls = interleave(callDeltas(PARIS, 0), callDeltas(ROME, 1));
    chat.upstream.answer(
      deltaStream([{ reasoning_content: "Hm." }, { content: "I look." }, ...calls], "tool_calls"),
    );
    const result = await call("response_stream", { fields: { input: "Hi.", tools: [TOOL] } });
    expect(result).toMatchObject({
      output_text: "I look.",
      response: {
        status: "completed",
        output: [
          { type: "reasoning", content: [{ text: "Hm." }] },
          { type: "message" },
          { call_id: PARIS.id, arguments: PARIS.arguments },
          { call_id: ROME.id, arguments: ROME.arguments },
        ],
      },
    });
  });

  it("parses structured output", async () => {
    chat.upstream.answer(messageAnswer({ content: '{"city":"Paris"}' }));
    expect(await call("response_parsed")).toEqual({ parsed: { city: "Paris" } });
  });

  it("runs a tool loop by sending the output items back", async () => {
    chat.upstream.answerNext(callAnswer(PARIS));
    chat.upstream.answer(messageAnswer({ content: "Mild." }));
    expect(await call("response_tool_loop", { tools: [TOOL] })).toEqual({ output_text: "Mild." });
  });

  it("raises what ended a stream", async () => {
    const broken = { error: { message: "no", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("Half"), broken], done: false });
    expect(await call("response_failed")).toMatchObject({
      message: expect.stringContaining("returned an unusable response") as string,
    });
  });
});
