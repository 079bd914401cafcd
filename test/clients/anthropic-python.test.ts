import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { textChunk } from "../support/scripted-answer.ts";
import { waitFor } from "../support/wait.ts";
import { withPythonSdk, PYTHON_SDKS } from "./anthropic-python-sdks.ts";
import { messageParams } from "./anthropic-sdks.ts";
import {
  callAnswer,
  callDeltas,
  deltaStream,
  formatCall,
  interleave,
  messageAnswer,
  PARIS,
  ROME,
  WEATHER_TOOL,
} from "./chat-answers.ts";
import { proves } from "./proofs.ts";

const PNG = "iVBORw0KGgo=";
const PDF = "JVBERi0xLjQK";
const chat = withSharedChatStack();

function sentMessages(): object[] {
  return chat.upstream.lastRequest.body?.["messages"] as object[];
}

describe.each(PYTHON_SDKS)("$name", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const call = withPythonSdk(chat, sdk);

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
    // Its key went to the gateway in one of the two headers, and no further.
    expect(JSON.stringify(chat.upstream.lastRequest.headers)).not.toMatch(/x-api-key|anthropic|sk-igw/u);
  });

  it("sends a conversation of several turns, with a system prompt in blocks", async () => {
    const block = { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } };
    const messages = [
      { role: "user", content: "one" },
      { role: "assistant", content: [{ type: "text", text: "two" }] },
      { role: "user", content: [{ type: "text", text: "three", cache_control: { type: "ephemeral" } }] },
    ];
    await call("message", { system: [block, { type: "text", text: "Be kind." }], messages });
    expect(sentMessages()).toEqual([
      { role: "system", content: "Be brief.\n\nBe kind." },
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: "three" },
    ]);
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
      usage: { output_tokens: 3 },
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
    const fields = { tools: [WEATHER_TOOL], thinking: { type: "enabled", budget_tokens: 5_000 } };
    expect(await call("final_message", fields)).toMatchObject({
      content: [
        { type: "thinking", thinking: "Hm.", signature: expect.stringMatching(/./u) as string },
        { type: "text", text: "I look." },
        { type: "tool_use", id: PARIS.id, input: { city: "Paris" } },
        { type: "tool_use", id: ROME.id, input: { city: "Rome", days: [1, 2] } },
      ],
      stop_reason: "tool_use",
    });
    expect(chat.upstream.lastRequest.body).toMatchObject({ reasoning_effort: "medium" });
  });

  it.each([
    { name: "shown", thinking: { type: "enabled", budget_tokens: 5_000 }, shown: "Hm.", sent: "Hm." },
    { name: "omitted", thinking: { type: "adaptive", display: "omitted" }, shown: "", sent: "Hm." },
    { name: "turned off", thinking: { type: "disabled" }, shown: null, sent: undefined },
  ])("gives thinking back that is $name", async ({ thinking, shown, sent }) => {
    chat.upstream.answerNext(
      deltaStream([{ reasoning_content: "Hm." }, { content: "One." }]),
      messageAnswer({ content: "Two." }),
    );
    const { turns } = (await call("replay", { thinking })) as { turns: { content: object[] }[] };
    const thoughts = shown === null ? [] : [{ type: "thinking", thinking: shown }];
    expect(turns[0]?.content).toMatchObject([...thoughts, { type: "text", text: "One." }]);
    const reasoning = sent === undefined ? {} : { reasoning_content: sent };
    expect(sentMessages()[1]).toEqual({ role: "assistant", content: "One.", ...reasoning });
  });

  it("carries images, PDFs and results of tools, and forces a tool", async () => {
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } };
    const source = { type: "base64", media_type: "application/pdf", data: PDF };
    const calls = [PARIS, ROME].map(({ id, name }) => ({ type: "tool_use", id, name, input: {} }));
    const messages = [
      { role: "user", content: "Look." },
      { role: "assistant", content: calls },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: PARIS.id, content: [{ type: "text", text: "see" }, image] },
          { type: "tool_result", tool_use_id: ROME.id, content: "no such city", is_error: true },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "document", title: "bill.pdf", source },
          { type: "text", text: "Go on." },
        ],
      },
    ];
    const tool_choice = { type: "tool", name: WEATHER_TOOL.name, disable_parallel_tool_use: true };
    await call("message", { messages, tools: [WEATHER_TOOL], tool_choice });
    expect(sentMessages().slice(2)).toEqual([
      { role: "tool", tool_call_id: PARIS.id, content: "see" },
      { role: "tool", tool_call_id: ROME.id, content: "Error: no such city" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
          { type: "image_url", image_url: { url: "https://example.com/a.png" } },
          { type: "file", file: { filename: "bill.pdf", file_data: `data:application/pdf;base64,${PDF}` } },
          { type: "text", text: "Go on." },
        ],
      },
    ]);
    expect(chat.upstream.lastRequest.body).toMatchObject({
      tool_choice: { type: "function", function: { name: WEATHER_TOOL.name } },
      parallel_tool_calls: false,
    });
  });

  it("parses structured output", async () => {
    chat.upstream.answer(messageAnswer({ content: '{"city":"Oslo","people":7}' }));
    expect(await call("structured")).toEqual({ parsed: { city: "Oslo", people: 7 } });
    expect(chat.upstream.lastRequest.body).toMatchObject({
      response_format: { type: "json_schema", json_schema: { schema: { type: "object" } } },
    });
  });

  it("reads a refusal", async () => {
    chat.upstream.answer(deltaStream([{ refusal: "I can" }, { refusal: "not." }]));
    expect(await call("final_message")).toMatchObject({
      content: [{ type: "text", text: "I cannot." }],
      stop_reason: "refusal",
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
});
