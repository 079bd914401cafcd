import { describe, expect, it } from "vitest";
import { z } from "zod";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { type Anthropic, type Message, messageParams, SDKS, textOf } from "./anthropic-sdks.ts";
import {
  callAnswer,
  callDeltas,
  deltaStream,
  formatCall,
  interleave,
  messageAnswer,
  PARIS,
  ROME,
  textStream,
  WEATHER_SCHEMA,
  WEATHER_TOOL,
} from "./chat-answers.ts";
import { proves } from "./proofs.ts";

const PNG = "iVBORw0KGgo=";
const chat = withSharedChatStack();

const PARIS_USE = { type: "tool_use", id: PARIS.id, name: PARIS.name, input: { city: "Paris" } };
const ROME_USE = { type: "tool_use", id: ROME.id, name: ROME.name, input: { city: "Rome", days: [1, 2] } };

function sentMessages(): object[] {
  return chat.upstream.lastRequest.body?.["messages"] as object[];
}

describe.each(SDKS)("tools of $name", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const client = (): Anthropic => sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey: chat.key.key });
  const params = (fields: object = {}) => messageParams({ tools: [WEATHER_TOOL], ...fields });

  it("go round: declaration, call, result, answer", async () => {
    chat.upstream.answerNext(callAnswer(PARIS));
    const asked = await client().messages.create(params());
    expect(asked).toMatchObject({ content: [PARIS_USE], stop_reason: "tool_use" });
    expect(chat.upstream.lastRequest.body?.["tools"]).toEqual([
      {
        type: "function",
        function: {
          name: "get_weather",
          description: "The weather in a city",
          parameters: WEATHER_SCHEMA,
        },
      },
    ]);
    chat.upstream.answerNext(messageAnswer({ content: "Sunny." }));
    const messages = [
      { role: "user", content: "And in Paris?" },
      { role: "assistant", content: asked.content },
      { role: "user", content: [{ type: "tool_result", tool_use_id: PARIS.id, content: "21 °C" }] },
    ];
    expect(textOf(await client().messages.create(params({ messages })))).toBe("Sunny.");
    expect(sentMessages()).toEqual([
      { role: "user", content: "And in Paris?" },
      { role: "assistant", content: null, tool_calls: [formatCall(PARIS)] },
      { role: "tool", tool_call_id: PARIS.id, content: "21 °C" },
    ]);
  });

  it.each([
    {
      name: "one after the other",
      deltas: [{ content: "Let me see." }, ...callDeltas(PARIS, 0), ...callDeltas(ROME, 1)],
    },
    {
      name: "interleaved",
      deltas: [{ content: "Let me see." }, ...interleave(callDeltas(PARIS, 0), callDeltas(ROME, 1))],
    },
    {
      name: "interleaved, character by character",
      deltas: [{ content: "Let me see." }, ...interleave(callDeltas(PARIS, 0, 1), callDeltas(ROME, 1, 1))],
    },
    {
      name: "each in one chunk",
      deltas: [
        { content: "Let me see." },
        { tool_calls: [{ index: 0, ...formatCall(PARIS) }] },
        { tool_calls: [{ index: 1, ...formatCall(ROME) }] },
      ],
    },
    {
      name: "all in one chunk without indexes",
      deltas: [{ content: "Let me see." }, { tool_calls: [formatCall(PARIS), formatCall(ROME)] }],
    },
  ])("are called in parallel, streamed $name", async ({ deltas }) => {
    chat.upstream.answer(deltaStream(deltas, "tool_calls"));
    const stream = client().messages.stream(params());
    const blocks: unknown[] = [];
    stream.on("contentBlock", (block) => blocks.push(block));
    const message = await stream.finalMessage();
    expect(message.content).toEqual([{ type: "text", text: "Let me see." }, PARIS_USE, ROME_USE]);
    expect(blocks).toEqual(message.content);
    expect(message.stop_reason).toBe("tool_use");
  });

  it("take results with images, errors and texts, in the order of the protocol", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
    const messages = [
      { role: "user", content: "Look." },
      { role: "assistant", content: [PARIS_USE, ROME_USE] },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: PARIS.id, content: [{ type: "text", text: "see" }, image] },
          { type: "tool_result", tool_use_id: ROME.id, content: "no such city", is_error: true },
          { type: "text", text: "Go on." },
        ],
      },
    ];
    await client().messages.create(params({ messages }));
    expect(sentMessages().slice(2)).toEqual([
      { role: "tool", tool_call_id: PARIS.id, content: "see" },
      { role: "tool", tool_call_id: ROME.id, content: "Error: no such city" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "text", text: "Go on." },
        ],
      },
    ]);
  });

  it.each([
    { choice: { type: "auto" }, sent: { tool_choice: "auto" } },
    { choice: { type: "any" }, sent: { tool_choice: "required" } },
    { choice: { type: "none" }, sent: { tool_choice: "none" } },
    {
      choice: { type: "tool", name: "get_weather", disable_parallel_tool_use: true },
      sent: {
        tool_choice: { type: "function", function: { name: "get_weather" } },
        parallel_tool_calls: false,
      },
    },
  ])("are chosen by $choice.type", async ({ choice, sent }) => {
    await client().messages.create(params({ tool_choice: choice }));
    expect(chat.upstream.lastRequest.body).toMatchObject(sent);
  });

  it("are called with an empty object where there are no arguments", async () => {
    chat.upstream.answer((request) =>
      request.body?.["stream"] === true
        ? deltaStream(callDeltas({ ...PARIS, arguments: "" }, 0), "stop")
        : callAnswer({ ...PARIS, arguments: "" }),
    );
    const called = { content: [{ ...PARIS_USE, input: {} }], stop_reason: "tool_use" };
    expect(await client().messages.create(params())).toMatchObject(called);
    expect(await client().messages.stream(params()).finalMessage()).toMatchObject(called);
  });

  it("are not what a text before them ends in: white space is dropped there", async () => {
    chat.upstream.answer(deltaStream([{ content: "\n\n" }, ...callDeltas(PARIS, 0)], "tool_calls"));
    const message = await client().messages.stream(params()).finalMessage();
    expect(message.content).toEqual([PARIS_USE]);
  });
});

describe.each(SDKS)("thinking and structured output of $name", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const client = (): Anthropic => sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey: chat.key.key });
  const THINKING_DELTAS = [
    { reasoning_content: "First, " },
    { reasoning_content: "then." },
    { content: "Done." },
  ];
  const answerThinking = (): void => {
    chat.upstream.answer((request) =>
      request.body?.["stream"] === true
        ? deltaStream(THINKING_DELTAS)
        : messageAnswer({ reasoning_content: "First, then.", content: "Done." }),
    );
  };
  const THOUGHT = {
    type: "thinking",
    thinking: "First, then.",
    signature: expect.stringMatching(/./u) as string,
  };
  const enabled = { thinking: { type: "enabled", budget_tokens: 5_000 }, max_tokens: 10_000 };

  it("shows the reasoning as signed thinking, the same streamed or not", async () => {
    answerThinking();
    const whole = await client().messages.create(messageParams(enabled));
    expect(whole.content).toEqual([THOUGHT, { type: "text", text: "Done." }]);
    expect(chat.upstream.lastRequest.body).toMatchObject({ reasoning_effort: "medium" });
    const streamed = await client().messages.stream(messageParams(enabled)).finalMessage();
    expect(streamed.content).toEqual(whole.content);
  });

  it("gives earlier thinking back to the upstream, and never as text", async () => {
    answerThinking();
    const first = await client().messages.create(messageParams(enabled));
    const messages = [
      { role: "user", content: "one" },
      { role: "assistant", content: first.content },
      { role: "user", content: "two" },
    ] as Message["content"] | object[];
    await client().messages.create(messageParams({ ...enabled, messages }));
    expect(sentMessages()[1]).toEqual({
      role: "assistant",
      content: "Done.",
      reasoning_content: "First, then.",
    });
  });

  it("hides the reasoning where thinking is turned off", async () => {
    answerThinking();
    const params = messageParams({ thinking: { type: "disabled" } });
    const text = [{ type: "text", text: "Done." }];
    expect((await client().messages.create(params)).content).toEqual(text);
    expect(chat.upstream.lastRequest.body).toMatchObject({ reasoning_effort: "none" });
    expect((await client().messages.stream(params).finalMessage()).content).toEqual(text);
  });

  it("keeps thinking, text and tool calls apart in one stream", async () => {
    chat.upstream.answer(
      deltaStream([{ reasoning: "Hm." }, { content: "I look." }, ...callDeltas(PARIS, 0, 3)], "tool_calls"),
    );
    const message = await client()
      .messages.stream(messageParams({ ...enabled, tools: [WEATHER_TOOL] }))
      .finalMessage();
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "Hm." },
      { type: "text", text: "I look." },
      PARIS_USE,
    ]);
  });

  it("carries the schema of a structured output and parses what comes back", async () => {
    const City = z.object({ city: z.string(), people: z.number() });
    chat.upstream.answer((request) =>
      request.body?.["stream"] === true
        ? textStream('{"city":"Oslo",', '"people":7}')
        : messageAnswer({ content: '{"city":"Oslo","people":7}' }),
    );
    const params = messageParams({
      model: CHAT_MODEL,
      output_config: { format: zodOutputFormat(City), effort: "low" },
    });
    const message = await client().messages.parse(params);
    expect(message.parsed_output).toEqual({ city: "Oslo", people: 7 });
    expect(chat.upstream.lastRequest.body).toMatchObject({
      reasoning_effort: "low",
      response_format: {
        type: "json_schema",
        json_schema: { strict: true, schema: { type: "object", required: ["city", "people"] } },
      },
    });
    const streamed = await client().messages.stream(params).finalMessage();
    expect(textOf(streamed)).toBe('{"city":"Oslo","people":7}');
  });
});
