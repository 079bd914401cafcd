/**
 * Reads the pieces of an upstream's `message` or `delta`: the two have the same fields, and servers differ in how they
 * name them.
 */
import { isJsonObject, type JsonObject } from "../../text/json-object.ts";

export interface Reasoning {
  /** Empty when there is none. */
  readonly text: string;
  /** What a server signed it with, or null. */
  readonly signature: string | null;
}

/**
 * The model's reasoning: `reasoning_content` (DeepSeek, SGLang, older vLLM), else `reasoning` (newer vLLM, OpenRouter),
 * else thinking parts of the content (Mistral). Servers that send two send the same text twice.
 */
export function readReasoning(message: JsonObject): Reasoning {
  const { content, reasoning_content, reasoning, thinking_blocks, reasoning_details } = message;
  const parts = readParts(content).filter(isThinking);
  return {
    text: readString(reasoning_content) || readString(reasoning) || parts.map(readThinkingPart).join(""),
    signature: findSignature([parts, thinking_blocks, reasoning_details]),
  };
}

/** The text of the content, a string or parts. */
export function readContent(message: JsonObject): string {
  const { content } = message;
  if (typeof content === "string") return content;
  return readParts(content)
    .filter((part) => !isThinking(part))
    .map(({ text }) => readString(text))
    .join("");
}

export function readRefusal(message: JsonObject): string {
  return readString(message["refusal"]);
}

/** The string, or an empty one for anything else. */
export function readString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readParts(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function isThinking({ type }: JsonObject): boolean {
  return type === "thinking";
}

/** `thinking` is text, or text parts. */
function readThinkingPart({ thinking }: JsonObject): string {
  if (typeof thinking === "string") return thinking;
  return readParts(thinking)
    .map(({ text }) => readString(text))
    .join("");
}

function findSignature(lists: readonly unknown[]): string | null {
  for (const list of lists) {
    for (const { signature } of readParts(list)) {
      if (typeof signature === "string" && signature !== "") return signature;
    }
  }
  return null;
}
