/**
 * What users and groups are found by: their name and mail address from the beginning of each word on, so that one range
 * of a sorted set holds whoever has a text at the beginning of a word, however many others there are. An entry is the
 * text, a zero byte and the id; nothing that people write has that byte in it.
 */
import { foldName } from "./organization-names.ts";

/** Further words are not found, so that nobody has more entries than twice as many. */
const FOUND_WORDS = 10;
/** The characters of a text that an entry has; what is longer is compared with the record. */
const ENTRY_CHARACTERS = 40;
const END_OF_TEXT = "\0";
const WORD = /[\p{L}\p{N}]+/gu;

/** The entries of whoever has these texts. */
export function listEntries(id: string, texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap(listBeginnings).map((text) => formatEntry(text, id)))];
}

/** The entries that leave with a change of texts, and those that come. */
export function compareEntries(
  before: readonly string[],
  after: readonly string[],
): { readonly gone: readonly string[]; readonly added: readonly string[] } {
  return {
    gone: before.filter((entry) => !after.includes(entry)),
    added: after.filter((entry) => !before.includes(entry)),
  };
}

/** As much of a text as an entry has: where the entries of what is looked for begin. @param folded By `foldName`. */
export function beginEntry(folded: string): string {
  return Array.from(folded).slice(0, ENTRY_CHARACTERS).join("");
}

/** Whether an entry may be of somebody who is found: the first that is not ends the range. */
export function isInRange(entry: string, folded: string): boolean {
  return entry.startsWith(beginEntry(folded));
}

export function idOfEntry(entry: string): string {
  return entry.slice(entry.indexOf(END_OF_TEXT) + 1);
}

/**
 * Whether somebody with these texts is found at this entry. Who has several entries of what is looked for is found at the
 * first of them alone, in the order in which Redis has them.
 */
export function isFoundAt(entry: string, id: string, texts: readonly string[], folded: string): boolean {
  const [first] = texts
    .flatMap(listBeginnings)
    .filter((text) => text.startsWith(folded))
    .map((text) => formatEntry(text, id))
    .sort(compareBytes);
  return first === entry;
}

/** `next` of a page of what was found. */
export function formatSearchCursor(entry: string): string {
  return Buffer.from(entry).toString("base64url");
}

/** Null: no page had this as its `next`. */
export function parseSearchCursor(cursor: string): string | null {
  const entry = Buffer.from(cursor, "base64url").toString();
  return entry.includes(END_OF_TEXT) && formatSearchCursor(entry) === cursor ? entry : null;
}

/** Whether a page of what was found can have had this as its `next`. */
export function isSearchCursor(cursor: string): boolean {
  return parseSearchCursor(cursor) !== null;
}

/** The whole text, and the text from the beginning of each word on. */
function listBeginnings(text: string): string[] {
  const folded = foldName(text);
  const places = new Set([0, ...Array.from(folded.matchAll(WORD), ({ index }) => index)]);
  return [...places].slice(0, FOUND_WORDS).map((place) => folded.slice(place));
}

function formatEntry(text: string, id: string): string {
  return `${beginEntry(text)}${END_OF_TEXT}${id}`;
}

function compareBytes(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}
