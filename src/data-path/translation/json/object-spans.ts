/**
 * Finds the offsets of a JSON object's members in its text, so that single values can be replaced and every other
 * character stays: big numbers, number formats, order, white space, escapes. Strings are skipped by searching for
 * their closing quote, so a long one costs next to nothing.
 *
 * Does not validate the text (`JSON.parse` does), but finishes in linear time on any text. Run it first, because it
 * bounds texts on which `JSON.parse` would spend seconds (`json-bounds.ts`).
 */
import { JsonBoundError, JsonCount, MAX_NESTING, NESTING_ONLY } from "./json-bounds.ts";

/** One member of an object; offsets are indices into the text. */
export interface MemberSpan {
  /** Unescaped. */
  readonly key: string;
  /** Offset of the key's opening quote. */
  readonly start: number;
  readonly valueStart: number;
  /** Offset after the value's last character. */
  readonly valueEnd: number;
}

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Finds the members of the object at `start`, after optional white space.
 * @param bounds Bounds to enforce if the text is parsed next.
 * @returns null if the text is not an object or visibly malformed; a list does not mean that its values are valid.
 */
export function findMembers(text: string, start = 0, bounds = NESTING_ONLY): MemberSpan[] | null {
  const count = new JsonCount(bounds);
  let index = skipSpace(text, start);
  if (text.charCodeAt(index) !== OPENING_BRACE) {
    // Not an object, but an array must not be too deep for JSON.parse either.
    skipValue(text, index, count);
    return null;
  }
  const members: MemberSpan[] = [];
  index = skipSpace(text, index + 1);
  if (text.charCodeAt(index) === CLOSING_BRACE) return members;
  for (;;) {
    if (text.charCodeAt(index) !== QUOTE) return null;
    count.addNode();
    const keyEnd = skipString(text, index);
    const colon = skipSpace(text, keyEnd);
    if (text.charCodeAt(colon) !== COLON) return null;
    const valueStart = skipSpace(text, colon + 1);
    const valueEnd = skipValue(text, valueStart, count);
    if (valueEnd === valueStart) return null;
    members.push({ key: readKey(text, index, keyEnd), start: index, valueStart, valueEnd });
    index = skipSpace(text, valueEnd);
    const separator = text.charCodeAt(index);
    if (separator === CLOSING_BRACE) return members;
    if (separator !== COMMA) return null;
    count.addComma();
    index = skipSpace(text, index + 1);
  }
}

/** Offsets of an array element or an object member. */
export type ElementSpan = Pick<MemberSpan, "start" | "valueEnd">;

/** Lists the elements of the array at `start`; empty if there is no array or it is visibly malformed. */
export function listElements(text: string, start: number): ElementSpan[] {
  return Array.from(eachElement(text, start));
}

/** `listElements` as a generator. */
export function* eachElement(text: string, start: number): Generator<ElementSpan> {
  if (text.charCodeAt(start) !== OPENING_BRACKET) return;
  let index = skipSpace(text, start + 1);
  while (index < text.length && text.charCodeAt(index) !== CLOSING_BRACKET) {
    const end = skipValue(text, index, new JsonCount(NESTING_ONLY));
    if (end === index) return;
    yield { start: index, valueEnd: end };
    index = skipSpace(text, end);
    if (text.charCodeAt(index) === COMMA) index = skipSpace(text, index + 1);
  }
}

/** Applies edits, which must be sorted and must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  let result = "";
  let copied = 0;
  for (const { start, end, replacement } of edits) {
    result += text.slice(copied, start) + replacement;
    copied = end;
  }
  return result + text.slice(copied);
}

/** Creates edits that remove the members with this key, including their commas. */
export function removeMembers(members: readonly MemberSpan[], key: string): Edit[] {
  return removeWhere(members, (member) => member.key === key);
}

/** Creates edits that remove some members or elements, including their commas. */
export function removeWhere<Span extends ElementSpan>(
  members: readonly Span[],
  isRemoved: (member: Span, index: number) => boolean,
): Edit[] {
  const edits: Edit[] = [];
  let followsRemaining = false;
  for (const [index, member] of members.entries()) {
    if (!isRemoved(member, index)) followsRemaining = true;
    else if (followsRemaining) {
      edits.push({ start: members[index - 1]?.valueEnd ?? 0, end: member.valueEnd, replacement: "" });
    } else {
      edits.push({
        start: member.start,
        end: members[index + 1]?.start ?? member.valueEnd,
        replacement: "",
      });
    }
  }
  return edits;
}

function readKey(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  if (!raw.includes("\\")) return raw;
  try {
    return JSON.parse(text.slice(start, end)) as string;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // JSON.parse of the whole text will reject it as well.
    return raw;
  }
}

function skipSpace(text: string, start: number): number {
  let index = start;
  for (;;) {
    const code = text.charCodeAt(index);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return index;
    index += 1;
  }
}

/** Returns the offset after the closing quote, or the end of the text if there is no closing quote. */
export function skipString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1);
  while (quote !== -1) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    quote = text.indexOf('"', quote + 1);
  }
  return text.length;
}

function skipValue(text: string, start: number, count: JsonCount): number {
  const first = text.charCodeAt(start);
  if (first === QUOTE) {
    count.addNode();
    return skipString(text, start);
  }
  if (first !== OPENING_BRACE && first !== OPENING_BRACKET) return skipScalar(text, start);
  let depth = 0;
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      count.addNode();
      index = skipString(text, index);
      continue;
    }
    index += 1;
    if (code === COMMA) {
      count.addComma();
    } else if (code === OPENING_BRACE || code === OPENING_BRACKET) {
      count.addNode();
      depth += 1;
      if (depth > MAX_NESTING) throw new JsonBoundError(`is nested deeper than ${MAX_NESTING} levels`);
    } else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) {
      depth -= 1;
      if (depth === 0) return index;
    }
  }
  return index;
}

/** Returns the offset after a number, `true`, `false` or `null`. */
export function skipScalar(text: string, start: number): number {
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === COMMA || code === CLOSING_BRACE || code === CLOSING_BRACKET || code <= 0x20) break;
    index += 1;
  }
  return index;
}
