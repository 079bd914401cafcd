/** What `lua/admit.lua` tells of limits of tokens per minute. */
import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../../settings/token-limits.ts";
import { LIMIT_SCOPES } from "../types/decision.ts";
import type { TokenBucketState, TokenLimit } from "../types/token-rate.ts";

const NONE: readonly TokenBucketState[] = [];

/** "total <limit> <tokens left> <ms until it is full>", a comma between; '' for none. */
export function parseTokenBuckets(text: string): readonly TokenBucketState[] {
  if (text === "") return NONE;
  return text.split(",").map((bucket) => {
    const [type, limit, remaining, resetMs] = bucket.split(" ");
    return {
      type: readType(type),
      limit: Number(limit),
      remaining: Number(remaining),
      resetMs: Number(resetMs),
    };
  });
}

/** "<scope> <type> <limit>"; '' for none. */
export function parseTokenLimit(text: string): TokenLimit | null {
  if (text === "") return null;
  const [scopeName, type, limit] = text.split(" ");
  const scope = LIMIT_SCOPES.find((known) => known === scopeName);
  if (scope === undefined) throw new TypeError("a limit of tokens has a scope that is not known");
  return { scope, type: readType(type), limit: Number(limit) };
}

function readType(name: string | undefined): TokenLimitType {
  const type = TOKEN_LIMIT_TYPES.find((known) => known === name);
  if (type === undefined) throw new TypeError("a limit of tokens has a type that is not known");
  return type;
}
