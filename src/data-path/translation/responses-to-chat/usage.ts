import type { TokenUsage } from "../../../shared/usage/token-usage.ts";

/** The usage of a response. Unlike that of a message, `input_tokens` includes cached tokens. */
export interface ResponseUsage {
  readonly input_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number };
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly reasoning_tokens: number };
  readonly total_tokens: number;
}

export function formatUsage(tokens: TokenUsage): ResponseUsage {
  const inputTokens = tokens.inputTokens + tokens.cachedInputTokens;
  return {
    input_tokens: inputTokens,
    input_tokens_details: {
      cached_tokens: tokens.cachedInputTokens,
      cache_write_tokens: tokens.cacheWriteTokens + tokens.cacheWrite1hTokens,
    },
    output_tokens: tokens.outputTokens,
    output_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
    total_tokens: inputTokens + tokens.outputTokens,
  };
}
