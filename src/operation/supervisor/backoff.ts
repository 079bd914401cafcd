/** Waits between restarts: doubling from `firstMs` up to `maxMs`, and starting over after a long run. */
export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** A run of at least this long counts as healthy: the next crash is again the first. */
  readonly soundAfterMs: number;
}

export class Backoff {
  readonly #options: BackoffOptions;
  #crashesInARow = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Returns the milliseconds to wait before the restart after a run of `livedMs`. */
  nextDelayMs(livedMs: number): number {
    const { firstMs, maxMs, soundAfterMs } = this.#options;
    this.#crashesInARow = livedMs >= soundAfterMs ? 1 : this.#crashesInARow + 1;
    return Math.min(maxMs, firstMs * 2 ** Math.min(this.#crashesInARow - 1, 30));
  }
}
