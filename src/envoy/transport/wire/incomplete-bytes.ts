import { ShortLivedMap } from "../../../shared/collections/short-lived-map.ts";
import { INCOMPLETE_BYTES, MAX_INCOMPLETE_BYTES } from "./limits.ts";

/** Stream with an incomplete message. */
export interface IncompleteCall {
  readonly id: number;
  /** Received bytes of that message. */
  readonly incompleteBytes: number;
  /** True if its listener is paused: the stream is skipped when choosing the next one. */
  readonly isPaused: boolean;
  /** Gives back the withheld window, if there is space now. */
  releaseWithheld(): void;
}

/**
 * Bytes of incomplete messages on all streams of a connection. Below a bound each stream gets as much window
 * as it has used. Above it only the stream that started first gets any: its message completes and is used,
 * then the next stream continues. Bounding the connection's own window would also limit memory, but the
 * streams that fill it would wait for each other for ever.
 */
export class IncompleteBytes {
  /** Streams in the order in which their messages started. */
  readonly #calls = new ShortLivedMap<number, IncompleteCall>();
  #bytes = 0;

  /** True if a call that adds bytes must fail. */
  get isFull(): boolean {
    return this.#bytes > MAX_INCOMPLETE_BYTES;
  }

  /** Counts additional bytes of a stream. */
  add(call: IncompleteCall, bytes: number): void {
    this.#bytes += bytes;
    if (this.#calls.get(call.id) === undefined) this.#calls.set(call.id, call);
  }

  /** Call when its message is complete, or the stream has ended. */
  release(call: IncompleteCall, bytes: number): void {
    if (!this.#calls.delete(call.id)) return;
    this.#bytes -= bytes;
    this.wake();
  }

  /** Lets the next stream continue. */
  wake(): void {
    for (const waiting of this.#calls.values()) {
      if (!waiting.isPaused && this.canGrow(waiting)) waiting.releaseWithheld();
    }
  }

  /** Returns whether a stream may receive more. */
  canGrow(call: IncompleteCall): boolean {
    if (this.#bytes <= INCOMPLETE_BYTES) return true;
    for (const first of this.#calls.values()) {
      if (!first.isPaused) return first === call;
    }
    return false;
  }
}
