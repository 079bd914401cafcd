/** A body whose pieces arrive one by one, until it is whole. Usually it is one piece, which is not copied. */
import { type ErrorCode, GatewayError } from "../errors.ts";
import type { BodyBudget } from "./body-budget.ts";

const EMPTY = new Uint8Array(0);

export interface CollectedBodyOptions {
  /** What a worker holds of all bodies together. */
  readonly budget: Pick<BodyBudget, "hold" | "release">;
  /** The most of one body. */
  readonly maxBytes: number;
}

export class CollectedBody {
  readonly #options: CollectedBodyOptions;
  #pieces: Uint8Array[] = [];
  #byteLength = 0;

  constructor(options: CollectedBodyOptions) {
    this.#options = options;
  }

  /** The error where it becomes too much, `tooLarge` or `gateway_overloaded`: the piece is not kept then. */
  add(piece: Uint8Array = EMPTY, tooLarge: ErrorCode): GatewayError | null {
    const { budget, maxBytes } = this.#options;
    if (piece.byteLength === 0) return null;
    if (this.#byteLength + piece.byteLength > maxBytes) {
      return new GatewayError(tooLarge, { cause: new Error(`a body of more than ${maxBytes} bytes`) });
    }
    try {
      budget.hold(piece.byteLength);
    } catch (thrown) {
      return GatewayError.from(thrown);
    }
    this.#pieces.push(piece);
    this.#byteLength += piece.byteLength;
    return null;
  }

  /** All of it; from here on it is the caller's, and this is empty. */
  take(): Uint8Array {
    const [first = EMPTY, ...more] = this.#pieces;
    const whole = more.length === 0 ? first : Buffer.concat(this.#pieces, this.#byteLength);
    this.#options.budget.release(this.#byteLength);
    this.#pieces = [];
    this.#byteLength = 0;
    return whole;
  }
}
