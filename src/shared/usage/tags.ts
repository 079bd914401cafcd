/**
 * Whose cost a request is: tags, names with a value, which a client sends, a key has by default and an organization may
 * take from the end user that a request names. Everywhere inside they are one text in one form, names in order, so that
 * equal combinations are equal texts: "feature=autocomplete,team=search"; '' for none.
 */
import { createHash } from "node:crypto";
import { holdsCredential } from "../text/scrub.ts";

/** The most that a header, or a key's default, has. */
const MAX_TAGS = 8;
/** How the documents say what tags are. */
export const TAG_VALUES = `1 to ${MAX_TAGS} tags as in \`team=search,feature=autocomplete\``;
/** The row of usage for combinations beyond those that a month keeps apart. It has no "=", so no tags look like it. */
export const OTHER_TAGS = "other";
/** Combinations of an organization and month that are kept apart. `store/lua/include/tags.lua` says it too. */
export const MAX_TAG_COMBINATIONS = 1_000;
/** The tag that holds the end user of a request. */
const END_USER = "user";

const NAME = /^[a-z][a-z0-9_.-]{0,63}$/;
const VALUE = /^[A-Za-z0-9_.:/@+-]{1,64}$/;
/** Eight of the longest, with blanks. Beyond it nothing is looked at. */
const MAX_LIST_CHARACTERS = 2_048;
/** What is wrong is shown, but not all of it. */
const SHOWN_CHARACTERS = 80;

const EXPECTED_NAME =
  "expected a name of 1 to 64 characters of a-z, 0-9, `_`, `.` and `-`, of which the first is a letter";
const EXPECTED_VALUE =
  "expected a value of 1 to 64 characters of A-Z, a-z, 0-9, `_`, `.`, `:`, `/`, `@`, `+` and `-`";

/** "team=search, feature=autocomplete", in any order, with blanks around the commas → the one form, or what is wrong. */
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

/** Name → value, in the order of the names. */
export function readTags(tags: string): Record<string, string> {
  // A name such as `__proto__` is none, by its first letter.
  return tags === "" || tags === OTHER_TAGS ? {} : Object.fromEntries(tags.split(",").map(splitTag));
}

/** The value of one tag in a row of usage: null where it has none, `other` in the row of what is not kept apart. */
export function valueOfTag(tags: string, name: string): string | null {
  return tags === OTHER_TAGS ? OTHER_TAGS : (readTags(tags)[name] ?? null);
}

/** Both; of one name that stands in both, `preferred` has its way. */
export function mergeTags(preferred: string, others: string): string {
  if (preferred === "" || others === "") return preferred + others;
  return formatTags(new Map(Object.entries({ ...readTags(others), ...readTags(preferred) })));
}

/**
 * The same with the end user that a request's body names as the tag `user`, unless there is one by this name. Bodies may
 * name users in any characters: what is no value of a tag, or has the form of a key, is kept as `sha256:` and the first
 * 32 digits of its SHA-256.
 */
export function addEndUser(tags: string, endUser: string | null): string {
  if (endUser === null || endUser === "") return tags;
  const digest = () => `sha256:${createHash("sha256").update(endUser).digest("hex").slice(0, 32)}`;
  const isValue = VALUE.test(endUser) && !holdsCredential(endUser);
  return mergeTags(tags, `${END_USER}=${isValue ? endUser : digest()}`);
}

/** Whether a row of usage has all of these tags. That of what is not kept apart has none. */
export function hasTags(row: string, wanted: string): boolean {
  const tags = readTags(row);
  return Object.entries(readTags(wanted)).every(([name, value]) => tags[name] === value);
}

/** Name → value in the one form. */
export function formatTags(tags: ReadonlyMap<string, string>): string {
  return [...tags]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
}

/** Whether a text can be the name of a tag. */
export function isTagName(text: string): boolean {
  return NAME.test(text);
}
