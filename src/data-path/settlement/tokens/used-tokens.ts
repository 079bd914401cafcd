/** What a request takes of the limits of tokens per minute that it meets. */
import type { TakenTokens, UsedTokens } from "../../store/types/token-rate.ts";
import type { TokenUsage } from "../../../shared/usage/token-usage.ts";
import type { Ending, Settled } from "../settled.ts";

/** Tokens by which the estimate by the body may differ, beside half of it, from what the admission took by the head alone. */
const NEAR_TOKENS = 256;

/** What it has used so far. Tokens that come from a prompt's cache count where the organization or the key says so. */
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

/** Whether it failed before the upstream's first byte, so that it has used nothing; a client that leaves is no failure. */
export function hasFailedBefore(
  generatedDeltas: number,
  { estimated }: Pick<Settled, "estimated">,
  ending: Pick<Ending, "result"> | null,
): boolean {
  return ending !== null && estimated && generatedDeltas === 0 && ending.result.status >= 500;
}

/**
 * Whether what its admission took for a prompt can stand until its first charge, which is two seconds away at most: a hold
 * puts it right at once.
 */
export function isTakenNear(taken: TakenTokens | null, estimatedTokens: number): boolean {
  if (taken === null) return true;
  const [smaller = 0, larger = 0] = [taken.prompt, estimatedTokens].toSorted((a, b) => a - b);
  return larger <= smaller * 1.5 + NEAR_TOKENS;
}
