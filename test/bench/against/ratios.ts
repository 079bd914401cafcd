/** How two builds compare: the median of the rounds' ratios and an interval for it, without assumptions about the noise. */
import { median } from "../measure.ts";

/** A ratio so close to 1 counts as no difference. */
const SAME_WITHIN = 0.03;
const WANTED_CONFIDENCE = 0.95;
/** Less, which fewer than five rounds have, tells nothing. */
const MIN_CONFIDENCE = 0.9;

export interface Comparison {
  readonly ratio: number;
  /** Contains the true ratio with a probability of `confidence`. */
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
  /** `more` and `less`: the interval is above or below 1. `same`: all of it is within 3 % of 1. `open`: none of these. */
  readonly verdict: "more" | "less" | "same" | "open";
}

/** Null without a ratio, for example of calls that neither build makes. */
export function compareRounds(ratios: readonly number[]): Comparison | null {
  const sorted = ratios.filter(Number.isFinite).toSorted((one, other) => one - other);
  const { outside, confidence } = findInterval(sorted.length);
  const [low, high] = [sorted[outside], sorted.at(-1 - outside)];
  if (low === undefined || high === undefined) return null;
  return { ratio: median(sorted), low, high, confidence, verdict: judge(low, high, confidence) };
}

/**
 * How many of the sorted values to leave out at each end, so that the rest spans the median of what they were drawn from: each
 * value is above it with a probability of one half (the sign test). Fewer than six values span it with less than 95 %.
 */
export function findInterval(count: number): { readonly outside: number; readonly confidence: number } {
  let outside = 0;
  let confidence = 1 - 2 * tail(count, 0);
  for (;;) {
    const next = 1 - 2 * tail(count, outside + 1);
    if (next < WANTED_CONFIDENCE) return { outside, confidence };
    outside += 1;
    confidence = next;
  }
}

/** Probability of at most `most` heads among `count` coins. */
function tail(count: number, most: number): number {
  let ways = 1;
  let sum = 1;
  for (let heads = 1; heads <= most; heads += 1) {
    ways *= (count - heads + 1) / heads;
    sum += ways;
  }
  return sum / 2 ** count;
}

function judge(low: number, high: number, confidence: number): Comparison["verdict"] {
  if (confidence < MIN_CONFIDENCE) return "open";
  if (low > 1) return "more";
  if (high < 1) return "less";
  return low >= 1 - SAME_WITHIN && high <= 1 + SAME_WITHIN ? "same" : "open";
}
