/**
 * Demo model: repeats the last user message, word by word. A word with its preceding whitespace counts as one
 * token, so that a demo's bill can be checked by hand.
 */

/** A request that the demo model refuses; becomes a 400. */
import { isJsonObject } from "../../shared/text/json-object.ts";
export class DemoRequestError extends Error {
  override readonly name = "DemoRequestError";
  readonly param: string | null;

  constructor(message: string, param: string | null) {
    super(message);
    this.param = param;
  }
}

/** Result of the demo model for one request. */
export interface DemoCompletion {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Tokens of the answer; joined they are its text. */
  readonly tokens: readonly string[];
  readonly finishReason: "stop" | "length";
  readonly usage: DemoUsage;
}

export interface DemoUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Answers a chat completion request.
 * @throws DemoRequestError for an invalid body.
 */
export function createDemoCompletion(body: unknown): DemoCompletion {
  if (!isJsonObject(body)) throw new DemoRequestError("The request body must be a JSON object.", null);
  const { model, messages } = body;
  if (typeof model !== "string" || model === "") {
    throw new DemoRequestError("`model` must be a non-empty string.", "model");
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new DemoRequestError("`messages` must be a non-empty array.", "messages");
  }
  const texts = messages.map((message, index) => readMessage(message, index));
  const answer = texts.findLast((message) => message.role === "user") ?? texts.at(-1);
  const words = splitWords(answer?.text ?? "");
  const limit = readTokenLimit(body) ?? words.length;
  const tokens = words.slice(0, limit);
  const promptTokens = texts.reduce((sum, message) => sum + splitWords(message.text).length, 0);
  return {
    model,
    stream: body["stream"] === true,
    includeUsage: isJsonObject(body["stream_options"]) && body["stream_options"]["include_usage"] === true,
    tokens,
    finishReason: tokens.length < words.length ? "length" : "stop",
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: tokens.length,
      total_tokens: promptTokens + tokens.length,
    },
  };
}

/** Splits the text before each run of whitespace, without losing characters. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+(?:\s+$)?/gu) ?? [];
}

function readMessage(message: unknown, index: number): { role: string; text: string } {
  const param = `messages.${index}`;
  if (!isJsonObject(message)) throw new DemoRequestError(`\`${param}\` must be an object.`, param);
  const { role, content } = message;
  if (typeof role !== "string") {
    throw new DemoRequestError(`\`${param}.role\` must be a string.`, `${param}.role`);
  }
  if (content === undefined || content === null) return { role, text: "" };
  if (typeof content === "string") return { role, text: content };
  if (Array.isArray(content)) return { role, text: content.map((part) => readPart(part)).join(" ") };
  throw new DemoRequestError(
    `\`${param}.content\` must be a string or an array of parts.`,
    `${param}.content`,
  );
}

function readPart(part: unknown): string {
  if (!isJsonObject(part)) return "";
  if (typeof part["text"] === "string") return part["text"];
  return typeof part["type"] === "string" ? `[${part["type"]}]` : "";
}

export function readTokenLimit(body: JsonObject): number | null {
  for (const field of ["max_completion_tokens", "max_tokens"]) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    if (typeof value !== "number" || !Number.isInteger(value) || value < 1) {
      throw new DemoRequestError(`\`${field}\` must be an integer of at least 1.`, field);
    }
    return value;
  }
  return null;
}
