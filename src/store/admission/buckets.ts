import type { StoreContext } from "../context.ts";
import { keyRecordKey, requestBucketKey } from "../redis/keys.ts";
import { integerOrNullAt, parseArray } from "../redis/parse-reply.ts";
import type { BucketFill } from "../types/reporting.ts";

/** @see AdmissionStore.readBuckets */
export async function readBuckets(
  { client }: StoreContext,
  organizationId: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, BucketFill>> {
  if (keyIds.length === 0) return new Map();
  const names = keyIds.flatMap((id) => [
    keyRecordKey(organizationId, id),
    requestBucketKey(organizationId, id),
  ]);
  const reply = parseArray(await client.igwReadBuckets(String(names.length), ...names));
  return new Map(
    keyIds.flatMap((id, index): [string, BucketFill][] => {
      const remaining = integerOrNullAt(reply, 2 * index);
      const capacity = integerOrNullAt(reply, 2 * index + 1);
      return remaining === null || capacity === null ? [] : [[id, { remaining, capacity }]];
    }),
  );
}
