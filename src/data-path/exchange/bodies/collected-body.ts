/**
 * Collects the pieces of a body until it is complete. Usually there is one piece, which is not copied. Further pieces
 * are copied as they arrive, because a view of a few bytes would retain the whole read buffer.
 */
import { type ErrorCode, GatewayError } from "../../../shared/contract/errors.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { BodyOwner } from "./body-owner.ts";
import { LARGE_BYTES, type BodyReservation } from "./body-reservations.ts";

const EMPTY = new Uint8Array(0);
/** Each piece costs a call from Envoy. This many pieces of any size are accepted; after them the mean size counts. */
const PIECES_OF_ANY_SIZE = 1_000;
/** Mean size. Network packets bring 1,400 bytes or more. */
const MIN_PIECE_BYTES = 512;

export interface CollectedBodyOptions {
  /** Counts all bodies of the worker. */
  readonly budget: Pick<BodyBudget, "checkBody" | "take" | "count" | "release" | "reservations">;
  /** Largest size of one body. */
  readonly maxBytes: number;
}

export class CollectedBody {
  readonly #options: CollectedBodyOptions;
  readonly #owner: BodyOwner;
  /** The body so far, at the beginning of this buffer. */
  #memory: Uint8Array = EMPTY;
  #byteLength = 0;
  /** Bytes counted, for pieces that arrived and for expected ones. */
  #takenBytes = 0;
  #reservation: BodyReservation | null = null;
  #pieces = 0;

  constructor(options: CollectedBodyOptions, owner: BodyOwner) {
    this.#options = options;
    this.#owner = owner;
  }

  /**
   * Reserves memory for the whole body. Returns a promise if it has to wait for other bodies.
   * @param bytes Declared size. Default: the largest size of a body.
   * @throws GatewayError 429 `buffer_limit_exceeded`, 503 `gateway_overloaded`; the promise rejects with the same
   * errors.
   */
  expect(bytes = this.#options.maxBytes): Promise<void> | undefined {
    const { budget } = this.#options;
    if (this.#takenBytes > 0) budget.release(this.#owner, this.#takenBytes);
    this.#takenBytes = 0;
    this.#reservation = budget.reservations.take(this.#owner, bytes);
    return this.#reservation.turn;
  }

  /** The body is large, and its size was not declared. */
  get isUnexpected(): boolean {
    return this.#reservation === null && this.#byteLength >= LARGE_BYTES;
  }

  /**
   * Adds a piece. Returns an error (`tooLarge`, or an error of `BodyBudget.take`) if the body becomes too large; the
   * piece is dropped then.
   */
  add(piece: Uint8Array = EMPTY, tooLarge: ErrorCode): GatewayError | null {
    const { budget, maxBytes } = this.#options;
    if (piece.byteLength === 0) return null;
    if (this.#byteLength + piece.byteLength > maxBytes) {
      return new GatewayError(tooLarge, { cause: new Error(`a body of more than ${maxBytes} bytes`) });
    }
    try {
      const counted = this.#countedBytes;
      const uncounted = this.#byteLength + piece.byteLength - counted;
      if (uncounted > 0) {
        budget.take(this.#owner, uncounted, counted);
        this.#takenBytes += uncounted;
      }
    } catch (thrown) {
      return GatewayError.from(thrown);
    }
    this.#pieces += 1;
    this.#append(piece);
    return null;
  }

  /**
   * Returns an error if a client's body is too large, or is cut into more and smaller pieces than any network or
   * client produces. Each piece costs a call.
   */
  refusalOfRequest(): GatewayError | null {
    try {
      this.#options.budget.checkBody(this.#byteLength);
    } catch (thrown) {
      return GatewayError.from(thrown);
    }
    if (this.#pieces <= PIECES_OF_ANY_SIZE || this.#byteLength >= this.#pieces * MIN_PIECE_BYTES) return null;
    return new GatewayError("invalid_parameter", {
      message: `The request body comes in more than ${PIECES_OF_ANY_SIZE.toLocaleString("en-US")} pieces of less than ${MIN_PIECE_BYTES} bytes. Send it in larger ones.`,
    });
  }

  /** Returns the whole body, which the caller owns then, and empties this one. */
  take(): Uint8Array {
    const counted = this.#countedBytes;
    this.#reservation?.stopWaiting();
    this.#reservation = null;
    const bytes = this.#takeWhole();
    if (counted > 0) this.#options.budget.release(this.#owner, counted);
    return bytes;
  }

  /** As `take`, but keeps counting the body until `use` is done, and the same size again for the result of `use`. */
  async takeFor<Made>(use: (bytes: Uint8Array) => Promise<Made>): Promise<Made> {
    const { budget } = this.#options;
    const bytes = this.#takeWhole();
    budget.count(this.#owner, bytes.byteLength);
    try {
      return await use(bytes);
    } finally {
      budget.release(this.#owner, 2 * bytes.byteLength);
    }
  }

  get #countedBytes(): number {
    return this.#takenBytes + (this.#reservation?.bytes ?? 0);
  }

  #append(piece: Uint8Array): void {
    const byteLength = this.#byteLength + piece.byteLength;
    if (this.#byteLength === 0) {
      this.#memory = piece;
    } else {
      // Always true for the second piece, because the memory of the first one must not be written to.
      if (byteLength > this.#memory.byteLength) {
        const grown = Buffer.allocUnsafeSlow(2 * byteLength);
        grown.set(this.#memory.subarray(0, this.#byteLength));
        this.#memory = grown;
      }
      this.#memory.set(piece, this.#byteLength);
    }
    this.#byteLength = byteLength;
  }

  #takeWhole(): Uint8Array {
    const memory = this.#memory;
    const whole = memory.byteLength === this.#byteLength ? memory : memory.subarray(0, this.#byteLength);
    this.#memory = EMPTY;
    this.#byteLength = 0;
    this.#takenBytes = 0;
    this.#pieces = 0;
    return whole;
  }
}
