import { isJsonObject } from "../../json-object.ts";
import type { TokenUsage } from "../client-protocol.ts";

/** No context window comes near it: a larger figure is a broken upstream, not a bill. */
const MAX_TOKENS = 1_000_000_000;

/**
 * Reads the `usage` object of a chat completion, whatever server wrote it. Input excludes the cached tokens, cached
 * never exceeds the prompt, reasoning never the output.
 * @returns null when there is none, when `prompt_tokens` or `completion_tokens` is missing or impossible (negative,
 * fractional, absurd, not a number), or when both are 0, a placeholder: the gateway then counts by itself.
 */
export function parseUsage(value: unknown): TokenUsage | null {
  if (!isJsonObject(value)) return null;
  const promptTokens = value["prompt_tokens"];
  const outputTokens = value["completion_tokens"];
  if (!isTokenCount(promptTokens) || !isTokenCount(outputTokens)) return null;
  if (promptTokens === 0 && outputTokens === 0) return null;
  const cachedInputTokens = Math.min(promptTokens, readCachedTokens(value));
  return {
    inputTokens: promptTokens - cachedInputTokens,
    cachedInputTokens,
    outputTokens,
    reasoningTokens: Math.min(
      outputTokens,
      readDetail(value["completion_tokens_details"], "reasoning_tokens"),
    ),
  };
}

/** The first positive figure: OpenAI, vLLM and SGLang; then DeepSeek; then Moonshot. */
function readCachedTokens(usage: Record<string, unknown>): number {
  return (
    readDetail(usage["prompt_tokens_details"], "cached_tokens") ||
    readDetail(usage, "prompt_cache_hit_tokens") ||
    readDetail(usage, "cached_tokens")
  );
}

/** Tokens written to a cache: OpenAI's name, then LiteLLM's. Billed as ordinary input; 0 when `usage` tells none. */
export function readCacheWrites(usage: unknown): number {
  const details = isJsonObject(usage) ? usage["prompt_tokens_details"] : null;
  return readDetail(details, "cache_write_tokens") || readDetail(details, "cache_creation_tokens");
}

function readDetail(details: unknown, name: string): number {
  const figure = isJsonObject(details) ? details[name] : undefined;
  return isTokenCount(figure) ? figure : 0;
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TOKENS;
}
