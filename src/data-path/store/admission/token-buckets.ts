/** Parsers for token limits in the reply of `lua/admit.lua`. */
import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../../../shared/settings/token-limits.ts";
import { LIMIT_SCOPES } from "../../../shared/stored/decision.ts";
import type { TokenBucketState, TokenLimit } from "../../../shared/stored/token-rate.ts";

const NONE: readonly TokenBucketState[] = [];

/**
 * `UNITS_PER_LIMITED_TOKEN` of `lua/include/token-units.lua`: each millisecond adds as many units as the
 * limit has tokens.
 */
const UNITS_PER_TOKEN = 60_000;

/** Parses "total <limit> <units left>", comma-separated; '' if there are none. */
export function parseTokenBuckets(text: string): readonly TokenBucketState[] {
  if (text === "") return NONE;
  return text.split(",").map((bucket) => {
    const [type, limitText, unitsText] = bucket.split(" ");
    const [limit, units] = [Number(limitText), Number(unitsText)];
    return {
      type: readType(type),
      limit,
      remaining: Math.max(0, Math.floor(units / UNITS_PER_TOKEN)),
      resetMs: Math.ceil((limit * UNITS_PER_TOKEN - units) / limit),
    };
  });
}

/** Parses "<scope> <type> <limit>"; '' if there is none. */
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
