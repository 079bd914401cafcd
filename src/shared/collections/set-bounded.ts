const NOTHING: readonly never[] = [];

/**
 * How many of the oldest go at once when there are more than so many. A map's oldest entry is found behind all that were
 * taken out before it, up to as many as there are in it: one at a time, that is a hundredth of a second for each new entry
 * of a map of 100,000, which whoever sends ever new keys or addresses would make everybody wait for.
 */
export function dropCount(maxEntries: number): number {
  return Math.max(1, Math.floor(maxEntries / 16));
}

/**
 * Sets a map's entry as the newest, and drops a sixteenth of them, the oldest, when there are more than so many. Up to half
 * of that, no order is kept: taking an entry out and putting it in again makes the map replace its table every few times,
 * which costs more than all else here, see short-lived-map.ts.
 * @returns What was dropped.
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
