import { GatewayError } from "../../contract/errors.ts";
import { isJsonObject } from "../../text/json-object.ts";

/** How an answer came to its end, in the words of OpenAI's chat completions. */
export type EndReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Every `finish_reason` that is an end of an answer, in lower case, by the words of OpenAI, Anthropic, Cohere, Gemini,
 * Mistral, TGI, vLLM and Zhipu. The list is closed: what is not in it (`abort`, `error`, `network_error`,
 * `insufficient_system_resource`) says that the server broke off.
 */
const END_REASONS: Readonly<Record<string, EndReason>> = {
  stop: "stop",
  eos: "stop",
  eos_token: "stop",
  stop_sequence: "stop",
  end_turn: "stop",
  complete: "stop",
  completed: "stop",
  length: "length",
  max_tokens: "length",
  max_length: "length",
  max_output_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  repetition: "length",
  tool_calls: "tool_calls",
  tool_call: "tool_calls",
  tool_use: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter",
  content_filtered: "content_filter",
  guardrail_intervened: "content_filter",
  refusal: "content_filter",
  sensitive: "content_filter",
  error_toxic: "content_filter",
  safety: "content_filter",
  recitation: "content_filter",
  blocklist: "content_filter",
  prohibited_content: "content_filter",
  spii: "content_filter",
};

/** The most of an unknown reason that is logged. */
const MAX_TOLD_CHARACTERS = 40;

/** Whether the answer ended: false where the server broke it off. @param finishReason The upstream's, not empty. */
export function isEndReason(finishReason: string): boolean {
  return Object.hasOwn(END_REASONS, finishReason.toLowerCase());
}

/**
 * Whether, behind this chunk, a stream has had the usage that ends it: OpenAI's own comes without a choice, behind the last
 * of them, and says of a stream without a `finish_reason` that it is whole. One before the answer ends nothing.
 * @param before The same, before this chunk.
 * @see https://platform.openai.com/docs/api-reference/chat-streaming (`stream_options.include_usage`)
 */
export function hasEndUsage(chunk: unknown, before: boolean): boolean {
  if (!isJsonObject(chunk)) return before;
  const { choices, usage } = chunk;
  if (Array.isArray(choices) && choices.length > 0) return false;
  return before || isJsonObject(usage);
}

/**
 * How an answer ended whose last piece was there.
 * @param finishReason The upstream's; empty when it gave none.
 * @param isDone The upstream said that the answer is over (`[DONE]`, a whole JSON body), and did not just close.
 * @throws GatewayError `upstream_error` when it did not end: a half answer is never passed off as a whole one.
 */
export function requireEnd(finishReason: string, isDone: boolean): EndReason {
  if (finishReason === "") {
    if (isDone) return "stop";
    throw createBrokenOff("the stream was closed");
  }
  const reason = END_REASONS[finishReason.toLowerCase()];
  if (reason === undefined || !isEndReason(finishReason)) throw createBrokenOff(describeReason(finishReason));
  return reason;
}

function createBrokenOff(how: string): GatewayError {
  return new GatewayError("upstream_error", {
    message: "The model's server broke off before the answer was complete.",
    cause: new Error(`an answer without an end: ${how}`),
  });
}

function describeReason(finishReason: string): string {
  return `finish_reason ${JSON.stringify(finishReason.slice(0, MAX_TOLD_CHARACTERS))}`;
}
