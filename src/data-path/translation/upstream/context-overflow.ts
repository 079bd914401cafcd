/**
 * Recognizes that a prompt exceeds the model's context window. Agents shorten their conversation if they see such an
 * error, and otherwise repeat the same request forever. Servers word it differently and change their wording, so a
 * message matches if it names the window and says that it was exceeded, in any order.
 */
import type { UpstreamErrorText } from "./error-text.ts";

/** OpenAI's error code. */
export const CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded";

/** Values of `error.code` or `error.type`: OpenAI, Anthropic's proxies, llama.cpp, LiteLLM. */
const OVERFLOW_NAMES: ReadonlySet<string> = new Set([
  CONTEXT_LENGTH_EXCEEDED,
  "context_window_exceeded",
  "model_context_window_exceeded",
  "exceed_context_size_error",
  "contextwindowexceedederror",
]);

/** Words for the context window. */
const CONTEXT_WINDOW =
  /context[ _-]?(?:length|window|size|limit|overflow)|(?:model|sequence|input|prompt)[ _-]length|max_model_len|token limit|input tokens?\b|prompt[ _]token|max_seq_len|(?:number of|total) tokens|\bn_ctx\b/i;
/** Words for exceeding it. */
const EXCEEDED =
  /exceed|overflow|too (?:long|large|many)|(?:long|great|larg|small)er than|\bmore than|over the limit|reached (?:its|the)\b[^.]{0,40}\blimit|reduce|(?:cannot|must|should) (?:be|have|exceed)|only supports?|\bhowever\b|\bbut\b/i;
/** Phrases for both at once. */
const PROMPT_TOO_LONG =
  /\b(?:prompt|inputs?|conversation)\b[^.]{0,40}(?:\btoo long\b|\btoo many tokens\b|\bexceeds? max)|maximum context (?:length|window|size)|max(?:imum)? input (?:characters|length)|tokens in (?:the )?request[^.]{0,10}\bmore than\b|reduce the length of the (?:messages|prompt|input)|`inputs`[^.]{0,60}must (?:be|have)[^.]{0,20}\d/i;
/** A token count next to a limit, in messages that do not name the window. */
const TOKENS_NEXT_TO_LIMIT = /(\d{3,})[^\d]{1,80}tokens?\b|tokens?\b[^\d]{1,80}(\d{3,})/i;

/** Output limits, for which a shorter prompt does not help: vLLM, SGLang, Anthropic, OpenAI. */
const ABOUT_OUTPUT =
  /^\W*(?:[\w ]{0,40}: ?)?\W*(?:the )?(?:max_(?:completion_|new_|output_)?tokens|maxOutputTokens|maximum (?:completion|output) tokens)\b|\b(?:number of|supports at most \d+) (?:completion|output) tokens|\bthinking\b|\bbudget_tokens\b/i;
/** Rate limits, for which waiting helps. */
const ABOUT_RATE = /\bper (?:minute|min|second|hour|day)\b|\b[rt]p[md]\b|rate limit/i;

/** Phrase that Anthropic's clients search for. */
const TOO_LONG = "prompt is too long";

const LIMIT = /context (?:length|window|size)(?: is| of)?\s*\(?\s*(\d+)/i;
const INPUT = [
  /(\d+) (?:tokens )?(?:in|from) the (?:messages|input)/i,
  /(\d+) input tokens/i,
  /input \((\d+) tokens\)/i,
];
const OUTPUT = [
  /(\d+) (?:tokens )?(?:in|for) the completion/i,
  /(\d+) output tokens/i,
  /max_(?:completion_)?tokens'? is too large: (\d+)/i,
];

/** Text after this may be the request's own, which some servers repeat. */
const READ_CHARACTERS = 1_000;

/** Returns whether an error says that the prompt exceeds the context window. */
export function isContextOverflow(error: UpstreamErrorText): boolean {
  const isNamed = [error.code, error.type].some((name) => OVERFLOW_NAMES.has(name?.toLowerCase() ?? ""));
  if (isNamed) return true;
  const words = readWords(error);
  if (ABOUT_OUTPUT.test(words) || ABOUT_RATE.test(words)) return false;
  if (PROMPT_TOO_LONG.test(words)) return true;
  return EXCEEDED.test(words) && (CONTEXT_WINDOW.test(words) || isPromptAboveLimit(words));
}

/**
 * Rewords the error as Anthropic's API does: clients search for these phrases to shorten the conversation or to
 * request a shorter answer. Returns null if the error is about something else.
 */
export function describeContextOverflow(error: UpstreamErrorText): string | null {
  const words = readWords(error);
  const limit = findNumber([LIMIT], words);
  const input = findNumber(INPUT, words);
  const output = findNumber(OUTPUT, words);
  if (limit !== null && input !== null && output !== null) {
    return (
      `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}, ` +
      "decrease input length or `max_tokens` and try again"
    );
  }
  if (!isContextOverflow(error)) return null;
  const { message } = error;
  return message?.startsWith(TOO_LONG) === true ? message : `${TOO_LONG}: ${message ?? ""}`;
}

/** "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)." */
function isPromptAboveLimit(words: string): boolean {
  const isAboutPrompt = /\b(?:prompt|inputs?|messages|requested?)\b/i.test(words);
  if (!isAboutPrompt || !TOKENS_NEXT_TO_LIMIT.test(words)) return false;
  const numbers = words.match(/\d{3,}/g) ?? [];
  return new Set(numbers).size > 1;
}

function readWords({ message }: UpstreamErrorText): string {
  return message?.slice(0, READ_CHARACTERS) ?? "";
}

function findNumber(patterns: readonly RegExp[], text: string): string | null {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}
