/** Flow control (RFC 9113, section 5.2): how much the peer may send us, and how much we may send. */
import { MAX_WINDOW_BYTES } from "./frames.ts";

/** Window for data from the peer on a stream or a connection. */
export class ReceiveWindow {
  readonly #bytes: number;
  #available: number;
  #unreturned = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#available = bytes;
  }

  /** Counts received bytes. Returns false if they exceed the window. */
  take(bytes: number): boolean {
    this.#available -= bytes;
    return this.#available >= 0;
  }

  /** Releases bytes. Returns the increment for the next WINDOW_UPDATE: 0 while less than half the window is free. */
  release(bytes: number): number {
    this.#unreturned += bytes;
    if (this.#unreturned * 2 < this.#bytes) return 0;
    const increment = this.#unreturned;
    this.#available += increment;
    this.#unreturned = 0;
    return increment;
  }
}

/** Window for our data. A smaller initial window in the peer's SETTINGS can make it negative. */
export class SendWindow {
  #available: number;

  constructor(bytes: number) {
    this.#available = bytes;
  }

  get available(): number {
    return this.#available;
  }

  take(bytes: number): void {
    this.#available -= bytes;
  }

  /** Returns false if the window would exceed its maximum. */
  grow(bytes: number): boolean {
    this.#available += bytes;
    return this.#available <= MAX_WINDOW_BYTES;
  }
}
