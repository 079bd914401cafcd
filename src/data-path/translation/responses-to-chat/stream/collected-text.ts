import { GatewayError } from "../../../../shared/contract/errors.ts";
import { TextBuffer } from "../../text-buffer.ts";

/** All that one answer may come to, in UTF-8: the last event repeats it, so it is kept until then. */
const MAX_ANSWER_BYTES = 16 * 1_048_576;

/** What is left for the texts of one answer. */
export class AnswerBudget {
  #leftBytes = MAX_ANSWER_BYTES;

  /** @throws GatewayError `upstream_error` when it is used up. */
  take(bytes: number): void {
    this.#leftBytes -= bytes;
    if (this.#leftBytes >= 0) return;
    const cause = new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    throw new GatewayError("upstream_error", { cause });
  }
}

/** One text of an item, collected from its deltas. */
export class CollectedText {
  readonly #budget: AnswerBudget;
  readonly #buffer = new TextBuffer({ maxBytes: MAX_ANSWER_BYTES });

  constructor(budget: AnswerBudget) {
    this.#budget = budget;
  }

  get bytes(): Buffer {
    return this.#buffer.bytes;
  }

  /** @throws GatewayError `upstream_error` when the answer is larger than may be held. */
  append(piece: string): void {
    this.#budget.take(Buffer.byteLength(piece));
    this.#buffer.append(piece);
  }

  toString(): string {
    return this.#buffer.toString();
  }
}
