const EMPTY = Buffer.alloc(0);
const FIRST_BYTES = 1_024;
/** The most bytes that one of a string's characters takes in UTF-8; four bytes are two of them. */
const MAX_BYTES_PER_CHARACTER = 3;
const FIRST_HIGH_SURROGATE = 0xd800;
const LAST_HIGH_SURROGATE = 0xdbff;

/**
 * Collects text that comes in many small pieces, as UTF-8 in one growing buffer: a string that grows by deltas takes many
 * times the memory of its text. A character whose two halves come in two pieces is that character.
 */
export class TextBuffer {
  readonly #maxBytes: number;
  #buffer: Buffer = EMPTY;
  #length = 0;
  /** The first half of a character, which the last piece ended with; else empty. */
  #half = "";

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  /** The whole text. */
  toString(): string {
    return this.bytes.toString("utf8") + this.#half;
  }

  /** What has been collected, up to the last whole character; a view, valid until the next piece. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The bytes of the whole text; half a character is as long as what stands for it. */
  get byteLength(): number {
    return this.#length + (this.#half === "" ? 0 : MAX_BYTES_PER_CHARACTER);
  }

  /**
   * @param encoding "latin1" for UTF-8 that is a string of one character per byte.
   * @returns Whether the piece fitted; when not, nothing of it is kept.
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
    // Most pieces need not be measured: there is room for them whatever they are.
    if (this.#length + MAX_BYTES_PER_CHARACTER * text.length > this.#buffer.length) {
      const needed = this.#length + Buffer.byteLength(text, encoding);
      if (needed > this.#maxBytes) return false;
      if (needed > this.#buffer.length) this.#grow(needed);
    }
    this.#length += this.#buffer.write(text, this.#length, encoding);
    return true;
  }

  #grow(needed: number): void {
    const roomy = Math.min(this.#maxBytes, Math.max(FIRST_BYTES, 2 * this.#buffer.length));
    const grown = Buffer.allocUnsafe(Math.max(needed, roomy));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
