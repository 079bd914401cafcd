const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** Kind of the text so far. `other`: it begins with something that is not an object. */
export type ScannedKind = "blank" | "object" | "other";

/**
 * Finds the end of a JSON object that arrives in pieces, in constant memory at any length and depth. Does not
 * validate: an object ends where its brackets do.
 */
export class JsonObjectScanner {
  kind: ScannedKind = "blank";
  /** The object is closed; no more text belongs to it. */
  isComplete = false;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  /** @returns Number of characters of the piece that belong to the object. */
  scan(piece: string): number {
    if (this.isComplete) return 0;
    let index = 0;
    if (this.kind === "blank") {
      index = piece.search(/\S/);
      if (index === -1) return piece.length;
      this.kind = piece.charCodeAt(index) === OPENING_BRACE ? "object" : "other";
    }
    if (this.kind === "other") return piece.length;
    for (; index < piece.length; index += 1) {
      this.#read(piece.charCodeAt(index));
      if (this.#depth === 0) {
        this.isComplete = true;
        return index + 1;
      }
    }
    return piece.length;
  }

  #read(code: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === BACKSLASH) this.#isEscaped = true;
      else if (code === QUOTE) this.#isInString = false;
      return;
    }
    if (code === QUOTE) this.#isInString = true;
    else if (code === OPENING_BRACE || code === OPENING_BRACKET) this.#depth += 1;
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) this.#depth -= 1;
  }
}
