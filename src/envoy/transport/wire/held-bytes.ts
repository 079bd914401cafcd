import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";
import { HELD_BYTES, MAX_HELD_BYTES } from "./limits.ts";

/** A stream of which a message is not whole. */
export interface Holder {
  readonly id: number;
  /** Of that message. */
  readonly heldBytes: number;
  /** Its listener is behind: it takes no part in who comes next. */
  readonly isPaused: boolean;
  /** There may be room: what was withheld of its window is given back. */
  giveBackHeld(): void;
}

/**
 * What a connection has received of messages that are not whole, over all its streams. Up to a bound each stream gets
 * window for as much as has come. Beyond, only the one that began first gets any: its message becomes whole and is used,
 * and then it is the next one's turn. To bound the connection's own window instead would hold memory down as well, but
 * the streams that fill it would wait for each other for ever.
 */
export class HeldBytes {
  /** In the order in which their messages began. */
  readonly #holders = new ShortLivedMap<number, Holder>();
  #bytes = 0;

  /** A call that adds to it is to fail. */
  get isFull(): boolean {
    return this.#bytes > MAX_HELD_BYTES;
  }

  /** What a stream holds has become more. */
  add(holder: Holder, bytes: number): void {
    this.#bytes += bytes;
    if (this.#holders.get(holder.id) === undefined) this.#holders.set(holder.id, holder);
  }

  /** Its message is whole, or the stream is over. */
  release(holder: Holder, bytes: number): void {
    if (!this.#holders.delete(holder.id)) return;
    this.#bytes -= bytes;
    this.wake();
  }

  /** Another one may come next. */
  wake(): void {
    for (const waiting of this.#holders.values()) {
      if (!waiting.isPaused && this.mayGrow(waiting)) waiting.giveBackHeld();
    }
  }

  /** Whether a stream may be sent more. */
  mayGrow(holder: Holder): boolean {
    if (this.#bytes <= HELD_BYTES) return true;
    for (const first of this.#holders.values()) {
      if (!first.isPaused) return first === holder;
    }
    return false;
  }
}
