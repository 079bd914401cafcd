import { parseExactJson } from "./exact-json.ts";
import { ANSWER_BOUNDS, JsonBoundError } from "./json-bounds.ts";
import { findMembers } from "./object-spans.ts";

/** A shorter text cannot nest deep enough, or hold enough, to hurt. */
const HARMLESS_CHARACTERS = 1_024;

/**
 * Parses JSON that an upstream sent, integers beyond 2^53 as bigints.
 * @throws SyntaxError when it is none.
 * @throws JsonBoundError when it nests too deep or has too many values: `JSON.parse` would spend seconds on it.
 */
export function parseJsonText(text: string): unknown {
  boundJsonText(text);
  return parseExactJson(text);
}

/** Bounds JSON of an upstream that `JSON.parse` sees next. @throws JsonBoundError */
export function boundJsonText(text: string): void {
  if (text.length > HARMLESS_CHARACTERS) findMembers(text, 0, ANSWER_BOUNDS);
}

/** As `parseJsonText`; null for a text that is none, nests too deep or has too many values. */
export function tryParseJsonText(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (isUnreadable(error)) return null;
    throw error;
  }
}

/** What parsing a text throws that is no JSON, or has more than is read. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof SyntaxError || error instanceof JsonBoundError;
}
