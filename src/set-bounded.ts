/**
 * Sets a map's entry as the newest, and drops the oldest when there are more than so many. Up to half of that, no order is
 * kept: taking an entry out and putting it in again makes the map replace its table every few times, which costs more than
 * all else here, see short-lived-map.ts.
 * @returns What was dropped, or null.
 */
export function setBounded<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  maxEntries: number,
): Value | null {
  if (map.size > maxEntries / 2) map.delete(key);
  map.set(key, value);
  if (map.size <= maxEntries) return null;
  const oldest = map.entries().next();
  if (oldest.done === true) return null;
  const [oldestKey, dropped] = oldest.value;
  map.delete(oldestKey);
  return dropped;
}
