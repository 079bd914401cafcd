/** Pieces of a streamed response that are made in one turn of the event loop leave as one; none waits longer than its turn. */
export class TurnPieces {
  readonly #send: (bytes: Uint8Array) => void;
  #pieces: Uint8Array[] = [];

  constructor(send: (bytes: Uint8Array) => void) {
    this.#send = send;
  }

  add(bytes: Uint8Array): void {
    if (bytes.byteLength > 0 && this.#pieces.push(bytes) === 1) queueMicrotask(() => this.flush());
  }

  /** Before anything else that is sent. */
  flush(): void {
    const [first] = this.#pieces;
    if (first === undefined) return;
    const bytes = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#send(bytes);
  }
}
