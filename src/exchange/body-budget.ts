/**
 * The bytes of bodies that one worker holds at a time. A worker that would hold more refuses the request
 * (`gateway_overloaded`) instead of running out of memory under many large bodies at once.
 */
export class BodyBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Whether so many more bytes fit; they count as held from then on. A single body always fits an empty budget. */
  take(bytes: number): boolean {
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > this.#maxBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  /** Gives back what `take` took. */
  give(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}
