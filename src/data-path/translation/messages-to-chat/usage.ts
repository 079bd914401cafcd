import { isJsonObject } from "../../../shared/text/json-object.ts";
import { parseUsage } from "../upstream/usage.ts";

/** The usage of a message. The three input figures are a partition of the prompt: none is counted twice. */
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

/** What `message_delta` repeats: whole-message totals that replace those of `message_start`. */
export type MessageDeltaUsage = Pick<
  MessageUsage,
  | "input_tokens"
  | "cache_creation_input_tokens"
  | "cache_read_input_tokens"
  | "output_tokens"
  | "output_tokens_details"
  | "server_tool_use"
>;

/** A usage of which only the prompt's size is known, or nothing at all. */
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

/** The `usage` of a chat completion as that of a message; null when there is none that can be believed. */
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

/** The part of a usage that `message_delta` carries. */
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
