import { GatewayError } from "../../../shared/contract/errors.ts";
import { isJsonObject } from "../../../shared/text/json-object.ts";

/** How an answer came to its end, in the words of OpenAI's chat completions. */
export type EndReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * What servers write as `finish_reason`, in lower case, by the words of OpenAI, Anthropic, Cohere, Gemini, Mistral, TGI, vLLM
 * and Zhipu. Words beside it are known by what is in them, see `ALIKE`.
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

/** What a word says that is not in the table, the first that fits; "broken_off": the server did not end the answer. */
const ALIKE: readonly (readonly [RegExp, EndReason | "broken_off"])[] = [
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

/** The most of an unknown reason that is logged. */
const MAX_TOLD_CHARACTERS = 40;

/** Null: a word that nobody knows. */
function findReason(finishReason: string): EndReason | "broken_off" | null {
  return END_REASONS.get(finishReason) ?? findAlike(finishReason);
}

function findAlike(finishReason: string): EndReason | "broken_off" | null {
  // Gemini's words may come behind OpenAI's: "content_filter: RECITATION".
  const word = finishReason.toLowerCase().split(/[:\s]/u, 1)[0]?.replaceAll("-", "_") ?? "";
  return END_REASONS.get(word) ?? ALIKE.find(([form]) => form.test(word))?.[1] ?? null;
}

/** Whether nobody knows what the word means. It ends an answer like `stop`. @param finishReason Empty: there is none. */
export function isUnknownReason(finishReason: string): boolean {
  return finishReason !== "" && findReason(finishReason) === null;
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
  const reason = findReason(finishReason);
  if (reason === "broken_off") throw createBrokenOff(describeReason(finishReason));
  return reason ?? "stop";
}

/** The error of an answer that its server did not end. @param how For the log; null: nothing is known. */
export function createBrokenOff(how: string | null = null): GatewayError {
  return new GatewayError("upstream_error", {
    message: "The model server ended its response before it was complete. Try again.",
    ...(how !== null && { cause: new Error(`an answer without an end: ${how}`) }),
  });
}

function describeReason(finishReason: string): string {
  return `finish_reason ${JSON.stringify(finishReason.slice(0, MAX_TOLD_CHARACTERS))}`;
}
