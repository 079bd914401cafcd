/** The tokens of a request by kind: the same in answers of upstreams, prices, usage, metrics and the log of requests. */

/**
 * Token counts as the upstream reports them, normalised: the prompt is `inputTokens` and `cachedInputTokens` together.
 * Never negative, always integers; parts never exceed what they are parts of, and no token is in two of them.
 */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Part of `inputTokens`: written to a cache for 5 minutes, or for a time that the upstream does not tell. */
  readonly cacheWriteTokens: number;
  /** Part of `inputTokens`: written to a cache for an hour. */
  readonly cacheWrite1hTokens: number;
  /** Part of `inputTokens`: audio. Cached audio is among the cached tokens. */
  readonly inputAudioTokens: number;
  readonly outputTokens: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens: number;
  /** Part of `outputTokens`. */
  readonly outputAudioTokens: number;
}

/** What each is called in the management API, in exports and in the log of requests. */
export const TOKEN_NAMES = {
  inputTokens: "input_tokens",
  cachedInputTokens: "cached_input_tokens",
  cacheWriteTokens: "cache_write_tokens",
  cacheWrite1hTokens: "cache_write_1h_tokens",
  inputAudioTokens: "input_audio_tokens",
  outputTokens: "output_tokens",
  reasoningTokens: "reasoning_tokens",
  outputAudioTokens: "output_audio_tokens",
} as const satisfies Record<keyof TokenUsage, string>;

/** In the order in which they are shown. */
export const TOKEN_KINDS = Object.keys(TOKEN_NAMES) as (keyof TokenUsage)[];

/** A value for each kind. */
export function mapTokens<Value>(
  valueOf: (kind: keyof TokenUsage) => Value,
): Record<keyof TokenUsage, Value> {
  const entries = TOKEN_KINDS.map((kind) => [kind, valueOf(kind)]);
  return Object.fromEntries(entries) as Record<keyof TokenUsage, Value>;
}

type TokenName = (typeof TOKEN_NAMES)[keyof TokenUsage];

/** The same values under the names of the API. */
export function nameTokens<Value>(
  values: Readonly<Record<keyof TokenUsage, Value>>,
): Record<TokenName, Value> {
  const entries = TOKEN_KINDS.map((kind) => [TOKEN_NAMES[kind], values[kind]]);
  return Object.fromEntries(entries) as Record<TokenName, Value>;
}

export const NO_TOKENS: TokenUsage = Object.freeze(plainTokens(0, 0));

/** So many tokens of which nothing more is known. Written out: all have the same shape. */
export function plainTokens(inputTokens: number, outputTokens: number): TokenUsage {
  return {
    inputTokens,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    inputAudioTokens: 0,
    outputTokens,
    reasoningTokens: 0,
    outputAudioTokens: 0,
  };
}
