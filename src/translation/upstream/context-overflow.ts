import type { UpstreamErrorText } from "./error-text.ts";

/** OpenAI's code for it. */
export const CONTEXT_LENGTH_EXCEEDED = "context_length_exceeded";

/** How OpenAI, vLLM, SGLang, llama.cpp and Ollama say that a prompt does not fit. */
const OVERFLOW =
  /maximum context length|model's context length|available context size|exceeds? (?:the )?(?:model's )?(?:maximum )?context (?:window|length|size)|input length exceeds/i;

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

/**
 * The upstream's words about a context window that is too small in the words of Anthropic's API, which clients search
 * for to shorten the conversation by themselves; null when the error is about something else.
 */
export function describeContextOverflow(error: UpstreamErrorText): string | null {
  if (!isContextOverflow(error)) return null;
  const text = error.message ?? "";
  const limit = findNumber([LIMIT], text);
  const input = findNumber(INPUT, text);
  const output = findNumber(OUTPUT, text);
  if (limit === null || input === null || output === null) return `prompt is too long: ${text}`;
  return (
    `input length and \`max_tokens\` exceed context limit: ${input} + ${output} > ${limit}, ` +
    "decrease input length or `max_tokens` and try again"
  );
}

/** Whether an upstream says that a prompt does not fit its model's context window. */
export function isContextOverflow({ message, code }: UpstreamErrorText): boolean {
  return code === CONTEXT_LENGTH_EXCEEDED || OVERFLOW.test(message ?? "");
}

function findNumber(patterns: readonly RegExp[], text: string): string | null {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}
