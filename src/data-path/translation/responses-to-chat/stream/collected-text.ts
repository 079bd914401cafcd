import { GatewayError } from "../../../../shared/contract/errors.ts";
import { TextBuffer } from "../../text-buffer.ts";

/** Most UTF-8 bytes of one answer, which is kept because the last event repeats it. */
const MAX_ANSWER_BYTES = 16 * 1_048_576;

/** Remaining bytes for the texts of one answer. */
export class AnswerBudget {
  #remainingBytes = MAX_ANSWER_BYTES;

  /** @throws GatewayError `upstream_error` if the budget is exceeded. */
  take(bytes: number): void {
    this.#remainingBytes -= bytes;
    if (this.#remainingBytes >= 0) return;
    const cause = new Error(`a response of more than ${MAX_ANSWER_BYTES} bytes`);
    throw new GatewayError("upstream_error", { cause });
  }
}

/** Collects one text of an item from its deltas. */
export class CollectedText {
  readonly #budget: AnswerBudget;
  readonly #buffer = new TextBuffer({ maxBytes: MAX_ANSWER_BYTES });

  constructor(budget: AnswerBudget) {
    this.#budget = budget;
  }

  get bytes(): Buffer {
    return this.#buffer.bytes;
  }

  /** @throws GatewayError `upstream_error` if the answer exceeds its limit. */
  append(piece: string): void {
    this.#budget.take(Buffer.byteLength(piece));
    this.#buffer.append(piece);
  }

  toString(): string {
    return this.#buffer.toString();
  }
}
