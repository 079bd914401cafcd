/** How many requests a full bucket lets pass at once. The bucket itself is `store/lua/include/bucket.lua`, which says the same. */
export function bucketCapacity(perMinute: number): number {
  return Math.max(10, Math.floor(perMinute / 10));
}
