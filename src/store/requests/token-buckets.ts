import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../../settings/token-limits.ts";
import { requestBucketKey, tokenBucketsKey } from "../redis/keys.ts";
import { parseOwnerIds } from "../types/owner-ids.ts";
import type { RequestIdentity } from "../types/settlement.ts";
import type { TakenTokens } from "../types/token-rate.ts";

type Owned = Pick<RequestIdentity, "organizationId" | "keyId" | "owners">;

/** What a charge adds to: see `lua/include/token-buckets.lua`. */
interface TokenCount {
  readonly hash: string;
  readonly count: string;
  readonly type: TokenLimitType;
}

/** Of each token bucket that a request meets; none where it meets none. */
function listTokenCounts(request: Owned, taken: TakenTokens | null | undefined): TokenCount[] {
  if (taken === null || taken === undefined) return [];
  return taken.buckets.split(" ").flatMap((bucket) => {
    const [scope = "", types = ""] = bucket.split("=");
    const hash = nameHash(scope, request);
    const met = types.split(",");
    return TOKEN_LIMIT_TYPES.filter((type) => met.includes(type)).map((type) => ({
      hash,
      count: `${type}:used`,
      type,
    }));
  });
}

/** For a script that calculates the differences: hash, count, hash, count … */
export function formatTokenCounts(request: Owned, taken: TakenTokens): string[] {
  return listTokenCounts(request, taken).flatMap(({ hash, count }) => [hash, count]);
}

/**
 * As `lua/include/take-tokens.lua` takes them: hash, count, difference, hash, count, difference …
 * @param difference Tokens of prompt and answer beside what was taken.
 */
export function formatTokenDifferences(
  request: Owned,
  taken: TakenTokens | null | undefined,
  { input, output }: { readonly input: number; readonly output: number },
): string[] {
  const differences = { total: input + output, input, output };
  return listTokenCounts(request, taken).flatMap(({ hash, count, type }) => [
    hash,
    count,
    String(differences[type]),
  ]);
}

function nameHash(scope: string, { organizationId, keyId, owners = "" }: Owned): string {
  if (scope === "key") return requestBucketKey(organizationId, keyId);
  if (scope === "organization") return tokenBucketsKey(organizationId, scope);
  const { userId, groupId } = parseOwnerIds(owners);
  return tokenBucketsKey(organizationId, `${scope}:${scope === "user" ? userId : groupId}`);
}
