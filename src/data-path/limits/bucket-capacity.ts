/**
 * Returns how many requests a key's full bucket admits at once. The buckets are in
 * `store/lua/include/bucket.lua`, which has the same rule; a test compares both.
 */
export function bucketCapacity(perMinute: number): number {
  return Math.max(10, Math.floor(perMinute / 10));
}

/** Returns the capacity of the bucket of count_tokens: clients send two dozen of these at once. */
export function countBucketCapacity(perMinute: number): number {
  return Math.max(60, bucketCapacity(perMinute));
}
