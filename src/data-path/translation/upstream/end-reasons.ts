import { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject } from "../../../shared/text/json-object.ts";

/** How an answer ended, in the terms of OpenAI's chat completions. */
export type EndReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Values of `finish_reason` in lower case, from OpenAI, Anthropic, Cohere, Gemini, Mistral, TGI, vLLM and Zhipu.
 * `SIMILAR_REASONS` recognizes other values by their parts.
 */
const END_REASONS: ReadonlyMap<string, EndReason> = new Map(
  Object.entries({
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
    language: "content_filter",
    other: "stop",
    image_other: "stop",
    no_image: "stop",
  }),
);

/**
 * Patterns for values outside the table; the first match counts. "broken_off": the server did not finish the answer.
 */
const SIMILAR_REASONS: readonly (readonly [RegExp, EndReason | "broken_off"])[] = [
  [
    /safety|prohibited|recitation|blocklist|blocked|filter|policy|refus|moderat|sensitive|guardrail|spii|toxic|armor|jailbreak|csam|copyright/,
    "content_filter",
  ],
  [
    /error|abort|cancel|fail|fault|interrupt|malformed|time_?out|timed_?out|overload|disconnect|insufficient|unexpected|missing|kill/,
    "broken_off",
  ],
  [/max.*tokens|length|repetition|context_window|token_limit/, "length"],
  [/tool_?(?:call|use)|function_?call/, "tool_calls"],
];

/** Maximum characters of an unknown reason in the log. */
const MAX_LOGGED_CHARACTERS = 40;

/** Returns null for an unknown value. */
function findReason(finishReason: string): EndReason | "broken_off" | null {
  return END_REASONS.get(finishReason) ?? findSimilarReason(finishReason);
}

function findSimilarReason(finishReason: string): EndReason | "broken_off" | null {
  // Gemini's value may follow OpenAI's: "content_filter: RECITATION".
  const word = finishReason.toLowerCase().split(/[:\s]/u, 1)[0]?.replaceAll("-", "_") ?? "";
  return END_REASONS.get(word) ?? SIMILAR_REASONS.find(([form]) => form.test(word))?.[1] ?? null;
}

/**
 * Returns whether a finish reason is unknown. An unknown reason ends an answer like `stop`. @param finishReason Empty
 * if absent.
 */
export function isUnknownReason(finishReason: string): boolean {
  return finishReason !== "" && findReason(finishReason) === null;
}

/**
 * Returns whether the stream has had its final usage after this chunk. OpenAI sends it without a choice, after the
 * last of them, and it shows that a stream without a `finish_reason` is complete. A usage before the answer does not
 * count.
 * @param before The result before this chunk.
 * @see https://platform.openai.com/docs/api-reference/chat-streaming (`stream_options.include_usage`)
 */
export function hasEndUsage(chunk: unknown, before: boolean): boolean {
  if (!isJsonObject(chunk)) return before;
  const { choices, usage } = chunk;
  if (Array.isArray(choices) && choices.length > 0) return false;
  return before || isJsonObject(usage);
}

/**
 * Returns how an answer ended once its last piece has arrived.
 * @param finishReason The upstream's; empty if absent.
 * @param isDone The upstream marked the end (`[DONE]`, a whole JSON body) and did not just close.
 * @throws GatewayError `upstream_error` if the answer is incomplete: it must never look complete.
 */
export function requireEnd(finishReason: string, isDone: boolean): EndReason {
  if (finishReason === "") {
    if (isDone) return "stop";
    throw createBrokenOff("the stream was closed");
  }
  const reason = findReason(finishReason);
  if (reason === "broken_off") throw createBrokenOff(describeReason(finishReason));
  return reason ?? "stop";
}

/** Creates the error of an answer that the server did not finish. @param how For the log; null if unknown. */
export function createBrokenOff(how: string | null = null): GatewayError {
  return new GatewayError("upstream_error", {
    message: "The model server ended its response before it was complete. Try again.",
    ...(how !== null && { cause: new Error(`a response without an end: ${how}`) }),
  });
}

function describeReason(finishReason: string): string {
  return `finish_reason ${JSON.stringify(finishReason.slice(0, MAX_LOGGED_CHARACTERS))}`;
}
