/**
 * Joins pieces of a streamed response that are made in one tick of the event loop. No piece waits longer than its
 * tick.
 */
export class TurnPieces {
  readonly #send: (bytes: Uint8Array) => void;
  #pieces: Uint8Array[] = [];

  constructor(send: (bytes: Uint8Array) => void) {
    this.#send = send;
  }

  add(bytes: Uint8Array): void {
    if (bytes.byteLength > 0 && this.#pieces.push(bytes) === 1) queueMicrotask(() => this.flush());
  }

  /** Call before sending anything else. */
  flush(): void {
    const [first] = this.#pieces;
    if (first === undefined) return;
    const bytes = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#send(bytes);
  }
}
