/** Waits between restarts: doubling from `firstMs`, never above `maxMs`, from the start again after a long life. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** A life of at least this long counts as sound: the next crash is again a first one. */
  readonly soundAfterMs: number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  #crashesInARow = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Milliseconds to wait before the restart that follows a life of `livedMs`. */
  nextDelayMs(livedMs: number): number {
    const { firstMs, maxMs, soundAfterMs } = this.#options;
    this.#crashesInARow = livedMs >= soundAfterMs ? 1 : this.#crashesInARow + 1;
    return Math.min(maxMs, firstMs * 2 ** Math.min(this.#crashesInARow - 1, 30));
  }
}
