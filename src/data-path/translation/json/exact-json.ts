/**
 * JSON in which integers keep every digit: ids in tools' arguments are often longer than the 15 that a number holds. An
 * integer beyond 2^53 is a bigint here, so nothing takes it for a number by mistake; all others are plain numbers.
 */
import { randomUUID } from "node:crypto";
import { atOnce, type Steps } from "../../../shared/event-loop/steps.ts";
import { formatExactJson } from "../../../shared/text/exact-json.ts";
import { MAX_LONG_INTEGERS, tooMany } from "./json-bounds.ts";
import { applyEdits, type Edit, skipScalar, skipString } from "./object-spans.ts";

/** The shortest integer that a number may not hold has so many digits. */
const LONG_DIGITS = 16;
/** Converting more takes seconds; these are what `JSON.parse` makes of them. */
const MAX_DIGITS = 1_000;
const LONG_INTEGER = new RegExp(`^-?[1-9]\\d{${LONG_DIGITS - 1},${MAX_DIGITS - 1}}$`);

/** What JSON has as it is; a half of a pair may be alone, which is escaped. */
// oxlint-disable-next-line no-control-regex -- JSON escapes them
const PLAIN = /^[^"\\\u0000-\u001f\ud800-\udfff]*$/;

const QUOTE = 0x22;
const MINUS = 0x2d;

/** So many characters are searched in one step. */
const STEP_CHARACTERS = 8 * 1024 * 1024;

/** Begins a string that stands for an integer while it is parsed; nobody can guess it. */
const MARK = `${randomUUID()}:`;

/** As `JSON.parse`, integers beyond 2^53 as bigints. @throws SyntaxError @throws JsonBoundError for very many of them. */
export function parseExactJson(text: string): unknown {
  return atOnce(readExactJson(text));
}

/** The same in steps. */
export function* readExactJson(text: string): Steps<unknown> {
  const value: unknown = JSON.parse(text);
  yield;
  if (!hasLongDigits(text)) return value;
  yield;
  const edits = yield* findLongIntegers(text);
  if (edits.length === 0) return value;
  yield;
  const marked: unknown = JSON.parse(applyEdits(text, edits));
  yield;
  return unmark(marked);
}

/** Makes bigints of what is marked, in place: a reviver is called for each value, and takes several times as long. */
function unmark(value: unknown): unknown {
  if (typeof value === "string") return value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value;
  if (typeof value !== "object" || value === null) return value;
  const members = value as Record<string, unknown>;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      if (typeof value[index] !== "number") value[index] = unmark(value[index]);
    }
  } else {
    for (const name of Object.keys(members)) members[name] = unmark(members[name]);
  }
  return value;
}

/** As `JSON.stringify`, bigints as the integers that they are. */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // What it throws at a bigint. Looking for one before would cost each answer a walk through all of it.
    if (!(error instanceof TypeError)) throw error;
  }
  return formatExactJson(value);
}

/** As `JSON.stringify`, in half the time for a text that needs no escapes, as most pieces of one do not. */
export function formatJsonString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** A run of so many digits covers one of the places that are looked at, so most of a text is not. */
function hasLongDigits(text: string): boolean {
  for (let index = LONG_DIGITS - 1; index < text.length; index += LONG_DIGITS) {
    if (!isDigit(text.charCodeAt(index))) continue;
    let start = index;
    while (start > 0 && isDigit(text.charCodeAt(start - 1))) start -= 1;
    let end = index + 1;
    while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
    if (end - start >= LONG_DIGITS) return true;
  }
  return false;
}

/** @param text JSON. */
function* findLongIntegers(text: string): Steps<Edit[]> {
  const edits: Edit[] = [];
  let index = 0;
  let stepEnd = STEP_CHARACTERS;
  while (index < text.length) {
    if (index >= stepEnd) {
      yield;
      stepEnd = index + STEP_CHARACTERS;
    }
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = skipString(text, index);
    } else if (code === MINUS || isDigit(code)) {
      const end = skipScalar(text, index);
      const digits = text.slice(index, end);
      if (LONG_INTEGER.test(digits) && !Number.isSafeInteger(Number(digits))) {
        if (edits.length === MAX_LONG_INTEGERS) throw tooMany(MAX_LONG_INTEGERS, "integers beyond 2^53");
        edits.push({ start: index, end, replacement: `"${MARK}${digits}"` });
      }
      index = end;
    } else {
      index += 1;
    }
  }
  return edits;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
