/** What upstreams answer that have run tools: three searches in a message, one and a container in a response. */
import { namedEvent } from "../support/native-exchange.ts";
import { type ScriptedAnswer, textCompletion } from "../support/scripted-answer.ts";

/** Of 10 tokens at 100 microcents and 20 at 400. */
export const TOKENS_COST = 9_000;
const USAGE = { input_tokens: 10, output_tokens: 20 };
export const SEARCHES = { ...USAGE, server_tool_use: { web_search_requests: 3 } };
const SEARCH_BLOCK = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "x" } };
export const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "x",
  content: [SEARCH_BLOCK, { type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: SEARCHES,
};
export const CALLS = [
  { type: "web_search_call", id: "w1", status: "completed", action: { type: "search", query: "x" } },
  {
    type: "web_search_call",
    id: "w2",
    status: "completed",
    action: { type: "open_page", url: "https://a.b" },
  },
  { type: "code_interpreter_call", id: "c1", status: "completed", container_id: "cntr_1" },
  { type: "message", id: "m1", role: "assistant", content: [{ type: "output_text", text: "Hi" }] },
];
export const RESPONSE = {
  id: "r1",
  object: "response",
  status: "completed",
  model: "x",
  output: CALLS,
  usage: USAGE,
};
export const SEARCH_TOOL = { type: "web_search_20250305", name: "web_search" };

export const json = (body: object): ScriptedAnswer => ({ kind: "json", body });
export const stream = (...pieces: string[]): ScriptedAnswer => ({
  kind: "bytes",
  headers: { "content-type": "text/event-stream" },
  pieces,
});
export const messageEvents = [
  namedEvent("message_start", {
    message: { ...MESSAGE, content: [], usage: { ...USAGE, output_tokens: 1 } },
  }),
  namedEvent("content_block_start", { index: 0, content_block: SEARCH_BLOCK }),
  namedEvent("content_block_stop", { index: 0 }),
  namedEvent("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
  namedEvent("content_block_delta", { index: 1, delta: { type: "text_delta", text: "Hi" } }),
  namedEvent("content_block_stop", { index: 1 }),
  namedEvent("message_delta", { delta: { stop_reason: "end_turn" }, usage: SEARCHES }),
  namedEvent("message_stop"),
];
export const responseEvents = [
  namedEvent("response.created", { sequence_number: 0, response: { ...RESPONSE, output: [], usage: null } }),
  ...CALLS.map((item, index) =>
    namedEvent("response.output_item.done", { sequence_number: index + 1, output_index: index, item }),
  ),
  namedEvent("response.completed", { sequence_number: 9, response: RESPONSE }),
];
export const COMPLETION = textCompletion("Hi", null, {
  usage: { prompt_tokens: 10, completion_tokens: 20, server_tool_use: { web_search_requests: 3 } },
});
