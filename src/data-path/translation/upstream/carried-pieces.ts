import { isJsonObject, type JsonObject, toArray } from "../../../shared/text/json-object.ts";
import { MAX_CARRIED_BYTES } from "../conversation/carried-reasoning.ts";
import { formatJson } from "../json/exact-json.ts";
import { readString } from "./read-message.ts";

/** How the objects of one field come in pieces. */
export interface PieceRules {
  /** The field that grows, by the type of the object. */
  readonly growing: Readonly<Record<string, string>>;
  /** Whether a piece of the same type goes on with this one. */
  readonly goesOn: (last: JsonObject, next: JsonObject) => boolean;
}

/** OpenRouter's. */
export const DETAILS: PieceRules = {
  growing: { "reasoning.text": "text", "reasoning.summary": "summary" },
  goesOn: (last, next) => last["index"] === next["index"],
};

/** LiteLLM's, of Anthropic's models: a signature ends a block. */
export const THINKING_BLOCKS: PieceRules = {
  growing: { thinking: "thinking" },
  goesOn: (last) => readString(last["signature"]) === "",
};

/** Puts together what an answer's deltas have of one field, up to as much as is carried. */
export class CarriedPieces {
  readonly #rules: PieceRules;
  #whole: JsonObject[] = [];
  /** The characters of the whole answer. */
  #characters = 0;

  constructor(rules: PieceRules) {
    this.#rules = rules;
  }

  add(list: unknown): void {
    for (const piece of toArray(list)) if (isJsonObject(piece)) this.#add(piece);
  }

  /** What came since the last call; some of it is worse than none, so too much is nothing. */
  take(): JsonObject[] {
    const whole = this.#isTooMuch ? [] : this.#whole;
    this.#whole = [];
    return whole;
  }

  get #isTooMuch(): boolean {
    return this.#characters > MAX_CARRIED_BYTES;
  }

  #add(piece: JsonObject): void {
    if (this.#isTooMuch) return;
    this.#characters += formatJson(piece).length;
    const last = this.#whole.at(-1);
    const growing = this.#rules.growing[readString(piece["type"])];
    const goesOn = last !== undefined && last["type"] === piece["type"] && this.#rules.goesOn(last, piece);
    if (goesOn && growing !== undefined) this.#whole[this.#whole.length - 1] = join(last, piece, growing);
    else this.#whole.push(piece);
    if (this.#isTooMuch) this.#whole = [];
  }
}

/** What a later piece says counts, but for what it leaves open. */
function join(first: JsonObject, next: JsonObject, growing: string): JsonObject {
  const said = Object.entries(next).filter(([, value]) => value !== null && value !== "");
  const text = readString(first[growing]) + readString(next[growing]);
  return Object.fromEntries([...Object.entries(first), ...said, [growing, text]]);
}
