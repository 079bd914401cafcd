import type { StoreContext } from "../context.ts";
import { keyRecordKey, requestBucketKey } from "../redis/keys.ts";
import { integerAt, parseArray, parseIntegerOrNull, textAt } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { listOf } from "../redis/row-layouts.ts";
import { parseTokenBuckets } from "./token-buckets.ts";
import type { BucketFill } from "../types/reporting.ts";

/** @see AdmissionStore.readBuckets */
export async function readBuckets(
  { client }: StoreContext,
  organizationId: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, BucketFill>> {
  if (keyIds.length === 0) return new Map();
  const furtherKeys = keyIds.flatMap((id) =>
    listOf["bucket-keys"]({
      keyRecord: keyRecordKey(organizationId, id),
      requestBucket: requestBucketKey(organizationId, id),
    }),
  );
  const reply = parseArray(await client.igwReadBuckets({ furtherKeys }));
  const at = AT.bucket;
  return new Map(
    keyIds.flatMap((id, index): [string, BucketFill][] => {
      const bucket = parseArray(reply[index]);
      if (textAt(bucket, OUTCOME) === "missing") return [];
      const fill = {
        remaining: integerAt(bucket, at.remaining),
        capacity: integerAt(bucket, at.capacity),
        tokens: parseTokenBuckets(textAt(bucket, at.tokens)),
        lastUsedMs: parseIntegerOrNull(textAt(bucket, at.lastUsedMs)),
      };
      return [[id, fill]];
    }),
  );
}
