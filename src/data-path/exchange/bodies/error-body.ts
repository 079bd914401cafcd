/**
 * The beginning of the body of an upstream's error response: enough to say why, whose fault it is and who must act. Its
 * end is not waited for where it is long or late: the client learns of the error all the same.
 */
import type { BodyOwner } from "./body-owner.ts";
import { CollectedBody, type CollectedBodyOptions } from "./collected-body.ts";

/** What servers write of an error is much shorter. */
const MAX_BYTES = 65_536;
const MAX_WAIT_MS = 2_000;

export interface ErrorBodyOptions {
  readonly budget: CollectedBodyOptions["budget"];
  readonly owner: BodyOwner;
  /** It is told once what there is, when that is enough or late, and returns a promise where the reply has to wait. */
  readonly onRead: (body: Uint8Array) => Promise<void> | undefined;
  /** It takes what `onRead` returns where no message from Envoy brought it about. */
  readonly onLate: (replied: Promise<void> | undefined) => void;
  readonly maxWaitMs?: number;
}

export class ErrorBody {
  readonly #options: ErrorBodyOptions;
  readonly #body: CollectedBody;
  readonly #timer: NodeJS.Timeout;
  #room = MAX_BYTES;
  #isOver = false;

  constructor(options: ErrorBodyOptions) {
    this.#options = options;
    this.#body = new CollectedBody({ budget: options.budget, maxBytes: MAX_BYTES }, options.owner);
    this.#timer = setTimeout(() => options.onLate(this.end()), options.maxWaitMs ?? MAX_WAIT_MS);
  }

  /** What is beyond the bound is not kept, nor what the worker has no room for. */
  add(piece: Uint8Array, isLast: boolean): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const problem = this.#body.add(piece.subarray(0, this.#room), "upstream_error");
    this.#room -= piece.byteLength;
    return isLast || this.#room <= 0 || problem !== null ? this.end() : undefined;
  }

  /** Nothing more comes. */
  end(): Promise<void> | undefined {
    return this.#isOver ? undefined : this.#options.onRead(this.drop());
  }

  /** Nobody asks for it any more. */
  drop(): Uint8Array {
    this.#isOver = true;
    clearTimeout(this.#timer);
    return this.#body.take();
  }
}
