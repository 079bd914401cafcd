import type { ResponseInputItem } from "openai/resources/responses/responses";
import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { messageParams, SDKS } from "./anthropic-sdks.ts";
import {
  deltaStream,
  messageAnswer,
  PARIS,
  ROME,
  WEATHER_SCHEMA,
  WEATHER_TOOL,
  formatCall,
} from "./chat-answers.ts";
import { createOpenAi, OPENAI_SDKS } from "./openai-sdks.ts";

const chat = withSharedChatStack();

/** As Gemini signs its first call of several, and as OpenRouter tells of reasoning that only its maker reads. */
const SIGNED = { extra_content: { google: { thought_signature: "SIG-GEMINI" } } };
const DETAILS = [
  { type: "reasoning.text", text: "hm", signature: "SIG-OR", format: "anthropic-claude-v1", index: 0 },
  { type: "reasoning.encrypted", data: "ENC-OR", id: "rs_1", index: 1 },
];
/** As LiteLLM tells of Anthropic's. */
const BLOCKS = [{ type: "thinking", thinking: "hm", signature: "SIG-LL" }];
const DELTAS = [
  { reasoning: "hm", reasoning_details: DETAILS, thinking_blocks: BLOCKS },
  { tool_calls: [{ index: 0, ...formatCall(PARIS), ...SIGNED }] },
  { tool_calls: [{ index: 1, ...formatCall(ROME) }] },
];
const SENT = {
  reasoning_details: DETAILS,
  thinking_blocks: BLOCKS,
  tool_calls: [{ ...formatCall(PARIS), ...SIGNED }, formatCall(ROME)],
};

function sentAssistant(): unknown {
  const messages = chat.upstream.lastRequest.body?.["messages"] as { role: string }[];
  return messages.find(({ role }) => role === "assistant");
}

describe("a model that wants its reasoning back with its calls", () => {
  it.each(SDKS)("[response.call_reasoning] gets it from $name, after a stream", async (sdk) => {
    const client = sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey: chat.key.key });
    chat.upstream.answerNext(deltaStream(DELTAS, "tool_calls"));
    const { content } = await client.messages
      .stream(messageParams({ tools: [WEATHER_TOOL] }) as never)
      .finalMessage();
    const results = [PARIS, ROME].map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "r" }));
    const messages = [
      { role: "user", content: "hi" },
      { role: "assistant", content },
      { role: "user", content: results },
    ];
    chat.upstream.answerNext(messageAnswer({ content: "Sunny." }));
    await client.messages.create(messageParams({ tools: [WEATHER_TOOL], messages }));
    expect(sentAssistant()).toMatchObject(SENT);
  });

  it.each(OPENAI_SDKS)("[responses.items.call_reasoning] gets it from $name, after a stream", async (sdk) => {
    const client = createOpenAi(sdk, chat);
    const tool = {
      type: "function" as const,
      name: "get_weather",
      parameters: WEATHER_SCHEMA,
      strict: false,
    };
    const common = { model: CHAT_MODEL, tools: [tool] };
    chat.upstream.answerNext(deltaStream(DELTAS, "tool_calls"));
    const { output } = await client.responses
      .stream({ ...common, input: "hi", include: ["reasoning.encrypted_content"] })
      .finalResponse();
    const results = [PARIS, ROME].map(({ id }): ResponseInputItem => ({
      type: "function_call_output",
      call_id: id,
      output: "r",
    }));
    chat.upstream.answerNext(messageAnswer({ content: "Sunny." }));
    const input = [{ role: "user", content: "hi" }, ...output, ...results] as ResponseInputItem[];
    await client.responses.create({ ...common, input });
    expect(sentAssistant()).toMatchObject(SENT);
  });
});
