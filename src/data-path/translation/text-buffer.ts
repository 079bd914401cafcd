const EMPTY = Buffer.alloc(0);
const FIRST_BYTES = 1_024;
/** Most UTF-8 bytes per UTF-16 unit; a four-byte character is two units. */
const MAX_BYTES_PER_CHARACTER = 3;
const FIRST_HIGH_SURROGATE = 0xd800;
const LAST_HIGH_SURROGATE = 0xdbff;

/**
 * Collects text from many small pieces as UTF-8 in one growing buffer: a string that grows by deltas takes many times
 * the memory of its text. Joins a surrogate pair that is split between two pieces.
 */
export class TextBuffer {
  readonly #maxBytes: number;
  #buffer: Buffer = EMPTY;
  #length = 0;
  /** High surrogate at the end of the last piece, otherwise empty. */
  #half = "";

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  toString(): string {
    return this.bytes.toString("utf8") + this.#half;
  }

  /** View of the collected text without a trailing half character; valid until the next `append`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Bytes of the whole text. A trailing half character counts as its replacement character. */
  get byteLength(): number {
    return this.#length + (this.#half === "" ? 0 : MAX_BYTES_PER_CHARACTER);
  }

  /**
   * @param encoding "latin1" for UTF-8 bytes in a string, one character per byte.
   * @returns Whether the piece fitted. If not, no part of it is kept.
   */
  append(text: string, encoding: "utf8" | "latin1" = "utf8"): boolean {
    const last = encoding === "utf8" ? text.charCodeAt(text.length - 1) : 0;
    const endsInHalf = last >= FIRST_HIGH_SURROGATE && last <= LAST_HIGH_SURROGATE;
    if (this.#half === "" && !endsInHalf) return this.#write(text, encoding);
    const joined = this.#half + (encoding === "utf8" ? text : Buffer.from(text, "latin1").toString("utf8"));
    const whole = endsInHalf ? joined.slice(0, -1) : joined;
    if (!this.#write(whole, "utf8")) return false;
    this.#half = endsInHalf ? joined.slice(-1) : "";
    return true;
  }

  #write(text: string, encoding: "utf8" | "latin1"): boolean {
    // Most pieces fit into the free space even at the maximum bytes per character, so skip measuring.
    if (this.#length + MAX_BYTES_PER_CHARACTER * text.length > this.#buffer.length) {
      const needed = this.#length + Buffer.byteLength(text, encoding);
      if (needed > this.#maxBytes) return false;
      if (needed > this.#buffer.length) this.#grow(needed);
    }
    this.#length += this.#buffer.write(text, this.#length, encoding);
    return true;
  }

  #grow(needed: number): void {
    const doubled = Math.min(this.#maxBytes, Math.max(FIRST_BYTES, 2 * this.#buffer.length));
    const grown = Buffer.allocUnsafe(Math.max(needed, doubled));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
