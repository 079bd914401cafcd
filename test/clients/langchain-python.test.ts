import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import type { PythonPlayer } from "../support/python.ts";
import { openaiError, textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { withLangChainPythons } from "./openai-python-sdks.ts";
import { proves } from "./proofs.ts";
import { createDrainedKey } from "./rate-limit-cases.ts";
import { callAnswer, callDeltas, deltaStream, formatCall, interleave } from "./chat-answers.ts";
import { messageAnswer, PARIS, ROME, textStream, USAGE } from "./chat-answers.ts";
import { monthLimits } from "../support/month-limits.ts";

const chat = withSharedChatStack();
const PNG = "iVBORw0KGgo=";

function sentMessages(): object[] {
  return chat.upstream.lastRequest.body?.["messages"] as object[];
}

function isStreaming(body: Readonly<Record<string, unknown>> | null | undefined): boolean {
  return body?.["stream"] === true;
}

/** Plays one scenario of `langchain_chat.py`. */
type Call = (scenario: string, input?: object) => Promise<unknown>;

const LANGCHAINS = withLangChainPythons();

function withLangChain(player: PythonPlayer, modelClass: string): Call {
  return (scenario, input = {}) =>
    player.play(scenario, {
      model_class: modelClass,
      base_url: chat.stack.baseUrl,
      api_key: chat.key.key,
      model: CHAT_MODEL,
      messages: [{ role: "user", content: "hello big world" }],
      ...input,
    });
}

const MODELS = LANGCHAINS.flatMap(({ name, isCurrent, player, provenAnthropic, provenOpenai }) => {
  const common = { name, isCurrent, player };
  return [
    {
      ...common,
      modelClass: "ChatAnthropic",
      isOldAnthropic: !isCurrent,
      proven: provenAnthropic,
      route: "/v1/messages",
    },
    {
      ...common,
      modelClass: "ChatOpenAI",
      isOldAnthropic: false,
      proven: provenOpenai,
      route: "/v1/chat/completions",
    },
  ] as const;
});

describe.each(MODELS)("$modelClass of $name", ({ proven, route, ...model }) => {
  const { player, modelClass, isCurrent, isOldAnthropic } = model;
  proves(proven, route);
  const call = withLangChain(player, modelClass);

  it("invokes, with usage", async () => {
    chat.upstream.answer(messageAnswer({ content: "Hello." }));
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi." },
      { role: "assistant", content: "Yes?" },
      { role: "user", content: "Hi again." },
    ];
    // LangChain counts cached tokens among the input tokens, whatever the protocol does.
    expect(await call("invoke", { messages })).toMatchObject({
      text: "Hello.",
      usage: { input_tokens: 11, output_tokens: 2, input_token_details: { cache_read: 4 } },
    });
    expect(sentMessages()).toEqual(messages);
  });

  it("gets to concurrent calls each its own answer", async () => {
    expect(await call("invoke_many")).toEqual(Array.from({ length: 8 }, (_, index) => `number ${index}`));
  });

  it("streams, with usage that is not zero", async () => {
    chat.upstream.answer(textStream("Hel", "lo."));
    const options = modelClass === "ChatOpenAI" ? { stream_usage: true } : {};
    const answer = (await call("stream", { options })) as { usage: { input_tokens: number } };
    expect(answer).toMatchObject({ text: "Hello.", usage: { output_tokens: USAGE.completionTokens } });
    expect(answer.usage.input_tokens).toBeGreaterThan(0);
  });

  it.each([
    { name: "whole", streams: false },
    { name: "streamed, the calls interleaved", streams: true },
  ])("goes a round of parallel tools, $name", async ({ streams }) => {
    const deltas = interleave(callDeltas(PARIS, 0, 3), callDeltas(ROME, 1, 3));
    chat.upstream.answerNext(
      streams ? deltaStream(deltas, "tool_calls") : callAnswer(PARIS, ROME),
      streams ? textStream("Sunny.") : messageAnswer({ content: "Sunny." }),
    );
    expect(await call("tool_round", { streams })).toMatchObject([
      {
        tool_calls: [
          { id: PARIS.id, name: "get_weather", args: { city: "Paris" } },
          { id: ROME.id, name: "get_weather", args: { city: "Rome", days: [1, 2] } },
        ],
      },
      { text: "Sunny.", tool_calls: [] },
    ]);
    expect(sentMessages()).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: PARIS.id }, { id: ROME.id }] },
      { role: "tool", tool_call_id: PARIS.id, content: "21 °C in Paris" },
      { role: "tool", tool_call_id: ROME.id, content: "21 °C in Rome" },
    ]);
  });

  it("forces a tool, one call at a time", async () => {
    chat.upstream.answer(messageAnswer({ content: "No." }));
    await call("tool_round", { bind: { tool_choice: "get_weather", parallel_tool_calls: false } });
    expect(chat.upstream.lastRequest.body).toMatchObject({
      tool_choice: { type: "function", function: { name: "get_weather" } },
      parallel_tool_calls: false,
    });
  });

  it("reads structured output by a tool", async () => {
    chat.upstream.answer(callAnswer({ id: "call_1", name: "City", arguments: '{"city":"Oslo","people":7}' }));
    expect(await call("structured", { method: "function_calling" })).toEqual({ city: "Oslo", people: 7 });
  });

  // The old ChatAnthropic knows no schemas.
  it.skipIf(isOldAnthropic)("reads structured output by a schema", async () => {
    chat.upstream.answer(messageAnswer({ content: '{"city":"Oslo","people":7}' }));
    expect(await call("structured", { method: "json_schema" })).toEqual({ city: "Oslo", people: 7 });
    expect(chat.upstream.lastRequest.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { schema: { type: "object" } } },
    });
  });

  it("carries an image", async () => {
    const data = isCurrent ? { base64: PNG } : { source_type: "base64", data: PNG };
    const image = { type: "image", mime_type: "image/png", ...data };
    await call("invoke", {
      messages: [{ role: "user", content: [{ type: "text", text: "What is it?" }, image] }],
    });
    expect(sentMessages()).toMatchObject([
      {
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
    ]);
  });

  // The old ChatAnthropic leaves the connection to the garbage collector.
  it.skipIf(isOldAnthropic)("closes the upstream's connection when the caller leaves a stream", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    expect(await call("abort")).toBe("one");
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
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
  ])("raises the status and the words for $name", async ({ status, key, text }) => {
    const raised = await call("error", { api_key: await key(), max_retries: 2 });
    expect(raised).toMatchObject({ status, message: expect.stringContaining(text) as string });
    expect(chat.upstream.requests).toHaveLength(0);
  });

  it("raises an upstream's 400 with its words, without a retry", async () => {
    chat.upstream.answer({ kind: "json", status: 400, body: openaiError("temperature is out of range") });
    expect(await call("error", { max_retries: 2 })).toMatchObject({
      status: 400,
      message: expect.stringContaining("temperature is out of range") as string,
    });
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("raises an error in a stream that has begun", async () => {
    const broken = { error: { message: "out of memory", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [textChunk("one"), broken], done: false });
    const raised = (await call("error", { streams: true })) as { bases: string[] };
    expect(raised.bases).toContain(isOldAnthropic ? "ResponseNotRead" : "APIError");
  });

  it("waits out a 429 and a model that starts", async () => {
    const key = await createDrainedKey(chat);
    const starting = { kind: "json", status: 503, body: openaiError("loading") } as const;
    chat.upstream.answerNext({ ...starting, headers: { "retry-after": "1" } });
    expect(await call("invoke", { api_key: key, max_retries: 4 })).toMatchObject({
      text: "hello big world",
    });
    expect(chat.upstream.requests).toHaveLength(2);
  });
});

describe.each(LANGCHAINS)("thinking of ChatAnthropic of $name", ({ player, isCurrent, provenAnthropic }) => {
  proves(provenAnthropic, "/v1/messages");
  const call = withLangChain(player, "ChatAnthropic");

  const isShown = { name: "shown", thinking: { type: "enabled", budget_tokens: 5_000 }, shown: "Hm, well." };
  const isOmitted = { name: "omitted", thinking: { type: "adaptive", display: "omitted" }, shown: "" };
  // The old one gives back no omitted thinking.
  it.each(isCurrent ? [isShown, isOmitted] : [isShown])(
    "goes back to the upstream when it is $name",
    async ({ thinking, shown }) => {
      const reasoning = [{ reasoning_content: "Hm, " }, { reasoning_content: "well." }];
      chat.upstream.answerNext(
        deltaStream([...reasoning, ...callDeltas(PARIS, 0)], "tool_calls"),
        textStream("Sunny."),
      );
      const turns = (await call("tool_round", { streams: true, options: { thinking } })) as {
        content: object[];
      }[];
      expect(turns[0]?.content).toMatchObject([
        { type: "thinking", ...(shown !== "" && { thinking: shown }) },
        { type: "tool_use" },
      ]);
      expect(sentMessages()[1]).toMatchObject({
        role: "assistant",
        reasoning_content: "Hm, well.",
        tool_calls: [formatCall(PARIS)],
      });
      expect(isStreaming(chat.upstream.lastRequest.body)).toBe(true);
    },
  );
});
