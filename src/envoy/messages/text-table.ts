/** Longer texts, such as keys, rarely repeat and are not cached. */
const MAX_BYTES = 48;
const SLOTS = 1024;

/**
 * Cache of texts by a hash of a few of their bytes: names of headers and most values recur in every request,
 * and comparing is cheaper than creating a string. A new text replaces the one in its slot.
 */
export class TextTable {
  readonly #encoding: "utf8" | "latin1";
  readonly #texts: string[] = Array.from({ length: SLOTS }, () => "");

  constructor(encoding: "utf8" | "latin1") {
    this.#encoding = encoding;
  }

  read(bytes: Buffer, start: number, end: number): string {
    const length = end - start;
    if (length === 0) return "";
    if (length > MAX_BYTES) return bytes.toString(this.#encoding, start, end);
    const middle = bytes[start + (length >> 1)] ?? 0;
    const slot = (length * 37 + (bytes[start] ?? 0) * 7 + middle * 3 + (bytes[end - 1] ?? 0)) % SLOTS;
    const known = this.#texts[slot] ?? "";
    if (isSame(known, bytes, start, length)) return known;
    const text = bytes.toString(this.#encoding, start, end);
    if (text.length === length) this.#texts[slot] = text;
    return text;
  }
}

/**
 * Compares code units with bytes. A UTF-8 text with as many units as bytes is ASCII, unless it contains
 * invalid bytes (U+FFFD, which is no byte value); only such texts are cached, since the units of "Ã¼" equal
 * the bytes of "ü".
 */
function isSame(known: string, bytes: Buffer, start: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let index = 0; index < length; index += 1) {
    if (known.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}
