import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { withPython } from "../support/python.ts";
import { textChunk } from "../support/scripted-answer.ts";
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

const chat = withChatStack();
const player = withPython("openai_chat.py");
const TOOL = { type: "function", name: "get_weather", parameters: WEATHER_SCHEMA, strict: false };

/** What the caller of the Python SDK sees. */
function call(scenario: string, input: object = {}): Promise<unknown> {
  const common = { base_url: chat.stack.baseUrl, api_key: chat.key.key, model: CHAT_MODEL };
  return player.play(scenario, { ...common, ...input });
}

describe("responses of openai for Python", () => {
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
      message: expect.stringContaining("gave no usable answer") as string,
    });
  });
});
