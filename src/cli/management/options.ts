/** Readers of option values, for commander. */
import { InvalidArgumentError } from "commander";

/** A whole number that is not negative; the API knows the bounds. */
export function parseWhole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number");
}

/** The same, or null for "none". */
export function parseWholeOrNone(text: string): number | null {
  return text === "none" ? null : parseWhole(text);
}

/** "a,b" and repeats of the option; null for "none". */
export function collect(text: string, before: readonly string[] | null | undefined): string[] | null {
  if (text === "none") return null;
  return [...(before ?? []), ...text.split(",").map((item) => item.trim())];
}

/** A text, or null for "none". */
export function textOrNone(text: string): string | null {
  return text === "none" ? null : text;
}
