/** Sets a map's entry as the newest, and drops the oldest when there are more than so many. */
export function setBounded<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  maxEntries: number,
): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= maxEntries) return;
  const oldest = map.keys().next();
  if (oldest.done !== true) map.delete(oldest.value);
}
