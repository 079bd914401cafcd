/**
 * Reads fields of an upstream's `message` or `delta`. Both have the same fields, and servers name them differently.
 */
import { isJsonObject, type JsonObject } from "../../../shared/text/json-object.ts";

export interface Reasoning {
  /** Empty if absent. */
  readonly text: string;
  /** The server's signature, or null. */
  readonly signature: string | null;
}

/** Source of reasoning: a text field or parts of the content, or a list of details. */
type ReasoningSource = "text" | "list" | null;

const NO_FIELDS: JsonObject = Object.freeze({});

/** Fields with reasoning as text. Servers that send two of them repeat the same text. */
export const REASONING_TEXTS = [
  "reasoning_content",
  "reasoning",
  "reasoning_text",
  "thinking",
  "thinking_content",
] as const;

/**
 * Reads the model's reasoning from the first of: `reasoning_content` (DeepSeek, SGLang, older vLLM), `reasoning`
 * (newer vLLM, OpenRouter), `reasoning_text` (Copilot), `thinking` (Ollama) and the like, parts of the content
 * (Mistral, Databricks), `thinking_blocks` (LiteLLM), `reasoning_details` (OpenRouter, MiniMax). LiteLLM may have the
 * fields in `provider_specific_fields` only. Servers that send two of them repeat the same text.
 */
export function readReasoning(message: JsonObject): Reasoning & { readonly source: ReasoningSource } {
  const { content, reasoning_details, provider_specific_fields: specific } = message;
  const copies = isJsonObject(specific) ? specific : NO_FIELDS;
  const thinking_blocks = message["thinking_blocks"] ?? copies["thinking_blocks"];
  const parts = readParts(content).filter(isThinking);
  const text = readReasoningText(message) || readReasoningText(copies) || readTexts(parts);
  const listed = text === "" ? readTexts(thinking_blocks) || readTexts(reasoning_details) : "";
  return {
    text: text || listed,
    signature: findSignature([parts, thinking_blocks, reasoning_details]),
    source: text !== "" ? "text" : listed !== "" ? "list" : null,
  };
}

function readReasoningText(fields: JsonObject): string {
  for (const name of REASONING_TEXTS) {
    const text = readTexts(fields[name]);
    if (text !== "") return text;
  }
  return "";
}

/** Reads the text of the content, a string or parts. */
export function readContent(message: JsonObject): string {
  const { content } = message;
  if (typeof content === "string") return content;
  return (Array.isArray(content) ? content : [])
    .filter((part) => !isJsonObject(part) || !isThinking(part))
    .map((part: unknown) => readString(isJsonObject(part) ? part["text"] : part))
    .join("");
}

export function readRefusal(message: JsonObject): string {
  return readString(message["refusal"]);
}

/** Lists the tool calls. TGI sends a single object instead of a list, and some servers an object keyed by number. */
export function listCalls({ tool_calls: calls }: JsonObject): readonly unknown[] {
  if (Array.isArray(calls)) return calls.map(completeCall);
  if (!isJsonObject(calls)) return [];
  return (isCall(calls) ? [calls] : Object.values(calls)).map(completeCall);
}

function isCall(entry: JsonObject): boolean {
  return "function" in entry || "name" in entry;
}

/**
 * Converts a call to OpenAI's form: name and arguments may be next to the id, and the arguments be called
 * `parameters`.
 */
function completeCall(call: unknown): unknown {
  if (!isJsonObject(call)) return call;
  const called = isJsonObject(call["function"]) ? call["function"] : call;
  if (called !== call && "arguments" in called) return call;
  const { name, arguments: args = called["parameters"] } = called;
  return { ...call, function: { name, arguments: args } };
}

/** Returns the string, or "" for anything else. */
export function readString(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function readParts(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

function isThinking({ type, thought }: JsonObject): boolean {
  return thought === true || (typeof type === "string" && /^(?:thinking|reasoning)/.test(type));
}

/** Names of the text, or the list of parts, in a part of reasoning. Encrypted parts have none. */
const PART_FIELDS = [
  "thinking",
  "text",
  "summary",
  "reasoning",
  "content",
  "reasoning_content",
  "reasoning_text",
  "reasoningText",
] as const;

function readTexts(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(readTexts).join("");
  if (!isJsonObject(value)) return "";
  const field = PART_FIELDS.find((name) => value[name] !== undefined && value[name] !== null);
  return field === undefined ? "" : readTexts(value[field]);
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
