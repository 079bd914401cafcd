/** Short ways through the translations that pass through, for their tests. */
import type { Answer, AnswerOutput, ClientRequest } from "../../src/data-path/translation/client-protocol.ts";
import { createModel, decode, encode, ESTIMATED_INPUT_TOKENS } from "./messages-exchange.ts";
import { parseWith } from "./parse-with.ts";

export type NativeProtocol = "messages" | "responses";

const BODY = {
  messages: { model: "acme/echo", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] },
  responses: { model: "acme/echo", input: "Hello" },
};

export function parseNative(name: NativeProtocol, body: object | string = {}): ClientRequest {
  const text = typeof body === "string" ? body : JSON.stringify({ ...BODY[name], ...body });
  return parseWith(name, encode(text), name);
}

export function createNativeAnswer(name: NativeProtocol, body: object = { stream: true }): Answer {
  return parseNative(name, body).createAnswer({
    model: createModel(),
    estimatedInputTokens: ESTIMATED_INPUT_TOKENS,
    nowMs: () => 1_000,
    requestId: "req_1",
  });
}

export interface NativeStream {
  readonly text: string;
  readonly last: AnswerOutput;
  readonly answer: Answer;
}

/** Pushes the pieces of an upstream's stream, then its end. */
export function runNativeStream(
  name: NativeProtocol,
  pieces: readonly (string | Uint8Array)[],
): NativeStream {
  const answer = createNativeAnswer(name);
  const outputs = pieces.map((piece) => answer.push(typeof piece === "string" ? encode(piece) : piece));
  const last = answer.end();
  return { text: [...outputs, last].map(({ bytes }) => decode(bytes)).join(""), last, answer };
}

/** One event, as Anthropic and OpenAI write them. */
export function namedEvent(type: string, fields: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** What an upstream that speaks messages streams, with things in it that nobody here knows. */
export function messagesStream(model = "claude-upstream"): string {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 7,
    cache_read_input_tokens: 5,
    cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 3 },
    output_tokens: 1,
    service_tier: "standard",
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], usage, new: "é" };
  return [
    namedEvent("message_start", { message }),
    namedEvent("content_block_start", {
      index: 0,
      content_block: { type: "thinking", thinking: "", signature: "" },
    }),
    namedEvent("ping"),
    namedEvent("content_block_delta", { index: 0, delta: { type: "thinking_delta", thinking: "Hm" } }),
    namedEvent("content_block_delta", { index: 0, delta: { type: "signature_delta", signature: "c2ln" } }),
    namedEvent("content_block_stop", { index: 0 }),
    ": a comment\n\n",
    namedEvent("content_block_start", { index: 1, content_block: { type: "text", text: "" } }),
    namedEvent("content_block_delta", { index: 1, delta: { type: "text_delta", text: "Grüße 👋" } }),
    namedEvent("content_block_stop", { index: 1 }),
    namedEvent("thing_of_tomorrow", { model, n: 12345678901234567890n.toString() }),
    namedEvent("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 20 },
    }),
    namedEvent("message_stop"),
  ].join("");
}

/** What an upstream that speaks responses streams. */
export function responsesStream(model = "gpt-upstream"): string {
  const response = {
    id: "resp_1",
    object: "response",
    model,
    status: "in_progress",
    output: [],
    usage: null,
  };
  const item = { id: "msg_1", type: "message", role: "assistant", status: "in_progress", content: [] };
  const done = {
    ...item,
    status: "completed",
    content: [{ type: "output_text", text: "Grüße 👋", annotations: [] }],
  };
  const usage = {
    input_tokens: 22,
    input_tokens_details: { cached_tokens: 5 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 3 },
    total_tokens: 42,
  };
  return [
    namedEvent("response.created", { sequence_number: 0, response }),
    namedEvent("response.in_progress", { sequence_number: 1, response }),
    namedEvent("response.output_item.added", { sequence_number: 2, output_index: 0, item }),
    namedEvent("response.output_text.delta", { sequence_number: 3, item_id: "msg_1", delta: "Grüße 👋" }),
    namedEvent("response.thing_of_tomorrow", { sequence_number: 4, model }),
    namedEvent("response.output_item.done", { sequence_number: 5, output_index: 0, item: done }),
    namedEvent("response.completed", {
      sequence_number: 6,
      response: { ...response, status: "completed", output: [done], usage },
    }),
  ].join("");
}
