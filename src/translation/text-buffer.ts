const FIRST_BYTES = 1_024;

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

  /**
   * @param encoding "latin1" for UTF-8 that is a string of one character per byte.
   * @returns Whether the piece fitted; when not, nothing of it is kept.
   */
  append(text: string, encoding: "utf8" | "latin1" = "utf8"): boolean {
    const needed = this.#length + Buffer.byteLength(text, encoding);
    if (needed > this.#maxBytes) return false;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#length += this.#buffer.write(text, this.#length, encoding);
    return true;
  }

  #grow(needed: number): void {
    const grown = Buffer.allocUnsafe(Math.max(FIRST_BYTES, needed, 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}
