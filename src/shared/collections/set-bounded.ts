const NOTHING: readonly never[] = [];

/**
 * Returns how many of the oldest entries to drop when a map exceeds its bound. Finding a map's oldest entry
 * skips all deleted ones, up to the map's size: dropping one at a time would take a hundredth of a second per
 * new entry of a map of 100,000, and a client that sends ever new keys or addresses would delay everyone.
 */
export function dropCount(maxEntries: number): number {
  return Math.max(1, Math.floor(maxEntries / 16));
}

/**
 * Sets a map's entry as the newest, and drops the oldest sixteenth above the bound. Up to half of the bound
 * the order is not maintained, since deleting and re-adding an entry makes the map replace its table often,
 * which costs more than everything else here, see short-lived-map.ts.
 * @returns Dropped keys.
 */
export function setBounded<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  maxEntries: number,
): readonly Value[] {
  if (map.size > maxEntries / 2) map.delete(key);
  map.set(key, value);
  if (map.size <= maxEntries) return NOTHING;
  const dropped: Value[] = [];
  const count = dropCount(maxEntries);
  for (const [oldest, old] of map) {
    map.delete(oldest);
    if (dropped.push(old) === count) break;
  }
  return dropped;
}
