/** A body whose pieces arrive one by one, until it is whole. Usually it is one piece, which is not copied. */
import { type ErrorCode, GatewayError } from "../contract/errors.ts";
import type { BodyBudget, BodyOwner } from "./body-budget.ts";

const EMPTY = new Uint8Array(0);

export interface CollectedBodyOptions {
  /** A worker counts all bodies together in it. */
  readonly budget: Pick<BodyBudget, "take" | "keep" | "release">;
  /** One body may have so much. */
  readonly maxBytes: number;
}

export class CollectedBody {
  readonly #options: CollectedBodyOptions;
  readonly #owner: BodyOwner;
  #pieces: Uint8Array[] = [];
  #byteLength = 0;

  constructor(options: CollectedBodyOptions, owner: BodyOwner) {
    this.#options = options;
    this.#owner = owner;
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
      budget.take(this.#owner, piece.byteLength);
    } catch (thrown) {
      return GatewayError.from(thrown);
    }
    this.#pieces.push(piece);
    this.#byteLength += piece.byteLength;
    return null;
  }

  /** It returns all of it, which is the caller's from here on, and this is empty. */
  take(): Uint8Array {
    const bytes = this.#takeWhole();
    this.#options.budget.release(this.#owner, bytes.byteLength);
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

  #takeWhole(): Uint8Array {
    const [first = EMPTY, ...more] = this.#pieces;
    const whole = more.length === 0 ? first : Buffer.concat(this.#pieces, this.#byteLength);
    this.#pieces = [];
    this.#byteLength = 0;
    return whole;
  }
}
