import { parseExactJson } from "./exact-json.ts";
import { ANSWER_BOUNDS, JsonBoundError } from "./json-bounds.ts";
import { findMembers } from "./object-spans.ts";

/** A shorter text can neither nest deep enough nor hold enough values to be expensive. */
const HARMLESS_CHARACTERS = 1_024;

/**
 * Parses JSON from an upstream, with integers beyond 2^53 as bigints.
 * @throws SyntaxError if it is not JSON.
 * @throws JsonBoundError if it nests too deep or has too many values: `JSON.parse` would spend seconds on it.
 */
export function parseJsonText(text: string): unknown {
  boundJsonText(text);
  return parseExactJson(text);
}

/** Checks the bounds of upstream JSON before `JSON.parse` sees it. @throws JsonBoundError */
export function boundJsonText(text: string): void {
  if (text.length > HARMLESS_CHARACTERS) findMembers(text, 0, ANSWER_BOUNDS);
}

/** `parseJsonText` that returns null for invalid or oversized JSON. */
export function tryParseJsonText(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

/** Returns whether `parseJsonText` threw this error because the text is invalid or exceeds the bounds. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof JsonBoundError;
}
