import type { APIError, OpenAI } from "openai";
import { describe, expect, it } from "vitest";
import { chatBody, withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL, CHAT_UPSTREAM_MODEL } from "../support/gateway-config.ts";
import { finishChunk, openaiError, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { createOpenAi, OPENAI_SDKS, type OpenAiSdk } from "./openai-sdks.ts";
import { proves } from "./proofs.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";

const chat = withSharedChatStack();
const USAGE = { promptTokens: 11, cachedTokens: 4, completionTokens: 2 };
const MESSAGES = [{ role: "user" as const, content: "hello big world" }];

/** What the SDK throws. */
async function catchErrorOf({ module }: OpenAiSdk, promise: PromiseLike<unknown>): Promise<APIError> {
  try {
    await promise;
  } catch (thrown) {
    if (thrown instanceof module.APIError) return thrown;
    throw thrown;
  }
  throw new Error("the SDK threw nothing");
}

describe.each(OPENAI_SDKS)("$name", (sdk) => {
  proves(sdk.proven, "/v1/chat/completions");
  const createClient = () => createOpenAi(sdk, chat);

  it("completes a chat under the catalog's model id", async () => {
    const completion = await createClient().chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
    });
    expect(completion.choices[0]?.message.content).toBe("hello big world");
    expect(completion.model).toBe(CHAT_MODEL);
    expect(completion.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 });
    expect(completion._request_id).toMatch(/^req_/u);
    expect(chat.upstream.lastRequest.body?.["model"]).toBe(CHAT_UPSTREAM_MODEL);
  });

  it("streams deltas as they come, without a usage chunk that was not asked for", async () => {
    const gate = createGate();
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("one"), gate, textChunk(" two"), finishChunk(), { ...usage() }],
    });
    const stream = await createClient().chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
      stream: true,
    });
    const deltas: (string | null | undefined)[] = [];
    for await (const chunk of stream) {
      expect(chunk.usage ?? null).toBeNull();
      expect(chunk.model).toBe(CHAT_MODEL);
      expect(chunk.choices).toHaveLength(1);
      deltas.push(chunk.choices[0]?.delta.content);
      // The second delta is only sent once the first one has arrived.
      gate.release();
    }
    expect(deltas.join("")).toBe("one two");
    expect(chat.upstream.lastRequest.body?.["stream_options"]).toMatchObject({ include_usage: true });
  });

  it("gives the usage chunk when it is asked for", async () => {
    const stream = await createClient().chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    });
    const usages = [];
    for await (const chunk of stream) if (chunk.usage) usages.push(chunk.usage);
    expect(usages).toMatchObject([{ prompt_tokens: 3, completion_tokens: 3 }]);
  });

  it("carries tools there and tool calls back", async () => {
    const tools = [
      {
        type: "function" as const,
        function: {
          name: "weather",
          parameters: { type: "object", properties: { city: { type: "string" } } },
        },
      },
    ];
    const call = {
      id: "call_1",
      type: "function",
      function: { name: "weather", arguments: '{"city":"Oslo"}' },
    };
    chat.upstream.answer({
      kind: "json",
      body: textCompletion("", USAGE, {
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: null, tool_calls: [call] },
            finish_reason: "tool_calls",
          },
        ],
      }),
    });
    const completion = await createClient().chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
      tools,
      tool_choice: "auto",
    });
    expect(completion.choices[0]?.message.tool_calls).toEqual([call]);
    expect(completion.choices[0]?.finish_reason).toBe("tool_calls");
    expect(chat.upstream.lastRequest.body).toMatchObject({ tools, tool_choice: "auto" });
  });

  it.each([
    {
      name: "an image",
      fields: {
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "what is it?" },
              { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" } },
            ],
          },
        ],
      },
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
    { name: "reasoning_effort", fields: { reasoning_effort: "high" } },
    { name: "a field that nobody knows", fields: { x_vendor: { deep: [1, 2.5, null, "ü"] } } },
  ])("passes $name on untouched", async ({ fields }) => {
    const body = chatBody(fields) as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
    await createClient().chat.completions.create(body);
    expect(chat.upstream.lastRequest.body).toMatchObject(fields);
  });

  it("passes fields back that nobody knows", async () => {
    const extra = { x_vendor: { seen: true, list: [1, "two"] }, system_fingerprint: "fp_1" };
    chat.upstream.answer({ kind: "json", body: textCompletion("hi", USAGE, extra) });
    const completion = await createClient().chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
    });
    expect(completion).toMatchObject(extra);
  });

  it("closes the upstream's connection when the caller aborts a stream", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const stream = await createClient().chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
      stream: true,
    });
    for await (const chunk of stream) {
      expect(chunk.choices[0]?.delta.content).toBe("one");
      stream.controller.abort();
    }
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("lists the catalog and finds one model by its id", async () => {
    const models = [];
    for await (const model of createClient().models.list()) models.push(model.id);
    expect(models).toEqual([CHAT_MODEL]);
    expect(await createClient().models.retrieve(CHAT_MODEL)).toMatchObject({
      id: CHAT_MODEL,
      object: "model",
    });
  });
});

describe.each(OPENAI_SDKS)("errors in $name", (sdk) => {
  proves(sdk.proven, "/v1/chat/completions");
  const { AuthenticationError, BadRequestError, InternalServerError, NotFoundError } = sdk.module;
  const createClient = (options?: Parameters<typeof createOpenAi>[2]) => createOpenAi(sdk, chat, options);
  const catchError = (promise: PromiseLike<unknown>) => catchErrorOf(sdk, promise);

  it("throws AuthenticationError for a made-up key", async () => {
    const client = createClient({ apiKey: "sk-igw-made-up", maxRetries: 2 });
    const error = await catchError(client.chat.completions.create({ model: CHAT_MODEL, messages: MESSAGES }));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, type: "authentication_error", code: "invalid_api_key" });
    expect(error.requestID).toMatch(/^req_/u);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("throws BadRequestError with the field that is wrong", async () => {
    const body = {
      model: CHAT_MODEL,
      messages: "hi",
    } as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;
    const error = await catchError(createClient().chat.completions.create(body));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error", param: "messages" });
  });

  it("throws NotFoundError for an endpoint that is not there, and says what to use", async () => {
    const error = await catchError(createClient().images.generate({ model: CHAT_MODEL, prompt: "hi" }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.message).toContain("/v1/chat/completions");
  });

  it("throws InternalServerError once a 503 has outlasted its retries", async () => {
    chat.upstream.answer({
      kind: "json",
      status: 503,
      headers: { "retry-after": "1" },
      body: openaiError("loading"),
    });
    const client = createClient({ maxRetries: 1 });
    const error = await catchError(client.chat.completions.create({ model: CHAT_MODEL, messages: MESSAGES }));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({ status: 503, type: "overloaded_error", code: "model_starting" });
    expect(chat.upstream.requests).toHaveLength(2);
  });

  it("throws an upstream's 400 as BadRequestError with its message and param, without a retry", async () => {
    chat.upstream.answer({
      kind: "json",
      status: 400,
      body: openaiError("temperature is out of range", { param: "temperature", code: "out_of_range" }),
    });
    const client = createClient({ maxRetries: 2 });
    const error = await catchError(client.chat.completions.create({ model: CHAT_MODEL, messages: MESSAGES }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: "out_of_range", param: "temperature" });
    expect(error.message).toContain("temperature is out of range");
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("throws an APIError in a stream that the upstream broke with an error", async () => {
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("one"), { error: { message: "out of memory", type: "server_error", code: 500 } }],
      done: false,
    });
    const stream = await createClient().chat.completions.create({
      model: CHAT_MODEL,
      messages: MESSAGES,
      stream: true,
    });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.choices[0]?.delta.content).toBe("one");
    };
    expect((await catchError(read())).type).toBe("api_error");
  });

  it("waits out a 429 by itself", async () => {
    const key = await createDrainedKey(chat);
    const statuses: number[] = [];
    const client = createClient({
      apiKey: key,
      maxRetries: 2,
      fetch: async (...args) => {
        const response = await fetch(...args);
        statuses.push(response.status);
        return response;
      },
    });
    const completion = await client.chat.completions.create({ model: CHAT_MODEL, messages: MESSAGES });
    expect(completion.choices[0]?.message.content).toBe("hello big world");
    expect(statuses).toEqual([429, 200]);
    expect(chat.upstream.requests).toHaveLength(1);
  });
});

function usage(): object {
  return textChunk("", { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } });
}
