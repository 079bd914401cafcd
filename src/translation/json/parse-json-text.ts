import { parseExactJson } from "./exact-json.ts";
import { findMembers, NestingError } from "./object-spans.ts";

/** A shorter text cannot nest deep enough to hurt. */
const HARMLESS_CHARACTERS = 1_024;

/**
 * Parses JSON that an upstream sent, integers beyond 2^53 as bigints.
 * @throws SyntaxError when it is none.
 * @throws NestingError when it nests too deep: `JSON.parse` would spend seconds on it.
 */
export function parseJsonText(text: string): unknown {
  if (text.length > HARMLESS_CHARACTERS) findMembers(text);
  return parseExactJson(text);
}

/** The same; null for a text that is none, or nests too deep. */
export function tryParseJsonText(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof NestingError) return null;
    throw error;
  }
}
