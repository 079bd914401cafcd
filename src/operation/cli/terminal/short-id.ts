/** Ids as people read and type them: "key_…2b8d6e11", the end of a UUID version 7, which is random. */
import { timeOfId } from "../../../data-path/store/ids.ts";

/** 32 random bits: two among thousands are seldom the same, and where they are, the command says so. */
const SHORT_DIGITS = 8;
const SHORTENED = /^[a-z]+_…[0-9a-f]{8}$/;
/** The prefix and the mark may be left out. Fewer digits than six are a name rather than an id. */
const TYPED = /^(?:([a-z]+)_)?…?([0-9a-f]{6,12})$/;

/** The end of an id; another text as it is. */
export function shortenId(text: string): string {
  if (timeOfId(text) === null) return text;
  return `${text.slice(0, text.indexOf("_") + 1)}…${text.slice(-SHORT_DIGITS)}`;
}

/** Whether it is what `shortenId` makes of an id. */
export function isShortId(text: string): boolean {
  return SHORTENED.test(text);
}

/**
 * What an id must end with to be the one that was typed short; null when nobody types an id so.
 * @param prefix "key"
 */
export function endOfShortId(prefix: string, typed: string): string | null {
  const [, given = prefix, end = ""] = TYPED.exec(typed) ?? [];
  return end === "" || given !== prefix ? null : end;
}
