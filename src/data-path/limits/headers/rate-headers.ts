/** Response headers with the state of a key's bucket. */
import { REMAINING_HEADER } from "../../../shared/contract/header-names.ts";
import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../../../shared/settings/token-limits.ts";
import type { ProtocolName } from "../../translation/client-protocol.ts";
import type { RateState } from "../admission.ts";

/** Header names of one limit. Built once: building a name costs more than the rest of its header. */
interface LimitNames {
  readonly limit: string;
  readonly remaining: string;
  readonly reset: string;
}

const openAiNames = (of: string): LimitNames => ({
  limit: `x-ratelimit-limit-${of}`,
  remaining: `x-ratelimit-remaining-${of}`,
  reset: `x-ratelimit-reset-${of}`,
});

const anthropicNames = (of: string): LimitNames => ({
  limit: `anthropic-ratelimit-${of}-limit`,
  remaining: `anthropic-ratelimit-${of}-remaining`,
  reset: `anthropic-ratelimit-${of}-reset`,
});

type NamesByLimit = Readonly<Record<"requests" | TokenLimitType, LimitNames>>;

/** Both protocols name the limit of all tokens `tokens`. */
const nameLimits = (nameLimit: (of: string) => LimitNames): NamesByLimit => ({
  requests: nameLimit("requests"),
  total: nameLimit("tokens"),
  input: nameLimit("input-tokens"),
  output: nameLimit("output-tokens"),
});

const OPENAI_NAMES = nameLimits(openAiNames);
const ANTHROPIC_NAMES = nameLimits(anthropicNames);

/**
 * Formats `x-service-ratelimit-remaining` and the headers of the route's protocol.
 * @see https://platform.openai.com/docs/guides/rate-limits (reset as a duration)
 * @see https://docs.claude.com/en/api/rate-limits (reset as RFC 3339 time)
 */
export function formatRateHeaders(rate: RateState, protocol: ProtocolName): [string, string][] {
  const isAnthropic = protocol === "messages";
  const names = isAnthropic ? ANTHROPIC_NAMES : OPENAI_NAMES;
  const fromMs = isAnthropic ? rate.timeMs : null;
  const remaining = String(rate.remaining);
  const headers: [string, string][] = [
    [REMAINING_HEADER, remaining],
    [names.requests.limit, String(rate.limit)],
    [names.requests.remaining, remaining],
    [names.requests.reset, formatReset(rate.resetMs, fromMs)],
  ];
  for (const { type, limit, remaining: remainingTokens, resetMs } of rate.tokens) {
    const { limit: limitName, remaining: remainingName, reset: resetName } = names[type];
    headers.push(
      [limitName, String(limit)],
      [remainingName, String(remainingTokens)],
      [resetName, formatReset(resetMs, fromMs)],
    );
  }
  return headers;
}

/**
 * @param fromMs Current time in Unix milliseconds, for protocols that send a time; null: the protocol sends a
 * duration.
 */
function formatReset(ms: number, fromMs: number | null): string {
  return fromMs === null ? formatDuration(ms) : formatInstant(fromMs + ms);
}

export const RATE_HEADERS = { chat: namesOf("chat"), messages: namesOf("messages") } as const;

function namesOf(protocol: ProtocolName): readonly string[] {
  const tokens = TOKEN_LIMIT_TYPES.map((type) => ({ type, limit: 0, remaining: 0, resetMs: 0 }));
  const rate = { limit: 0, capacity: 0, remaining: 0, resetMs: 0, timeMs: 0, tokens };
  return formatRateHeaders(rate, protocol).map(([name]) => name);
}

/** Formats a duration as Go does: "120ms", "1.2s", "6m0s", "1h0m0s". */
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

/** Formats RFC 3339 with whole seconds, rounded up. */
function formatInstant(unixMs: number): string {
  return new Date(Math.ceil(unixMs / 1000) * 1000).toISOString().replace(".000Z", "Z");
}
