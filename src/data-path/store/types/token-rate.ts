/** Limits of tokens per minute as one request meets them. */
import type { TokenLimitType } from "../../../shared/settings/token-limits.ts";
import type { LimitScope } from "./decision.ts";

/** The tightest bucket of its type. */
export interface TokenBucketState {
  readonly type: TokenLimitType;
  /** Tokens per minute. */
  readonly limit: number;
  /** Whole tokens left; 0 when there are fewer than none. */
  readonly remaining: number;
  /** Milliseconds until it is full. */
  readonly resetMs: number;
}

/** The limit of tokens that refuses. */
export interface TokenLimit {
  readonly scope: LimitScope;
  readonly type: TokenLimitType;
  /** Tokens per minute. */
  readonly limit: number;
}

/** What a request has taken of its token buckets. */
export interface TakenTokens {
  /** Which buckets, for the scripts: see `lua/include/token-buckets.lua`. */
  readonly buckets: string;
  /** Tokens of its prompt that its admission took. */
  readonly prompt: number;
  /** Tokens that its admission took of shared buckets for its output, and that its end gives back. */
  readonly reserved: number;
  /** Tokens that come from a prompt's cache count, too. */
  readonly countsCached: boolean;
}

/** What it has used of them so far. */
export interface UsedTokens extends TakenTokens {
  readonly input: number;
  readonly output: number;
}
