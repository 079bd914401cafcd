/**
 * Reads the beginning of an upstream's error body: enough for the reason, whose fault it is and who must act. Does
 * not wait for the end of a long or late body: the client gets its error anyway.
 */
import type { BodyOwner } from "./body-owner.ts";
import { CollectedBody, type CollectedBodyOptions } from "./collected-body.ts";

/** Real error bodies are much shorter. */
const MAX_BYTES = 65_536;
const MAX_WAIT_MS = 2_000;

export interface ErrorBodyOptions {
  readonly budget: CollectedBodyOptions["budget"];
  readonly owner: BodyOwner;
  /** Called once with the bytes read, when they suffice or time is up. Returns a promise if the reply has to wait. */
  readonly onRead: (body: Uint8Array) => Promise<void> | undefined;
  /** Receives the result of `onRead` if a timeout and not a message from Envoy caused it. */
  readonly onLate: (replied: Promise<void> | undefined) => void;
  readonly maxWaitMs?: number;
}

export class ErrorBody {
  readonly #options: ErrorBodyOptions;
  readonly #body: CollectedBody;
  readonly #timer: NodeJS.Timeout;
  #freeBytes = MAX_BYTES;
  #isOver = false;

  constructor(options: ErrorBodyOptions) {
    this.#options = options;
    this.#body = new CollectedBody({ budget: options.budget, maxBytes: MAX_BYTES }, options.owner);
    this.#timer = setTimeout(() => options.onLate(this.end()), options.maxWaitMs ?? MAX_WAIT_MS);
  }

  /** Drops bytes beyond the bound, and bytes that the worker has no memory for. */
  add(piece: Uint8Array, isLast: boolean): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const problem = this.#body.add(piece.subarray(0, this.#freeBytes), "upstream_error");
    this.#freeBytes -= piece.byteLength;
    return isLast || this.#freeBytes <= 0 || problem !== null ? this.end() : undefined;
  }

  /** The body has ended. */
  end(): Promise<void> | undefined {
    return this.#isOver ? undefined : this.#options.onRead(this.drop());
  }

  /** The body is no longer needed. */
  drop(): Uint8Array {
    this.#isOver = true;
    clearTimeout(this.#timer);
    return this.#body.take();
  }
}
