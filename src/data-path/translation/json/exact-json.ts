/**
 * JSON parsing and formatting that keeps every digit of integers: ids in tool arguments are often longer than the 15
 * digits that a number holds. An integer beyond 2^53 becomes a bigint, so that it is never mistaken for a number; all
 * others are plain numbers.
 */
import { randomUUID } from "node:crypto";
import { atOnce, type Steps } from "../../../shared/event-loop/steps.ts";
import { formatExactJson } from "../../../shared/text/exact-json.ts";
import { MAX_LONG_INTEGERS, tooMany } from "./json-bounds.ts";
import { applyEdits, type Edit, skipScalar, skipString } from "./object-spans.ts";

/** Fewest digits of an integer that a number may not hold. */
const LONG_DIGITS = 16;
/** Converting more digits takes seconds, so longer integers stay as `JSON.parse` returns them. */
const MAX_DIGITS = 1_000;
const LONG_INTEGER = new RegExp(`^-?[1-9]\\d{${LONG_DIGITS - 1},${MAX_DIGITS - 1}}$`);

/** Text that JSON needs no escapes for. Surrogates are excluded, because an unpaired one must be escaped. */
// oxlint-disable-next-line no-control-regex -- JSON escapes them
const PLAIN = /^[^"\\\u0000-\u001f\ud800-\udfff]*$/;

const QUOTE = 0x22;
const MINUS = 0x2d;

/** Characters searched per step. */
const STEP_CHARACTERS = 8 * 1024 * 1024;

/** Prefix of strings that replace integers during parsing; random, so that no client can forge it. */
const MARK = `${randomUUID()}:`;

/**
 * `JSON.parse` with integers beyond 2^53 as bigints. @throws SyntaxError @throws JsonBoundError for too many of them.
 */
export function parseExactJson(text: string): unknown {
  return atOnce(readExactJson(text));
}

/** `parseExactJson` in steps. */
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

/**
 * Replaces marked strings by bigints, in place: a reviver is called for each value and takes several times as long.
 */
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

/** `JSON.stringify` with bigints as integers. */
export function formatJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Thrown for a bigint. Searching for one first would cost each answer a walk through all of it.
    if (!(error instanceof TypeError)) throw error;
  }
  return formatExactJson(value);
}

/** `JSON.stringify` of a string, in half the time if it needs no escapes. */
export function formatJsonString(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Searches for a run of `LONG_DIGITS` digits by testing only every `LONG_DIGITS`-th character. */
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

/** @param text Valid JSON. */
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
