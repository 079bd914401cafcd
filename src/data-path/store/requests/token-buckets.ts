import { TOKEN_LIMIT_TYPES, type TokenLimitType } from "../../../shared/settings/token-limits.ts";
import { requestBucketKey, tokenBucketsKey } from "../redis/keys.ts";
import { listOf } from "../redis/row-layouts.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { RequestIdentity } from "../../../shared/stored/settlement.ts";
import type { TakenTokens } from "../../../shared/stored/token-rate.ts";

type Owned = Pick<RequestIdentity, "organizationId" | "keyId" | "owners">;

/**
 * Bucket as an admission names it, and the field of its hash that a charge adds to: see
 * `lua/include/token-buckets.lua`.
 */
interface MetBucket {
  readonly scope: string;
  readonly count: string;
  readonly type: TokenLimitType;
}

/** Bound of the cache of parsed buckets; requests of one key have the same text. */
const MAX_KNOWN = 4_096;
const known = new Map<string, readonly MetBucket[]>();

/** @param buckets "key=total organization=input,output" */
function parseMetBuckets(buckets: string): readonly MetBucket[] {
  const before = known.get(buckets);
  if (before !== undefined) return before;
  const met = readMetBuckets(buckets);
  if (known.size < MAX_KNOWN) known.set(buckets, met);
  return met;
}

function readMetBuckets(buckets: string): readonly MetBucket[] {
  return buckets.split(" ").flatMap((bucket) => {
    const [scope = "", types = ""] = bucket.split("=");
    const met = types.split(",");
    return TOKEN_LIMIT_TYPES.filter((type) => met.includes(type)).map((type) => ({
      scope,
      count: `${type}:used`,
      type,
    }));
  });
}

/** Formats for a script that calculates the differences: hash, count and reserved tokens of each bucket. */
export function formatTokenCounts(request: Owned, taken: TakenTokens): string[] {
  return parseMetBuckets(taken.buckets).flatMap(({ scope, count }) => {
    const reserved = String(scope === "key" ? 0 : taken.reserved);
    return listOf["token-count"]({ hash: nameHash(scope, request), count, reserved });
  });
}

/**
 * Formats for `lua/include/take-tokens.lua`: hash, count, difference, hash, count, difference …
 * @param difference Tokens of prompt and output minus the tokens taken; shared buckets also get back their
 * reserved tokens.
 */
export function formatTokenDifferences(
  request: Owned,
  taken: TakenTokens | null | undefined,
  difference: { readonly input: number; readonly output: number; readonly returned: number },
): string[] {
  const listed: string[] = [];
  if (taken === null || taken === undefined) return listed;
  const { input, returned } = difference;
  for (const { scope, count, type } of parseMetBuckets(taken.buckets)) {
    const output = difference.output - (scope === "key" ? 0 : returned);
    const moved = String({ total: input + output, input, output }[type]);
    listed.push(...listOf["token-difference"]({ hash: nameHash(scope, request), count, difference: moved }));
  }
  return listed;
}

function nameHash(scope: string, { organizationId, keyId, owners = "" }: Owned): string {
  if (scope === "key") return requestBucketKey(organizationId, keyId);
  if (scope === "organization") return tokenBucketsKey(organizationId, scope);
  const { userId, groupId } = parseOwnerIds(owners);
  return tokenBucketsKey(organizationId, `${scope}:${scope === "user" ? userId : groupId}`);
}
