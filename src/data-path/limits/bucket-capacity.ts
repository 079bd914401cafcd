/**
 * How many requests the full buckets of a key let pass at once. The buckets are `store/lua/include/bucket.lua`'s, which says the
 * same; a test holds both equal.
 */
export function bucketCapacity(perMinute: number): number {
  return Math.max(10, Math.floor(perMinute / 10));
}

/** The same of the bucket of counts of tokens: clients send two dozen of these at once. */
export function countBucketCapacity(perMinute: number): number {
  return Math.max(60, bucketCapacity(perMinute));
}
