/** Short ids for people: "key_…2b8d6e11", the random end of a UUID version 7. */
import { timeOfId } from "../../../data-path/store/ids.ts";

/** 32 random bits: two among thousands are rarely equal, and then the command reports it. */
const SHORT_DIGITS = 8;
const SHORTENED = /^[a-z]+_…[0-9a-f]{8}$/;
/** Prefix and mark are optional. Fewer than six digits are rather a name. */
const TYPED = /^(?:([a-z]+)_)?…?([0-9a-f]{6,12})$/;

/** Shortens an id; returns other texts unchanged. */
export function shortenId(text: string): string {
  if (timeOfId(text) === null) return text;
  return `${text.slice(0, text.indexOf("_") + 1)}…${text.slice(-SHORT_DIGITS)}`;
}

/** Returns whether a text is a result of `shortenId`. */
export function isShortId(text: string): boolean {
  return SHORTENED.test(text);
}

/**
 * Returns the end of the id that was typed in short form; null for another text.
 * @param prefix "key"
 */
export function endOfShortId(prefix: string, typed: string): string | null {
  const [, given = prefix, end = ""] = TYPED.exec(typed) ?? [];
  return end === "" || given !== prefix ? null : end;
}
