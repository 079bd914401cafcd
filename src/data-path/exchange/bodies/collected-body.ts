/**
 * A body whose pieces arrive one by one, until it is whole. Usually it is one piece, which is not copied. Further ones are
 * copied together at once: a view of a few bytes would keep all the memory that it was read into.
 */
import { type ErrorCode, GatewayError } from "../../../shared/contract/errors.ts";
import type { BodyBudget } from "./body-budget.ts";
import type { BodyOwner } from "./body-owner.ts";
import { LARGE_BYTES, type Room } from "./body-room.ts";

const EMPTY = new Uint8Array(0);
/** Each piece costs a call of Envoy's. A body may come in so many pieces, whatever their size; one in more has larger ones. */
const PIECES_OF_ANY_SIZE = 1_000;
/** On average. What a network brings at a time has 1,400 bytes or more. */
const MIN_PIECE_BYTES = 512;

export interface CollectedBodyOptions {
  /** A worker counts all bodies together in it. */
  readonly budget: Pick<BodyBudget, "checkBody" | "take" | "keep" | "release" | "room">;
  /** One body may have so much. */
  readonly maxBytes: number;
}

export class CollectedBody {
  readonly #options: CollectedBodyOptions;
  readonly #owner: BodyOwner;
  /** The body so far is its beginning. */
  #memory: Uint8Array = EMPTY;
  #byteLength = 0;
  /** It is counted as it came, and as room before it comes. */
  #takenBytes = 0;
  #room: Room | null = null;
  #pieces = 0;

  constructor(options: CollectedBodyOptions, owner: BodyOwner) {
    this.#options = options;
    this.#owner = owner;
  }

  /**
   * So much is to come in all, and counts from now on. It returns a promise where that has to wait for others.
   * @param bytes What its sender says; left out: the most that it may have.
   * @throws GatewayError 429 `buffer_limit_exceeded`, 503 `gateway_overloaded`; a promise rejects with the same.
   */
  expect(bytes = this.#options.maxBytes): Promise<void> | undefined {
    const { budget } = this.#options;
    if (this.#takenBytes > 0) budget.release(this.#owner, this.#takenBytes);
    this.#takenBytes = 0;
    this.#room = budget.room.take(this.#owner, bytes);
    return this.#room.turn;
  }

  /** Nobody has said how large it is, and it is large. */
  get isUnexpected(): boolean {
    return this.#room === null && this.#byteLength >= LARGE_BYTES;
  }

  /**
   * It returns an error where that becomes too much, `tooLarge` or what `BodyBudget.take` throws: the piece is not kept
   * then.
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
   * An error where a client's body is too large, or comes in more and smaller pieces than any network or client cuts it
   * into; each costs a call.
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

  /** It returns all of it, which is the caller's from here on, and this is empty. */
  take(): Uint8Array {
    const counted = this.#countedBytes;
    this.#room?.leave();
    this.#room = null;
    const bytes = this.#takeWhole();
    if (counted > 0) this.#options.budget.release(this.#owner, counted);
    return bytes;
  }

  /**
   * It does the same, but all is counted until `use` is done: as it came, and as what is made of it, which is as large.
   */
  async takeFor<Made>(use: (bytes: Uint8Array) => Promise<Made>): Promise<Made> {
    const { budget } = this.#options;
    const bytes = this.#takeWhole();
    budget.keep(this.#owner, bytes.byteLength);
    try {
      return await use(bytes);
    } finally {
      budget.release(this.#owner, 2 * bytes.byteLength);
    }
  }

  get #countedBytes(): number {
    return this.#takenBytes + (this.#room?.bytes ?? 0);
  }

  #append(piece: Uint8Array): void {
    const byteLength = this.#byteLength + piece.byteLength;
    if (this.#byteLength === 0) {
      this.#memory = piece;
    } else {
      // Always the case after the first piece, whose memory is not written to.
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
