import type { APICallError } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { withSharedChatStack } from "../support/chat-stack.ts";
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
  textStream,
} from "./chat-answers.ts";
import { proves } from "./proofs.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";
import { PROVIDERS, type VercelAi } from "./vercel-ai-sdks.ts";
import { monthLimits } from "../support/month-limits.ts";

const PNG = "iVBORw0KGgo=";
const PDF = "JVBERi0xLjQK";
const chat = withSharedChatStack();
// It warns that the model's limit of output tokens is not known to it.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const tools = {
  get_weather: {
    description: "The weather in a city",
    inputSchema: z.object({ city: z.string(), days: z.array(z.number()).optional() }),
    execute: ({ city }: { city: string }) => `21 °C in ${city}`,
  },
};

async function catchErrorOf({ ai }: VercelAi, promise: PromiseLike<unknown>): Promise<APICallError> {
  try {
    await promise;
  } catch (thrown) {
    if (ai.APICallError.isInstance(thrown)) return thrown;
    throw thrown;
  }
  throw new Error("the SDK threw nothing");
}

describe.each(PROVIDERS)("$sdk.name with $name", ({ sdk, route, createModel }) => {
  proves(sdk.proven, route);
  const { generateText, Output, stepCountIs, streamText } = sdk.ai;
  const create = (apiKey = chat.key.key) => createModel(`${chat.stack.baseUrl}/v1`, apiKey);
  const catchCallError = (promise: PromiseLike<unknown>) => catchErrorOf(sdk, promise);

  it("generates text, with usage", async () => {
    chat.upstream.answer(messageAnswer({ content: "Hello." }));
    const result = await generateText({
      model: create(),
      system: "Be brief.",
      prompt: "Hi.",
      maxOutputTokens: 100,
    });
    expect(result.text).toBe("Hello.");
    expect(result.finishReason).toBe("stop");
    expect(result.usage).toMatchObject({ inputTokens: 11, outputTokens: 2 });
    expect(result.usage.inputTokenDetails.cacheReadTokens).toBe(4);
    expect(chat.upstream.lastRequest.body?.["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi." },
    ]);
  });

  it("streams text, with usage", async () => {
    chat.upstream.answer(textStream("Hel", "lo."));
    const result = streamText({ model: create(), prompt: "Hi." });
    const texts: string[] = [];
    for await (const text of result.textStream) texts.push(text);
    expect(texts).toEqual(["Hel", "lo."]);
    expect(await result.usage).toMatchObject({ inputTokens: 11, outputTokens: 2 });
    expect(await result.finishReason).toBe("stop");
  });

  it("runs tools in parallel until the model is done", async () => {
    chat.upstream.answerNext(callAnswer(PARIS, ROME), messageAnswer({ content: "Sunny." }));
    const result = await generateText({
      model: create(),
      tools,
      prompt: "And in Paris and Rome?",
      stopWhen: stepCountIs(3),
    });
    expect(result.text).toBe("Sunny.");
    expect(result.steps).toHaveLength(2);
    expect(chat.upstream.lastRequest.body?.["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: PARIS.id }, { id: ROME.id }] },
      { role: "tool", tool_call_id: PARIS.id, content: expect.stringContaining("21 °C in Paris") as string },
      { role: "tool", tool_call_id: ROME.id, content: expect.stringContaining("21 °C in Rome") as string },
    ]);
  });

  it("puts streamed tool calls together and runs them", async () => {
    chat.upstream.answerNext(
      deltaStream([...callDeltas(PARIS, 0, 3), ...callDeltas(ROME, 1, 3)], "tool_calls"),
      textStream("Sunny."),
    );
    const result = streamText({
      model: create(),
      tools,
      prompt: "And in Paris and Rome?",
      stopWhen: stepCountIs(3),
    });
    expect(await result.text).toBe("Sunny.");
    const [first] = await result.steps;
    expect(first?.toolCalls).toMatchObject([
      { toolCallId: PARIS.id, input: { city: "Paris" } },
      { toolCallId: ROME.id, input: { city: "Rome", days: [1, 2] } },
    ]);
  });

  it("carries an image and a PDF, and forces a tool", async () => {
    chat.upstream.answer(callAnswer(PARIS));
    const content = [
      { type: "text" as const, text: "What are these?" },
      { type: "image" as const, image: PNG, mediaType: "image/png" },
      { type: "file" as const, data: PDF, mediaType: "application/pdf", filename: "bill.pdf" },
    ];
    await generateText({
      model: create(),
      messages: [{ role: "user", content }],
      tools,
      toolChoice: { type: "tool", toolName: "get_weather" },
    });
    expect(chat.upstream.lastRequest.body).toMatchObject({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What are these?" },
            { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
            { type: "file", file: { file_data: `data:application/pdf;base64,${PDF}` } },
          ],
        },
      ],
      tool_choice: { type: "function", function: { name: "get_weather" } },
    });
  });

  it("closes the upstream's connection when the caller gives a stream up", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const given = new AbortController();
    const result = streamText({ model: create(), prompt: "Hi.", abortSignal: given.signal });
    const types: string[] = [];
    for await (const part of result.fullStream) {
      types.push(part.type);
      if (part.type === "text-delta") given.abort();
    }
    expect(types.at(-1)).toBe("abort");
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
  });

  it("parses structured output", async () => {
    chat.upstream.answer(messageAnswer({ content: '{"city":"Oslo","people":7}' }));
    const schema = z.object({ city: z.string(), people: z.number() });
    const result = await generateText({
      model: create(),
      prompt: "Oslo?",
      output: Output.object({ schema }),
    });
    expect(result.output).toEqual({ city: "Oslo", people: 7 });
  });

  it.each([
    {
      name: "a made-up key",
      expected: { statusCode: 401, isRetryable: false },
      key: () => "sk-igw-made-up",
      text: "Invalid API key",
    },
    {
      name: "a cap that is reached",
      expected: { statusCode: 402, isRetryable: false },
      key: async () => (await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) })).key,
      text: "Monthly hard cap of 0.00 USD",
    },
  ])("throws APICallError with the gateway's words for $name", async ({ expected, key, text }) => {
    const error = await catchCallError(generateText({ model: create(await key()), prompt: "Hi." }));
    expect(error).toMatchObject(expected);
    expect(error.message).toContain(text);
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("throws APICallError with an upstream's words, once", async () => {
    chat.upstream.answer({ kind: "json", status: 400, body: openaiError("temperature is out of range") });
    const error = await catchCallError(generateText({ model: create(), prompt: "Hi." }));
    expect(error).toMatchObject({ statusCode: 400, isRetryable: false });
    expect(error.message).toContain("temperature is out of range");
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("waits out a 429 and a model that starts", async () => {
    const key = await createDrainedKey(chat);
    const starting = { kind: "json" as const, status: 503, body: openaiError("loading") };
    chat.upstream.answerNext({ ...starting, headers: { "retry-after": "1" } });
    chat.upstream.answer(messageAnswer({ content: "Awake." }));
    const result = await generateText({ model: create(key), prompt: "Hi.", maxRetries: 3 });
    expect(result.text).toBe("Awake.");
    expect(chat.upstream.requests).toHaveLength(2);
  });

  it("passes on an error in a stream that has begun", async () => {
    const broken = { error: { message: "out of memory", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), broken], done: false });
    const errors: unknown[] = [];
    const result = streamText({
      model: create(),
      prompt: "Hi.",
      onError: ({ error }) => void errors.push(error),
    });
    await result.consumeStream();
    expect(errors).toHaveLength(1);
    expect(JSON.stringify(errors[0])).toContain("api_error");
  });
});

describe.each(PROVIDERS.filter(({ name }) => name === "anthropic"))("$sdk.name with $name", (provider) => {
  const { sdk, route, createModel } = provider;
  proves(sdk.proven, route);
  const { stepCountIs, streamText } = sdk.ai;
  const create = () => createModel(`${chat.stack.baseUrl}/v1`, chat.key.key);

  it("puts tool calls together that an upstream interleaves", async () => {
    const calls = interleave(callDeltas(PARIS, 0, 3), callDeltas(ROME, 1, 3));
    chat.upstream.answerNext(deltaStream(calls, "tool_calls"));
    const { get_weather } = tools;
    const result = streamText({ model: create(), tools: { get_weather }, prompt: "Both?" });
    expect(await result.toolCalls).toMatchObject([
      { toolCallId: PARIS.id, input: { city: "Paris" } },
      { toolCallId: ROME.id, input: { city: "Rome" } },
    ]);
  });

  it("shows reasoning, and gives it back with the next turn", async () => {
    chat.upstream.answerNext(
      deltaStream([{ reasoning_content: "Hm, " }, { reasoning_content: "well." }, ...callDeltas(PARIS, 0)]),
      textStream("Sunny."),
    );
    const result = streamText({
      model: create(),
      tools,
      prompt: "Paris?",
      stopWhen: stepCountIs(3),
      providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 2_000 } } },
    });
    expect(await result.text).toBe("Sunny.");
    expect((await result.steps)[0]?.reasoningText).toBe("Hm, well.");
    expect(chat.upstream.lastRequest.body?.["messages"]).toMatchObject([
      { role: "user" },
      { role: "assistant", reasoning_content: "Hm, well.", tool_calls: [{ id: PARIS.id }] },
      { role: "tool", tool_call_id: PARIS.id },
    ]);
  });
});
