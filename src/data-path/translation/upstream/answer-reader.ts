import type { ModelProfile } from "../../../shared/contract/model-profile.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { readContent, readReasoning, readRefusal, REASONING_TEXTS, type Reasoning } from "./read-message.ts";
import { type SplitText, ThinkTags } from "./think-tags.ts";

/** What a chunk, or a whole message, adds to an answer. */
export interface AnswerPiece {
  readonly reasoning: Reasoning;
  readonly text: string;
  readonly refusal: string;
  /** The fields that are new: tool calls and what is carried with them are read from these. */
  readonly fields: JsonObject;
}

const NO_TEXT: SplitText = { reasoning: "", text: "" };

/** Fields in which servers write the same thing; a field of another name stands for itself. */
const SAME_FIELDS: ReadonlyMap<string, string> = new Map([
  ...REASONING_TEXTS.map((name) => [name, "reasoning"] as const),
  ["function_call", "tool_calls"],
]);

/**
 * Reads the choices of one answer. Some servers end a stream with the whole message: what deltas told before is not told
 * again, and what they did not tell is part of the answer. Messages in place of deltas are pieces like deltas.
 */
export class AnswerReader {
  /** Fields that deltas had, by the names of `SAME_FIELDS`. */
  readonly #told = new Set<string>();
  /** Deltas had reasoning. */
  #hasReasoning = false;
  /** Reasoning came as a text, of which lists of its details are copies. */
  #hasReasoningText = false;
  readonly #tags: ThinkTags | null;

  constructor(setting: ModelProfile["thinkTags"]) {
    this.#tags = setting === "none" ? null : new ThinkTags(setting);
  }

  /** Null for a choice that says nothing. */
  read({ delta, message }: JsonObject): AnswerPiece | null {
    const isWhole = isJsonObject(message);
    if (!isJsonObject(delta)) return isWhole ? this.#createPiece(this.#pickUntold(message), true) : null;
    const fields = isWhole ? { ...this.#pickUntold(message), ...pickSaid(delta) } : delta;
    // A chunk can have the last delta and the whole message: its own reasoning is no repetition.
    const piece = this.#createPiece(fields, isWhole && readReasoning(delta).text === "");
    for (const [name, value] of Object.entries(delta)) if (isSaid(value)) this.#told.add(kindOf(name));
    if (piece.reasoning.text !== "") this.#hasReasoning = true;
    return piece;
  }

  /** As `read` of a delta that has this text alone. */
  readText(text: string): SplitText {
    if (text !== "") this.#told.add("content");
    return this.#tags === null ? { reasoning: "", text } : this.#tags.split(text);
  }

  /** The answer is over. @returns what waited for the rest of a tag. */
  end(): SplitText {
    return this.#tags?.end() ?? NO_TEXT;
  }

  #createPiece(fields: JsonObject, isWhole: boolean): AnswerPiece {
    const { source, ...reasoning } = readReasoning(fields);
    if (source === "text") this.#hasReasoningText = true;
    const isRepeated = (isWhole && this.#hasReasoning) || (source === "list" && this.#hasReasoningText);
    const content = readContent(fields);
    const tagged = this.#tags?.split(content);
    return {
      reasoning: { ...reasoning, text: (isRepeated ? "" : reasoning.text) + (tagged?.reasoning ?? "") },
      text: tagged?.text ?? content,
      refusal: readRefusal(fields),
      fields,
    };
  }

  #pickUntold(message: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(message).filter(([name]) => !this.#told.has(kindOf(name))));
  }
}

function kindOf(name: string): string {
  return SAME_FIELDS.get(name) ?? name;
}

function pickSaid(delta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(delta).filter(([, value]) => isSaid(value)));
}

function isSaid(value: unknown): boolean {
  return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}
