import { isJsonObject, type JsonObject, toArray } from "../../../shared/text/json-object.ts";
import { MAX_CARRIED_BYTES } from "../conversation/carried-reasoning.ts";
import { formatJson } from "../json/exact-json.ts";
import { readString } from "./read-message.ts";

/** How the objects of a field are split into pieces. */
export interface PieceRules {
  /** Name of the field that grows, by the object's type. */
  readonly growing: Readonly<Record<string, string>>;
  /** Returns whether `next`, of the same type, continues `last`. */
  readonly continues: (last: JsonObject, next: JsonObject) => boolean;
}

/** Rules of OpenRouter. */
export const DETAILS: PieceRules = {
  growing: { "reasoning.text": "text", "reasoning.summary": "summary" },
  continues: (last, next) => last["index"] === next["index"],
};

/** Rules of LiteLLM for Anthropic's models: a signature ends a block. */
export const THINKING_BLOCKS: PieceRules = {
  growing: { thinking: "thinking" },
  continues: (last) => readString(last["signature"]) === "",
};

/** Assembles the objects of one field from an answer's deltas, up to the carrier limit. */
export class CarriedPieces {
  readonly #rules: PieceRules;
  #whole: JsonObject[] = [];
  /** Characters of the whole answer. */
  #characters = 0;

  constructor(rules: PieceRules) {
    this.#rules = rules;
  }

  add(list: unknown): void {
    for (const piece of toArray(list)) if (isJsonObject(piece)) this.#add(piece);
  }

  /**
   * Returns the objects since the last call; empty once the limit is exceeded, because incomplete data is worse than
   * none.
   */
  take(): JsonObject[] {
    const whole = this.#isOverLimit ? [] : this.#whole;
    this.#whole = [];
    return whole;
  }

  get #isOverLimit(): boolean {
    return this.#characters > MAX_CARRIED_BYTES;
  }

  #add(piece: JsonObject): void {
    if (this.#isOverLimit) return;
    this.#characters += formatJson(piece).length;
    const last = this.#whole.at(-1);
    const growing = this.#rules.growing[readString(piece["type"])];
    const continues =
      last !== undefined && last["type"] === piece["type"] && this.#rules.continues(last, piece);
    if (continues && growing !== undefined) this.#whole[this.#whole.length - 1] = join(last, piece, growing);
    else this.#whole.push(piece);
    if (this.#isOverLimit) this.#whole = [];
  }
}

/** Members of the later piece replace earlier ones, unless they are null or empty. */
function join(first: JsonObject, next: JsonObject, growing: string): JsonObject {
  const members = Object.entries(next).filter(([, value]) => value !== null && value !== "");
  const text = readString(first[growing]) + readString(next[growing]);
  return Object.fromEntries([...Object.entries(first), ...members, [growing, text]]);
}
