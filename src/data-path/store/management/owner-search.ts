/**
 * Search index of users and groups: their name and email address from the start of each word, so that one
 * range of a sorted set has all owners with a text at the start of a word, however many others exist. An
 * entry is the text, a zero byte and the id; names never contain that byte.
 */
import { foldName } from "./organization-names.ts";

/** Indexed words per text. Bounds the entries of an owner to twice this number. */
const FOUND_WORDS = 10;
/** Characters of a text in its entry; longer searches are compared with the record. */
const ENTRY_CHARACTERS = 40;
const END_OF_TEXT = "\0";
const WORD = /[\p{L}\p{N}]+/gu;

/** Returns the index entries of an owner with these texts. */
export function listEntries(id: string, texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap(listBeginnings).map((text) => formatEntry(text, id)))];
}

/** Returns the entries to remove and to add when the texts change. */
export function compareEntries(
  before: readonly string[],
  after: readonly string[],
): { readonly removed: readonly string[]; readonly added: readonly string[] } {
  return {
    removed: before.filter((entry) => !after.includes(entry)),
    added: after.filter((entry) => !before.includes(entry)),
  };
}

/** Returns the start of the range for a search text, cut to the length of entries. @param folded By `foldName`. */
export function beginEntry(folded: string): string {
  return Array.from(folded).slice(0, ENTRY_CHARACTERS).join("");
}

/** Returns whether an entry may match: the first that does not ends the range. */
export function isInRange(entry: string, folded: string): boolean {
  return entry.startsWith(beginEntry(folded));
}

export function idOfEntry(entry: string): string {
  return entry.slice(entry.indexOf(END_OF_TEXT) + 1);
}

/**
 * Returns whether an owner with these texts matches at this entry. An owner with several matching entries
 * only counts at the first, in Redis's order.
 */
export function isFoundAt(entry: string, id: string, texts: readonly string[], folded: string): boolean {
  const [first] = texts
    .flatMap(listBeginnings)
    .filter((text) => text.startsWith(folded))
    .map((text) => formatEntry(text, id))
    .sort(compareBytes);
  return first === entry;
}

/** Formats the `next` of a page of search results. */
export function formatSearchCursor(entry: string): string {
  return Buffer.from(entry).toString("base64url");
}

/** Parses such a cursor; null if it is invalid. */
export function parseSearchCursor(cursor: string): string | null {
  const entry = Buffer.from(cursor, "base64url").toString();
  return entry.includes(END_OF_TEXT) && formatSearchCursor(entry) === cursor ? entry : null;
}

/** Returns whether a page of search results can have had this `next`. */
export function isSearchCursor(cursor: string): boolean {
  return parseSearchCursor(cursor) !== null;
}

/** Lists the whole text, and the text from the start of each word. */
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
