/** The state of a key's bucket after a request, and the response headers that tell it. */
import { REMAINING_HEADER } from "../contract/header-names.ts";
import type { TokenBucketState } from "../store/types/token-rate.ts";
import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../settings/token-limits.ts";
import type { ProtocolName } from "../translation/client-protocol.ts";

export interface RateState {
  /** Requests per minute. */
  readonly limit: number;
  /** Whole requests that the bucket holds when it is full. */
  readonly capacity: number;
  /** Whole requests left. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full again. */
  readonly resetMs: number;
  /** Redis's time at the admission, Unix milliseconds. */
  readonly timeMs: number;
  /** The tightest limit of tokens per minute of each type; none: the key has no such limit. */
  readonly tokens: readonly TokenBucketState[];
}

/**
 * `x-service-ratelimit-remaining` and the names of the route's protocol.
 * @see https://platform.openai.com/docs/guides/rate-limits (reset as a duration)
 * @see https://docs.claude.com/en/api/rate-limits (reset as RFC 3339 time)
 */
export function formatRateHeaders(rate: RateState, protocol: ProtocolName): [string, string][] {
  const limit = String(rate.limit);
  const remaining = String(rate.remaining);
  if (protocol === "messages") {
    return [
      [REMAINING_HEADER, remaining],
      ["anthropic-ratelimit-requests-limit", limit],
      ["anthropic-ratelimit-requests-remaining", remaining],
      ["anthropic-ratelimit-requests-reset", formatInstant(rate.timeMs + rate.resetMs)],
      ...rate.tokens.flatMap((bucket) => formatAnthropicTokens(bucket, rate.timeMs)),
    ];
  }
  return [
    [REMAINING_HEADER, remaining],
    ["x-ratelimit-limit-requests", limit],
    ["x-ratelimit-remaining-requests", remaining],
    ["x-ratelimit-reset-requests", formatDuration(rate.resetMs)],
    ...rate.tokens.flatMap(formatOpenAiTokens),
  ];
}

/** Both protocols name the limit of all tokens `tokens`. */
const TOKENS_NAMES = {
  total: "tokens",
  input: "input-tokens",
  output: "output-tokens",
} as const satisfies Record<TokenLimitType, string>;

function formatOpenAiTokens({ type, limit, remaining, resetMs }: TokenBucketState): [string, string][] {
  const name = TOKENS_NAMES[type];
  return [
    [`x-ratelimit-limit-${name}`, String(limit)],
    [`x-ratelimit-remaining-${name}`, String(remaining)],
    [`x-ratelimit-reset-${name}`, formatDuration(resetMs)],
  ];
}

function formatAnthropicTokens(
  { type, limit, remaining, resetMs }: TokenBucketState,
  timeMs: number,
): [string, string][] {
  const name = `anthropic-ratelimit-${TOKENS_NAMES[type]}`;
  return [
    [`${name}-limit`, String(limit)],
    [`${name}-remaining`, String(remaining)],
    [`${name}-reset`, formatInstant(timeMs + resetMs)],
  ];
}

/** Names of these headers, for each form. */
export const RATE_HEADERS = { chat: namesOf("chat"), messages: namesOf("messages") } as const;

function namesOf(protocol: ProtocolName): readonly string[] {
  const tokens = TOKEN_LIMIT_TYPES.map((type) => ({ type, limit: 0, remaining: 0, resetMs: 0 }));
  const rate = { limit: 0, capacity: 0, remaining: 0, resetMs: 0, timeMs: 0, tokens };
  return formatRateHeaders(rate, protocol).map(([name]) => name);
}

/** A duration as Go writes it: "120ms", "1.2s", "6m0s", "1h0m0s". */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms));
  if (whole === 0) return "0s";
  if (whole < 1000) return `${whole}ms`;
  const seconds = Number(((whole % 60_000) / 1000).toFixed(3));
  const minutes = Math.floor(whole / 60_000) % 60;
  const hours = Math.floor(whole / 3_600_000);
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** RFC 3339 with whole seconds, rounded up. */
function formatInstant(unixMs: number): string {
  return new Date(Math.ceil(unixMs / 1000) * 1000).toISOString().replace(".000Z", "Z");
}
