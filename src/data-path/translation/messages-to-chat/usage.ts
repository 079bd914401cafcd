import { isJsonObject } from "../../../shared/text/json-object.ts";
import { parseUsage } from "../upstream/usage.ts";

/** The usage of a message. The three input figures partition the prompt: no token counts twice. */
export interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number } | null;
  readonly cache_creation: null;
  readonly server_tool_use: null;
  readonly service_tier: null;
  readonly speed: null;
  readonly inference_geo: null;
}

/** Totals of the whole message that `message_delta` repeats; they replace those of `message_start`. */
export type MessageDeltaUsage = Pick<
  MessageUsage,
  | "input_tokens"
  | "cache_creation_input_tokens"
  | "cache_read_input_tokens"
  | "output_tokens"
  | "output_tokens_details"
  | "server_tool_use"
>;

/** Creates a usage with only the prompt's size, or empty. */
export function createUsage(inputTokens = 0): MessageUsage {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
    output_tokens_details: null,
    cache_creation: null,
    server_tool_use: null,
    service_tier: null,
    speed: null,
    inference_geo: null,
  };
}

/** Converts the `usage` of a chat completion to that of a message; null if it is absent or implausible. */
export function convertUsage(usage: unknown): MessageUsage | null {
  const tokens = parseUsage(usage);
  if (tokens === null || !isJsonObject(usage)) return null;
  const cacheCreation = tokens.cacheWriteTokens + tokens.cacheWrite1hTokens;
  const hasReasoning = isTokenCount(readField(usage["completion_tokens_details"], "reasoning_tokens"));
  return {
    ...createUsage(tokens.inputTokens - cacheCreation),
    cache_creation_input_tokens: cacheCreation,
    cache_read_input_tokens: tokens.cachedInputTokens,
    output_tokens: tokens.outputTokens,
    output_tokens_details: hasReasoning ? { thinking_tokens: tokens.reasoningTokens } : null,
  };
}

/** Picks the fields of a usage for `message_delta`. */
export function formatDeltaUsage(usage: MessageUsage): MessageDeltaUsage {
  return {
    input_tokens: usage.input_tokens,
    cache_creation_input_tokens: usage.cache_creation_input_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
    output_tokens: usage.output_tokens,
    output_tokens_details: usage.output_tokens_details,
    server_tool_use: usage.server_tool_use,
  };
}

function readField(details: unknown, name: string): unknown {
  return isJsonObject(details) ? details[name] : undefined;
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
