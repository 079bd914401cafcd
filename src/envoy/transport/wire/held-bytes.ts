import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";
import { HELD_BYTES, MAX_HELD_BYTES } from "./limits.ts";

/** Stream with an incomplete message. */
export interface Holder {
  readonly id: number;
  /** Received bytes of that message. */
  readonly heldBytes: number;
  /** True if its listener is paused: the stream is skipped when choosing the next one. */
  readonly isPaused: boolean;
  /** Gives back the withheld window, if there is space now. */
  giveBackHeld(): void;
}

/**
 * Bytes of incomplete messages on all streams of a connection. Below a bound each stream gets as much window
 * as it has used. Above it only the stream that started first gets any: its message completes and is used,
 * then the next stream continues. Bounding the connection's own window would also limit memory, but the
 * streams that fill it would wait for each other for ever.
 */
export class HeldBytes {
  /** Streams in the order in which their messages started. */
  readonly #holders = new ShortLivedMap<number, Holder>();
  #bytes = 0;

  /** True if a call that adds bytes must fail. */
  get isFull(): boolean {
    return this.#bytes > MAX_HELD_BYTES;
  }

  /** Counts additional bytes of a stream. */
  add(holder: Holder, bytes: number): void {
    this.#bytes += bytes;
    if (this.#holders.get(holder.id) === undefined) this.#holders.set(holder.id, holder);
  }

  /** Call when its message is complete, or the stream has ended. */
  release(holder: Holder, bytes: number): void {
    if (!this.#holders.delete(holder.id)) return;
    this.#bytes -= bytes;
    this.wake();
  }

  /** Lets the next stream continue. */
  wake(): void {
    for (const waiting of this.#holders.values()) {
      if (!waiting.isPaused && this.mayGrow(waiting)) waiting.giveBackHeld();
    }
  }

  /** Returns whether a stream may receive more. */
  mayGrow(holder: Holder): boolean {
    if (this.#bytes <= HELD_BYTES) return true;
    for (const first of this.#holders.values()) {
      if (!first.isPaused) return first === holder;
    }
    return false;
  }
}
