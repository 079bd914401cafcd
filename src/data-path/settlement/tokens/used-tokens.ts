/** Tokens that a request takes from its token limits per minute. */
import type { TakenTokens, UsedTokens } from "../../../shared/stored/token-rate.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";
import type { Ending, Settled } from "../settled.ts";

/**
 * Tolerated difference, in addition to half of the estimate, between the estimate from the body and the one
 * at admission from headers.
 */
const TOLERATED_TOKENS = 256;

/** Counts the tokens used so far. Cached prompt tokens count if the organization or the key says so. */
export function countUsedTokens(taken: TakenTokens, tokens: TokenUsage): UsedTokens {
  const { inputTokens, cachedInputTokens, outputTokens } = tokens;
  return {
    buckets: taken.buckets,
    prompt: taken.prompt,
    reserved: taken.reserved,
    countsCached: taken.countsCached,
    input: inputTokens + (taken.countsCached ? cachedInputTokens : 0),
    output: outputTokens,
  };
}

/**
 * Returns whether the request failed before the upstream's first byte, so that it used nothing; a client that
 * disconnects is no failure.
 */
export function hasFailedBefore(
  generatedDeltas: number,
  { estimated }: Pick<Settled, "estimated">,
  ending: Pick<Ending, "result"> | null,
): boolean {
  return ending !== null && estimated && generatedDeltas === 0 && ending.result.status >= 500;
}

/**
 * Returns whether the admission's estimate of the prompt may stay until the first charge, at most two seconds
 * later; otherwise `openRecord` corrects it at once.
 */
export function isEstimateClose(taken: TakenTokens | null, estimatedTokens: number): boolean {
  if (taken === null) return true;
  const [smaller = 0, larger = 0] = [taken.prompt, estimatedTokens].toSorted((a, b) => a - b);
  return larger <= smaller * 1.5 + TOLERATED_TOKENS;
}
