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
interface ChargedBucket {
  readonly scope: string;
  readonly count: string;
  readonly type: TokenLimitType;
}

/** Bound of the cache of parsed buckets; requests of one key have the same text. */
const MAX_KNOWN = 4_096;
const known = new Map<string, readonly ChargedBucket[]>();

/** @param buckets "key=total organization=input,output" */
function parseBuckets(buckets: string): readonly ChargedBucket[] {
  const before = known.get(buckets);
  if (before !== undefined) return before;
  const parsed = readBuckets(buckets);
  if (known.size < MAX_KNOWN) known.set(buckets, parsed);
  return parsed;
}

function readBuckets(buckets: string): readonly ChargedBucket[] {
  return buckets.split(" ").flatMap((bucket) => {
    const [scope = "", types = ""] = bucket.split("=");
    const applied = types.split(",");
    return TOKEN_LIMIT_TYPES.filter((type) => applied.includes(type)).map((type) => ({
      scope,
      count: `${type}:used`,
      type,
    }));
  });
}

/** Formats for a script that calculates the differences: hash, count and reserved tokens of each bucket. */
export function formatTokenCounts(request: Owned, taken: TakenTokens): string[] {
  return parseBuckets(taken.buckets).flatMap(({ scope, count }) => {
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
  for (const { scope, count, type } of parseBuckets(taken.buckets)) {
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
