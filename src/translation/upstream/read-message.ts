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

/** Where reasoning was found: in a text of its own or parts of the content, or in a list of its details. */
type ReasoningSource = "text" | "list" | null;

/**
 * The model's reasoning: `reasoning_content` (DeepSeek, SGLang, older vLLM), else `reasoning` (newer vLLM, OpenRouter),
 * else `reasoning_text` (Copilot), else parts of the content (Mistral, Databricks), else `thinking_blocks` (LiteLLM) or
 * `reasoning_details` (OpenRouter, MiniMax). Servers that send two send the same text twice.
 */
export function readReasoning(message: JsonObject): Reasoning & { readonly source: ReasoningSource } {
  const { content, reasoning_content, reasoning, reasoning_text, thinking_blocks, reasoning_details } =
    message;
  const parts = readParts(content).filter(isThinking);
  const text =
    readString(reasoning_content) || readString(reasoning) || readString(reasoning_text) || readTexts(parts);
  const listed = text === "" ? readTexts(thinking_blocks) || readTexts(reasoning_details) : "";
  return {
    text: text || listed,
    signature: findSignature([parts, thinking_blocks, reasoning_details]),
    source: text !== "" ? "text" : listed !== "" ? "list" : null,
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

/** The entries of its tool calls; a single one that is no list is TGI's. */
export function listCalls({ tool_calls: calls }: JsonObject): readonly unknown[] {
  if (Array.isArray(calls)) return calls;
  return isJsonObject(calls) ? [calls] : [];
}

/** The string, or an empty one for anything else. */
export function readString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readParts(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function isThinking({ type }: JsonObject): boolean {
  return type === "thinking" || type === "reasoning";
}

/** Parts of reasoning: each has a text, or a list of parts, under one of these names. Encrypted ones have none. */
function readTexts(value: unknown): string {
  if (typeof value === "string") return value;
  return readParts(value)
    .map(({ thinking, text, summary, reasoning }) => readTexts(thinking ?? text ?? summary ?? reasoning))
    .join("");
}

function findSignature(lists: readonly unknown[]): string | null {
  for (const list of lists) {
    const parts = readParts(list).flatMap((part) => [part, ...readParts(part["summary"])]);
    for (const { signature } of parts) {
      if (typeof signature === "string" && signature !== "") return signature;
    }
  }
  return null;
}
