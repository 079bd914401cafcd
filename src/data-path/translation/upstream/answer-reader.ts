import type { ModelProfile } from "../../../shared/contract/model-profile.ts";
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";
import { readContent, readReasoning, readRefusal, REASONING_TEXTS, type Reasoning } from "./read-message.ts";
import { type SplitText, ThinkTags } from "./think-tags.ts";

/** The part of an answer in one chunk or whole message. */
export interface AnswerPiece {
  readonly reasoning: Reasoning;
  readonly text: string;
  readonly refusal: string;
  /** The new fields, from which tool calls and carried data are read. */
  readonly fields: JsonObject;
}

const NO_TEXT: SplitText = { reasoning: "", text: "" };

/** Fields in which servers repeat the same content; any other field stands for itself. */
const SAME_FIELDS: ReadonlyMap<string, string> = new Map([
  ...REASONING_TEXTS.map((name) => [name, "reasoning"] as const),
  ["function_call", "tool_calls"],
]);

/**
 * Reads the choices of one answer. Some servers end a stream with the whole message: content that deltas contained is
 * skipped, and the rest belongs to the answer. Messages in place of deltas are treated like deltas.
 */
export class AnswerReader {
  /** Fields that deltas contained, by the names of `SAME_FIELDS`. */
  readonly #seen = new Set<string>();
  /** Deltas contained reasoning. */
  #hasReasoning = false;
  /** Reasoning came as text, so lists of its details are copies. */
  #hasReasoningText = false;
  readonly #tags: ThinkTags | null;

  constructor(setting: ModelProfile["thinkTags"]) {
    this.#tags = setting === "none" ? null : new ThinkTags(setting);
  }

  /** Returns null for a choice without content. */
  read({ delta, message }: JsonObject): AnswerPiece | null {
    const isWhole = isJsonObject(message);
    if (!isJsonObject(delta)) return isWhole ? this.#createPiece(this.#pickNew(message), true) : null;
    const fields = isWhole ? { ...this.#pickNew(message), ...pickValues(delta) } : delta;
    // A chunk can have the last delta and the whole message; the delta's own reasoning is not a repetition.
    const piece = this.#createPiece(fields, isWhole && readReasoning(delta).text === "");
    for (const [name, value] of Object.entries(delta)) if (hasValue(value)) this.#seen.add(kindOf(name));
    if (piece.reasoning.text !== "") this.#hasReasoning = true;
    return piece;
  }

  /** Like `read`, for a delta that contains only this text. */
  readText(text: string): SplitText {
    if (text !== "") this.#seen.add("content");
    return this.#tags === null ? { reasoning: "", text } : this.#tags.split(text);
  }

  /** Ends the answer. @returns Text that was held because it could begin a tag. */
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

  #pickNew(message: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(message).filter(([name]) => !this.#seen.has(kindOf(name))));
  }
}

function kindOf(name: string): string {
  return SAME_FIELDS.get(name) ?? name;
}

function pickValues(delta: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(delta).filter(([, value]) => hasValue(value)));
}

function hasValue(value: unknown): boolean {
  return value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
}
