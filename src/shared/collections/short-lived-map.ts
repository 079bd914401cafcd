/** Entries that may be added before the map is replaced, in addition to four for each current entry. */
const MIN_ADDED = 64;

/**
 * Map whose entries come and go with requests. V8's own map then replaces its table again and again, and each
 * table points to the next: once one is promoted to the old generation, all later ones are as well, even if
 * dead, with all their contents, until a full collection. Here a new map takes over earlier, so that data of
 * ended requests dies young.
 */
export class ShortLivedMap<Key, Value> {
  #map = new Map<Key, Value>();
  #added = 0;

  get size(): number {
    return this.#map.size;
  }

  get(key: Key): Value | undefined {
    return this.#map.get(key);
  }

  set(key: Key, value: Value): void {
    this.#added += 1;
    if (this.#added > MIN_ADDED + 4 * this.#map.size) {
      this.#map = new Map(this.#map);
      this.#added = 0;
    }
    this.#map.set(key, value);
  }

  /** Returns false if the key was not in the map. */
  delete(key: Key): boolean {
    return this.#map.delete(key);
  }

  values(): IterableIterator<Value> {
    return this.#map.values();
  }
}
