/** Readers of option values, for commander, which takes a null for an option without a value: hence the word. */
import { InvalidArgumentError } from "commander";

/** What people write to take a limit away; the API's null. */
export const NONE = "none";
export type OrNone<Value> = Value | typeof NONE;

/** The API's word for it. */
export function convertNone<Value>(value: OrNone<Value> | undefined): Value | null | undefined {
  return value === NONE ? null : value;
}

/** A whole number that is not negative, of at most so many digits. */
export function parseDigits(most: number): (text: string) => number {
  const form = new RegExp(`^\\d{1,${most}}$`);
  return (text) => {
    if (form.test(text)) return Number(text);
    throw new InvalidArgumentError("expected a whole number");
  };
}

/** A whole number of the API, which knows its bounds. */
export const parseWhole = parseDigits(15);

/** How many at most, one at least. */
export function parseLimit(text: string): number {
  const limit = parseWhole(text);
  if (limit > 0) return limit;
  throw new InvalidArgumentError("expected a whole number, 1 or more");
}

/** A whole number, or "none". */
export function parseWholeOrNone(text: string): OrNone<number> {
  return text === NONE ? NONE : parseWhole(text);
}

/** "a,b" and repeats of the option; "none" takes back what was given before. */
export function collect(
  text: string,
  before: OrNone<readonly string[]> | undefined,
): OrNone<readonly string[]> {
  if (text === NONE) return NONE;
  const former = before === undefined || before === NONE ? [] : before;
  return [...former, ...text.split(",").map((item) => item.trim())];
}

/** One of some words. For commander: throws InvalidArgumentError. */
export function parseChoice<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`expected ${words.slice(0, -1).join(", ")} or ${String(words.at(-1))}`);
  };
}
