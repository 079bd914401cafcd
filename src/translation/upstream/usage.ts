import { isJsonObject } from "../../json-object.ts";
import type { TokenUsage, UsageContradiction } from "../client-protocol.ts";

/** No context window comes near it: a larger figure is a broken upstream, not a bill. */
const MAX_TOKENS = 1_000_000_000;

/** The usage of an answer, and what does not fit in it; null when everything does. */
export interface ReportedUsage {
  readonly tokens: TokenUsage;
  readonly contradiction: UsageContradiction | null;
}

/** As they stand in the upstream's object. */
interface Figures {
  readonly prompt: number;
  readonly completion: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Null when none is told. */
  readonly total: number | null;
}

/**
 * Reads the `usage` object of a chat completion, whatever server wrote it. Input excludes the cached tokens, cached
 * never exceeds the prompt, reasoning is part of the output wherever the server counts it.
 * @returns null when there is none, when `prompt_tokens` or `completion_tokens` is missing or impossible (negative,
 * fractional, absurd, not a number), or when both are 0, a placeholder: the gateway then counts by itself.
 */
export function readUsage(value: unknown): ReportedUsage | null {
  if (!isJsonObject(value)) return null;
  const prompt = value["prompt_tokens"];
  const completion = value["completion_tokens"];
  if (!isTokenCount(prompt) || !isTokenCount(completion)) return null;
  if (prompt === 0 && completion === 0) return null;
  const total = value["total_tokens"];
  const figures: Figures = {
    prompt,
    completion,
    cached: readCachedTokens(value),
    reasoning: readDetail(value["completion_tokens_details"], "reasoning_tokens"),
    total: isTokenCount(total) && total > 0 ? total : null,
  };
  const outside = countOutside(figures);
  const output = completion + outside;
  const cachedInputTokens = Math.min(prompt, figures.cached);
  const tokens = {
    inputTokens: prompt - cachedInputTokens,
    cachedInputTokens,
    outputTokens: output,
    reasoningTokens: Math.min(output, Math.max(outside, figures.reasoning)),
  };
  return { tokens, contradiction: findContradiction(figures, output) };
}

/** The tokens alone of `readUsage`. */
export function parseUsage(value: unknown): TokenUsage | null {
  return readUsage(value)?.tokens ?? null;
}

/**
 * Generated tokens that `completion_tokens` leaves out. xAI names them as reasoning and adds them to the total; Gemini's
 * OpenAI endpoint names nothing, its total is larger by the thinking. Both bill them as output.
 */
function countOutside({ prompt, completion, cached, reasoning, total }: Figures): number {
  // Where cached tokens stand outside of the prompt, they are what the total has more.
  if (total === null || cached > prompt) return 0;
  const surplus = total - prompt - completion;
  return surplus > 0 && (reasoning === 0 || reasoning === surplus) ? surplus : 0;
}

function findContradiction(figures: Figures, output: number): UsageContradiction | null {
  const { prompt, cached, reasoning, total } = figures;
  if (cached > prompt) return "cached_above_prompt";
  if (reasoning > output) return "reasoning_above_output";
  return total !== null && total !== prompt + output ? "total" : null;
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
