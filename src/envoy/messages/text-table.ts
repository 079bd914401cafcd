/** No longer ones are kept: what is long, such as a key, hardly comes twice. */
const MAX_BYTES = 48;
const SLOTS = 1024;

/**
 * Texts seen before, by a hash of a few of their bytes: names of headers and most of their values come with every request,
 * and comparing is cheaper than making a string. What was kept in a text's place is forgotten.
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
 * By units as bytes. A text in UTF-8 that has as many units as bytes is ASCII, but for bytes that are none of it (U+FFFD,
 * which is no byte); only such are kept, since "Ã¼" has for units what "ü" has for bytes.
 */
function isSame(known: string, bytes: Buffer, start: number, length: number): boolean {
  if (known.length !== length) return false;
  for (let index = 0; index < length; index += 1) {
    if (known.charCodeAt(index) !== bytes[start + index]) return false;
  }
  return true;
}
