/** Flow control (RFC 9113, section 5.2): what the peer may send us, and what we may send. */
import { MAX_WINDOW_BYTES } from "./frames.ts";

/** Ours: what the peer may still send on a stream or a connection. */
export class ReceiveWindow {
  readonly #bytes: number;
  #left: number;
  #unreturned = 0;

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#left = bytes;
  }

  /** Bytes have come. False when they are more than was allowed. */
  take(bytes: number): boolean {
    this.#left -= bytes;
    return this.#left >= 0;
  }

  /** Bytes may come again. Returns what the next WINDOW_UPDATE must say: 0 while less than half the window is due. */
  giveBack(bytes: number): number {
    this.#unreturned += bytes;
    if (this.#unreturned * 2 < this.#bytes) return 0;
    const increment = this.#unreturned;
    this.#left += increment;
    this.#unreturned = 0;
    return increment;
  }
}

/** The peer's: what we may still send. A smaller initial window in its SETTINGS can make it negative. */
export class SendWindow {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get left(): number {
    return this.#left;
  }

  take(bytes: number): void {
    this.#left -= bytes;
  }

  /** False when the peer made it larger than a window may be. */
  grow(bytes: number): boolean {
    this.#left += bytes;
    return this.#left <= MAX_WINDOW_BYTES;
  }
}
