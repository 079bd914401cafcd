/** Operations of admission: admitting requests, reading bucket levels and announcing workers. */
import { timeMs } from "../redis/clock.ts";
import { storeOf } from "../run.ts";
import type { AdmissionStore } from "../../../shared/stored/admission.ts";
import { admit, findKeyReference } from "./admit.ts";
import type { StoreContext } from "../context.ts";
import { WORKERS_KEY, keyRecordKey, requestBucketKey } from "../redis/keys.ts";
import { formatCount, integerAt, parseArray, parseIntegerOrNull, textAt } from "../redis/parse-reply.ts";
import { AT, OUTCOME } from "../redis/reply-layouts.ts";
import { listOf } from "../redis/row-layouts.ts";
import { parseTokenBuckets } from "./token-buckets.ts";
import type { BucketFill } from "../../../shared/stored/reporting.ts";

export const createAdmissionStore = storeOf<AdmissionStore>({
  lookUpKey: findKeyReference,
  admit,
  readBuckets,
  timeMs,
  announceWorker,
});

/** @see AdmissionStore.announceWorker */
async function announceWorker(
  { client }: StoreContext,
  workerId: string,
  countsForMs: number,
): Promise<number> {
  const count = await client.igwAnnounce({
    workers: WORKERS_KEY,
    worker: workerId,
    countsForMs: formatCount(countsForMs),
  });
  if (typeof count !== "number") throw new TypeError(`announce replied ${typeof count}, not a number`);
  return count;
}

/** @see AdmissionStore.readBuckets */
async function readBuckets(
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
