import type { PromptSize } from "../client-protocol.ts";
import type { JsonBody } from "../json/parse-body.ts";

/** Prompts of the endpoints without conversations: a text, token ids, or a list of either. */
export interface Prompts {
  /** Number of prompts, each of which may fill the context window. */
  readonly count: number;
  /** Total tokens if all prompts came as token ids, otherwise null. */
  readonly tokens: number | null;
  /** A prompt is neither text nor token ids: its tokens cannot be estimated from its bytes. */
  readonly hasMedia: boolean;
}

/** For error messages. */
export const EXPECTED_PROMPTS = "a string, an array of token ids, or a non-empty array of either";

/** @returns null if the value is not a valid prompt. */
export function measurePrompts(value: unknown): Prompts | null {
  if (typeof value === "string") return { count: 1, tokens: null, hasMedia: false };
  if (!Array.isArray(value) || value.length === 0) return null;
  const entries: readonly unknown[] = value;
  if (isTokenIds(entries)) return { count: 1, tokens: entries.length, hasMedia: false };
  let tokens: number | null = 0;
  let hasMedia = false;
  for (const entry of entries) {
    if (Array.isArray(entry) && isTokenIds(entry)) {
      if (tokens !== null) tokens += entry.length;
    } else if (typeof entry === "string" || (typeof entry === "object" && entry !== null)) {
      tokens = null;
      hasMedia ||= typeof entry !== "string";
    } else {
      return null;
    }
  }
  return { count: entries.length, tokens, hasMedia };
}

/** Takes the whole text of the body as the size of its prompts. */
export function sizeOfPrompts({ text }: Pick<JsonBody, "text">, hasMedia: boolean): PromptSize {
  const textBytes = Buffer.byteLength(text);
  const none = { visibleTextBytes: 0, messages: 0, hasTools: false, predictionBytes: 0 };
  return { textBytes, hasMedia, isWhole: true, ...none };
}

function isTokenIds(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every((entry) => typeof entry === "number");
}
