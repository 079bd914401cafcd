/**
 * Tags for cost allocation: names with a value, from the client, a key's default, or the end user that a
 * request names. Internally one text in one form, sorted by name, so that equal combinations are equal texts:
 * "feature=autocomplete,team=search"; '' for none.
 */
import { createHash } from "node:crypto";
import { holdsCredential } from "../text/scrub.ts";

/** Maximum in a header, or in a key's default. */
const MAX_TAGS = 8;
/** Description of tags for the documentation. */
export const TAG_VALUES = `1 to ${MAX_TAGS} tags as in \`team=search,feature=autocomplete\``;
/** Usage row of all combinations beyond the month's maximum. Contains no "=", so no tags equal it. */
export const OTHER_TAGS = "other";
/** Maximum number of combinations per organization and month; `store/lua/include/tags.lua` repeats it. */
export const MAX_TAG_COMBINATIONS = 1_000;
/** Tag for the end user of a request. */
const END_USER = "user";

const NAME = /^[a-z][a-z0-9_.-]{0,63}$/;
const VALUE = /^[A-Za-z0-9_.:/@+-]{1,64}$/;
/** Eight of the longest tags, with spaces. Longer lists are not parsed. */
const MAX_LIST_CHARACTERS = 2_048;
/** Maximum of the wrong text to show. */
const SHOWN_CHARACTERS = 80;

const EXPECTED_NAME =
  "expected a name of 1 to 64 characters of a-z, 0-9, `_`, `.` and `-`, of which the first is a letter";
const EXPECTED_VALUE =
  "expected a value of 1 to 64 characters of A-Z, a-z, 0-9, `_`, `.`, `:`, `/`, `@`, `+` and `-`";

/**
 * Result of parsing "team=search, feature=autocomplete", in any order, with spaces around the commas: the
 * normalized form, or the problem.
 */
export type ParsedTags = { readonly tags: string } | { readonly problem: string };

export function parseTagList(list: string): ParsedTags {
  if (list.length > MAX_LIST_CHARACTERS) {
    return { problem: `expected at most ${MAX_LIST_CHARACTERS} characters, found ${list.length}` };
  }
  const members = list.split(",").map((member) => member.trim());
  if (members.length > MAX_TAGS) {
    return { problem: `expected at most ${MAX_TAGS} tags, found ${members.length}` };
  }
  const tags = new Map<string, string>();
  for (const member of members) {
    const problem = explainMember(member, tags);
    if (problem !== null) return { problem };
    const [name, value] = splitTag(member);
    tags.set(name, value);
  }
  return { tags: formatTags(tags) };
}

function explainMember(member: string, before: ReadonlyMap<string, string>): string | null {
  const [name, value] = splitTag(member);
  if (!member.includes("=")) return `expected \`name=value\`, found ${quote(member)}`;
  if (!NAME.test(name)) return `${EXPECTED_NAME}; found ${quote(name)}`;
  if (!VALUE.test(value)) return `${EXPECTED_VALUE}; found ${quote(value)} for \`${name}\``;
  if (holdsCredential(value)) return `expected a value without a key or token in it for \`${name}\``;
  return before.has(name) ? `expected each name once, found \`${name}\` twice` : null;
}

function splitTag(tag: string): [name: string, value: string] {
  const position = tag.indexOf("=");
  return position === -1 ? [tag, ""] : [tag.slice(0, position), tag.slice(position + 1)];
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, SHOWN_CHARACTERS));
}

/** Returns values by name, in the order of names. */
export function readTags(tags: string): Record<string, string> {
  // Safe: a name such as `__proto__` is invalid by its first letter.
  return tags === "" || tags === OTHER_TAGS ? {} : Object.fromEntries(tags.split(",").map(splitTag));
}

/** Returns the value of one tag in a usage row: null without it, `other` in the row of other combinations. */
export function valueOfTag(tags: string, name: string): string | null {
  return tags === OTHER_TAGS ? OTHER_TAGS : (readTags(tags)[name] ?? null);
}

/** Merges both; `preferred` takes precedence for names in both. */
export function mergeTags(preferred: string, defaults: string): string {
  if (preferred === "" || defaults === "") return preferred + defaults;
  return formatTags(new Map(Object.entries({ ...readTags(defaults), ...readTags(preferred) })));
}

/**
 * Adds the end user that a request's body names as the tag `user`, unless that tag exists. End users may have
 * any characters: an invalid value of a tag, or one that looks like a key, becomes `sha256:` and the first 32
 * digits of its SHA-256.
 */
export function addEndUser(tags: string, endUser: string | null): string {
  if (endUser === null || endUser === "") return tags;
  const digest = () => `sha256:${createHash("sha256").update(endUser).digest("hex").slice(0, 32)}`;
  const isValue = VALUE.test(endUser) && !holdsCredential(endUser);
  return mergeTags(tags, `${END_USER}=${isValue ? endUser : digest()}`);
}

/** Returns whether a usage row has all of these tags; false for the row of other combinations. */
export function hasTags(row: string, wanted: string): boolean {
  const tags = readTags(row);
  return Object.entries(readTags(wanted)).every(([name, value]) => tags[name] === value);
}

/** Formats tags in the normalized form. */
export function formatTags(tags: ReadonlyMap<string, string>): string {
  return [...tags]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

/** Returns whether a text is a valid tag name. */
export function isTagName(text: string): boolean {
  return NAME.test(text);
}
