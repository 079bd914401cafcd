const FIRST_BYTES = 1_024;
/** Of a string's characters in UTF-8; four bytes are two of them. */
const MAX_BYTES_PER_CHARACTER = 3;

/**
 * Collects text that comes in many small pieces, as UTF-8 in one growing buffer: a string that grows by deltas takes many
 * times the memory of its text.
 */
export class TextBuffer {
  readonly #maxBytes: number;
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor({ maxBytes }: { readonly maxBytes: number }) {
    this.#maxBytes = maxBytes;
  }

  /** What has been collected; a view, valid until the next piece. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  get byteLength(): number {
    return this.#length;
  }

  /**
   * @param encoding "latin1" for UTF-8 that is a string of one character per byte.
   * @returns Whether the piece fitted; when not, nothing of it is kept.
   */
  append(text: string, encoding: "utf8" | "latin1" = "utf8"): boolean {
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
