/** So many entries may come before the map is made anew, beside four for each that is in it. */
const MIN_ADDED = 64;

/**
 * A map whose entries come and go with requests. V8's own map replaces its table again and again then, and each table
 * points to the one after it: as soon as one has been promoted to the old generation, all further ones are too, dead as
 * they are, with all that was in them, until a full collection. Here a new map takes over before it comes to that, and
 * what ended with a request dies young.
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

  /** False when it was not there. */
  delete(key: Key): boolean {
    return this.#map.delete(key);
  }

  values(): IterableIterator<Value> {
    return this.#map.values();
  }
}
