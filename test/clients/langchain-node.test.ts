import type { AIMessageChunk, ToolMessage, UsageMetadata } from "@langchain/core/messages";
import type { ChatOpenAI } from "@langchain/openai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { openaiError, textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import {
  callAnswer,
  callDeltas,
  deltaStream,
  interleave,
  messageAnswer,
  PARIS,
  ROME,
  USAGE,
} from "./chat-answers.ts";
import type { Client } from "./clients.ts";
import { type LangChain, LANGCHAINS } from "./langchain-sdks.ts";
import { proves, type Route } from "./proofs.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack();

interface ModelOptions {
  readonly apiKey?: string;
  readonly maxRetries?: number;
}

interface Model {
  readonly name: string;
  readonly sdk: LangChain;
  readonly proven: Client;
  readonly route: Route;
  readonly create: (options?: ModelOptions) => ChatOpenAI;
}

/** The two classes have the same methods; their types only differ in what their own options may hold. */
const MODELS = LANGCHAINS.flatMap((sdk): readonly Model[] => [
  {
    name: `ChatAnthropic of ${sdk.name}`,
    sdk,
    proven: sdk.provenAnthropic,
    route: "/v1/messages",
    create: ({ apiKey = chat.key.key, maxRetries = 0 } = {}) =>
      new sdk.anthropic.ChatAnthropic({
        model: CHAT_MODEL,
        apiKey,
        maxRetries,
        anthropicApiUrl: chat.stack.baseUrl,
      }) as unknown as ChatOpenAI,
  },
  {
    name: `ChatOpenAI of ${sdk.name}`,
    sdk,
    proven: sdk.provenOpenai,
    route: "/v1/chat/completions",
    create: ({ apiKey = chat.key.key, maxRetries = 0 } = {}) =>
      new sdk.openai.ChatOpenAI({
        model: CHAT_MODEL,
        apiKey,
        maxRetries,
        configuration: { baseURL: `${chat.stack.baseUrl}/v1` },
      }),
  },
  {
    name: `ChatOpenAI of ${sdk.name} with useResponsesApi`,
    sdk,
    proven: sdk.provenOpenai,
    route: "/v1/responses",
    create: ({ apiKey = chat.key.key, maxRetries = 0 } = {}) =>
      new sdk.openai.ChatOpenAI({
        model: CHAT_MODEL,
        apiKey,
        maxRetries,
        useResponsesApi: true,
        configuration: { baseURL: `${chat.stack.baseUrl}/v1` },
      }),
  },
]);

async function readStream(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
  let whole: AIMessageChunk | null = null;
  for await (const chunk of stream) whole = whole === null ? chunk : whole.concat(chunk);
  if (whole === null) throw new Error("the stream was empty");
  return whole;
}

async function catchError(promise: Promise<unknown>): Promise<Record<string, unknown>> {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  if (thrown === null) throw new Error("LangChain threw nothing");
  return thrown as Record<string, unknown>;
}

describe.each(MODELS)("$name", ({ sdk, proven, route, create }) => {
  proves(proven, route);
  const isOldAnthropic = !sdk.isCurrent && route === "/v1/messages";
  const { HumanMessage, SystemMessage } = sdk.messages;
  const weather = sdk.tools.tool(({ city }: { city: string }) => `21 °C in ${city}`, {
    name: "get_weather",
    description: "The weather in a city",
    schema: z.object({ city: z.string() }),
  });

  it("invokes, with usage", async () => {
    chat.upstream.answer(messageAnswer({ content: "Hello." }));
    const message = await create().invoke([new SystemMessage("Be brief."), new HumanMessage("Hi.")]);
    expect(message.text).toBe("Hello.");
    // LangChain counts cached tokens among the input tokens, whatever the protocol does, but for the old ChatAnthropic.
    const inputTokens = isOldAnthropic ? 7 : 11;
    expect(message.usage_metadata).toMatchObject({
      input_tokens: inputTokens,
      output_tokens: 2,
      total_tokens: inputTokens + 2,
      input_token_details: { cache_read: 4 },
    });
    expect(chat.upstream.lastRequest.body?.["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi." },
    ]);
  });

  it("streams, with usage that is not zero", async () => {
    chat.upstream.answer(deltaStream([{ content: "Hel" }, { content: "lo." }]));
    const message = await readStream(await create().stream("one two three four five six seven"));
    expect(message.text).toBe("Hello.");
    const { usage_metadata: usage } = message as unknown as { usage_metadata?: UsageMetadata };
    expect(usage?.input_tokens).toBeGreaterThan(3);
    expect(usage?.output_tokens).toBe(USAGE.completionTokens);
  });

  it("calls tools in parallel and takes their results", async () => {
    chat.upstream.answerNext(callAnswer(PARIS, ROME), messageAnswer({ content: "Sunny." }));
    const model = create().bindTools([weather]);
    const question = new HumanMessage("And in Paris and Rome?");
    const asked = await model.invoke([question]);
    expect(asked.tool_calls).toMatchObject([
      { id: PARIS.id, name: "get_weather", args: { city: "Paris" } },
      { id: ROME.id, name: "get_weather", args: { city: "Rome" } },
    ]);
    const results: ToolMessage[] = [];
    for (const call of asked.tool_calls ?? []) results.push(await weather.invoke(call));
    expect((await model.invoke([question, asked, ...results])).text).toBe("Sunny.");
    expect(chat.upstream.lastRequest.body?.["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: PARIS.id }, { id: ROME.id }] },
      { role: "tool", tool_call_id: PARIS.id, content: "21 °C in Paris" },
      { role: "tool", tool_call_id: ROME.id, content: "21 °C in Rome" },
    ]);
  });

  it("puts tool calls together that are streamed interleaved", async () => {
    chat.upstream.answer(
      deltaStream(interleave(callDeltas(PARIS, 0, 3), callDeltas(ROME, 1, 3)), "tool_calls"),
    );
    const message = await readStream(await create().bindTools([weather]).stream("And in Paris and Rome?"));
    expect(message.tool_calls).toMatchObject([
      { id: PARIS.id, args: { city: "Paris" } },
      { id: ROME.id, args: { city: "Rome", days: [1, 2] } },
    ]);
  });

  it("reads structured output", async () => {
    const City = z.object({ city: z.string(), people: z.number() });
    const call = { id: "call_1", name: "extract", arguments: '{"city":"Oslo","people":7}' };
    chat.upstream.answer(callAnswer(call));
    const structured = create().withStructuredOutput(City, { name: "extract", method: "functionCalling" });
    expect(await structured.invoke("Oslo has 7 people.")).toEqual({ city: "Oslo", people: 7 });
    expect(chat.upstream.lastRequest.body?.["tools"]).toMatchObject([{ function: { name: "extract" } }]);
  });

  it.each([
    { name: "a made-up key", status: 401, key: () => "sk-igw-made-up", text: "Invalid API key" },
    {
      name: "a cap that is reached",
      status: 402,
      key: async () => (await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) })).key,
      text: "Monthly hard cap of 0.00 USD",
    },
    {
      name: "a disabled key",
      status: 403,
      key: async () => (await chat.stack.createKey({ disabled: true })).key,
      text: "disabled",
    },
  ])("throws the status and the words for $name", async ({ status, key, text }) => {
    const error = await catchError(create({ apiKey: await key(), maxRetries: 2 }).invoke("hi"));
    expect(error["status"]).toBe(status);
    expect(String(error["message"])).toContain(text);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("carries an image, and forces a tool", async () => {
    chat.upstream.answer(messageAnswer({ content: "No." }));
    const url = "data:image/png;base64,iVBORw0KGgo=";
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: { url } },
    ];
    const model = create().bindTools([weather], { tool_choice: "get_weather" });
    await model.invoke([new HumanMessage({ content })]);
    expect(chat.upstream.lastRequest.body).toMatchObject({
      messages: [{ role: "user", content }],
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
  });

  // The old ChatAnthropic looks at the signal when the next event comes, and none comes here.
  it.skipIf(isOldAnthropic)(
    "closes the upstream's connection when the caller gives a stream up",
    async () => {
      chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
      const given = new AbortController();
      const error = await catchError(
        (async () => {
          for await (const chunk of await create().stream("hi", { signal: given.signal })) {
            if (chunk.text === "one") given.abort();
          }
        })(),
      );
      expect(String(error["message"])).toMatch(/abort/iu);
      await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
    },
  );

  it("throws an error in a stream that has begun", async () => {
    const broken = { error: { message: "out of memory", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), broken], done: false });
    const error = await catchError(create().stream("hi").then(readStream));
    expect(String(error["message"])).toContain("The model server returned an unusable response");
  });

  it("throws an upstream's 400 with its words, without a retry", async () => {
    chat.upstream.answer({ kind: "json", status: 400, body: openaiError("temperature is out of range") });
    const error = await catchError(create({ maxRetries: 2 }).invoke("hi"));
    expect(error["status"]).toBe(400);
    expect(String(error["message"])).toContain("temperature is out of range");
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("waits out a 429", async () => {
    const key = await createDrainedKey(chat);
    const message = await create({ apiKey: key, maxRetries: 3 }).invoke("hello big world");
    expect(message.text).toBe("hello big world");
  });

  it("waits out a model that starts", async () => {
    const starting = { kind: "json" as const, status: 503, body: openaiError("loading") };
    chat.upstream.answerNext({ ...starting, headers: { "retry-after": "1" } });
    expect((await create({ maxRetries: 2 }).invoke("hello big world")).text).toBe("hello big world");
    expect(chat.upstream.requests).toHaveLength(2);
  });
});
