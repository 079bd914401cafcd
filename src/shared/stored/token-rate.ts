/** Token limits per minute as one request meets them. */
import type { TokenLimitType } from "../settings/token-limits.ts";
import type { LimitScope } from "./decision.ts";

/** State of the tightest bucket of a type. */
export interface TokenBucketState {
  readonly type: TokenLimitType;
  /** Tokens per minute. */
  readonly limit: number;
  /** Whole tokens left, never below 0. */
  readonly remaining: number;
  /** Milliseconds until the bucket is full. */
  readonly resetMs: number;
}

/** Token limit that rejects a request. */
export interface TokenLimit {
  readonly scope: LimitScope;
  readonly type: TokenLimitType;
  /** Tokens per minute. */
  readonly limit: number;
}

/** Tokens that a request has taken from its token buckets. */
export interface TakenTokens {
  /** Names of the buckets for the scripts: see `lua/include/token-buckets.lua`. */
  readonly buckets: string;
  /** Prompt tokens taken at admission. */
  readonly prompt: number;
  /** Output tokens taken from shared buckets at admission; the end of the request gives them back. */
  readonly reserved: number;
  /** True if cached prompt tokens count as well. */
  readonly countsCached: boolean;
}

/** Tokens used so far. */
export interface UsedTokens extends TakenTokens {
  readonly input: number;
  readonly output: number;
}
