import { parseExactJson } from "./exact-json.ts";
import { findMembers } from "./object-spans.ts";

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
