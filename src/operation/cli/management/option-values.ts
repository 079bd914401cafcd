/**
 * Parsers and formatters of option values: numbers, money and times in users' notation. Commander uses null
 * for an option without a value, hence the word `none`.
 */
import { InvalidArgumentError } from "commander";
import {
  columnDecimals,
  formatCents,
  formatFixed,
  MAX_CENTS,
  MICROCENTS_PER_CENT,
  parseCents,
  parseSignedAmount,
} from "../../../shared/money/money.ts";
import { isDay } from "../../../shared/time/calendar.ts";

/** Word for removing a limit; null in the API. */
export const NONE = "none";
type OrNone<Value> = Value | typeof NONE;

/** Converts `none` to null for the API. */
export function convertNone<Value>(value: OrNone<Value> | undefined): Value | null | undefined {
  return value === NONE ? null : value;
}

/** Parses a non-negative integer with at most this many digits. */
export function parseDigits(most: number): (text: string) => number {
  const form = new RegExp(`^\\d{1,${most}}$`);
  return (text) => {
    if (form.test(text)) return Number(text);
    throw new InvalidArgumentError("expected a whole number");
  };
}

/** Parses an integer; the API checks its bounds. */
export const parseWhole = parseDigits(15);

/** Parses a maximum number of items, at least one. */
export function parseLimit(text: string): number {
  const limit = parseWhole(text);
  if (limit > 0) return limit;
  throw new InvalidArgumentError("expected a whole number, 1 or more");
}

/** Parses an integer, or "none". */
export function parseWholeOrNone(text: string): OrNone<number> {
  return text === NONE ? NONE : parseWhole(text);
}

/** Collects "a,b" and repetitions of the option; "none" clears earlier values. */
export function collect(
  text: string,
  before: OrNone<readonly string[]> | undefined,
): OrNone<readonly string[]> {
  if (text === NONE) return NONE;
  const former = before === undefined || before === NONE ? [] : before;
  return [...former, ...text.split(",").map((item) => item.trim())];
}

/** Parses one of several words. For commander: throws InvalidArgumentError. */
export function parseChoice<const Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const found = words.find((word) => word === text);
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`expected ${words.slice(0, -1).join(", ")} or ${String(words.at(-1))}`);
  };
}

/** Parses a cap or budget to whole cents, or "none". For commander: @throws InvalidArgumentError. */
export function parseAmount(text: string): OrNone<number> {
  if (text === NONE) return NONE;
  const cents = parseCents(text);
  if (cents !== null && cents <= MAX_CENTS) return cents;
  throw new InvalidArgumentError(
    "expected an amount such as 50 or 50.00, at most 90000000.00, or `none` for no limit",
  );
}

/** Parses a signed amount to microcents, exactly. For commander: @throws InvalidArgumentError. */
export function parseCorrection(text: string): number {
  const microcents = parseSignedAmount(text) ?? 0;
  if (microcents !== 0 && Math.abs(microcents) <= MAX_CENTS * MICROCENTS_PER_CENT) return microcents;
  throw new InvalidArgumentError("expected an amount such as 12.50 or -0.00125, not 0, at most 90000000.00");
}

const COUNT_FORM = /^([a-z][a-z0-9_]{0,30})=(\d{1,13})$/;

/**
 * Parses "input=1200000,output=80000" without duplicates; the API checks the names. For commander: @throws
 * InvalidArgumentError.
 */
export function parseTokenCounts(text: string): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const part of text.split(",")) {
    const [, name = "", count = ""] = COUNT_FORM.exec(part.trim()) ?? [];
    if (name === "" || counts.has(name)) {
      throw new InvalidArgumentError("expected counts such as input=1200000,output=80000, each once");
    }
    counts.set(name, Number(count));
  }
  return Object.fromEntries(counts);
}

/** Formats "50.00 USD", or "none". */
export function formatAmount(cents: unknown, currency: string): string {
  return typeof cents === "number" ? formatCents(cents, currency) : "none";
}

/** Formats "0.001234 USD": exact microcents, without trailing zeros after the cents. */
export function formatExactAmount(microcents: unknown, currency: string): string {
  return formatExactAmounts([microcents], currency).join();
}

/** Formats the amounts of a column with equal decimals. */
export function formatExactAmounts(all: readonly unknown[], currency: string): readonly string[] {
  const decimals = columnDecimals(all.filter(isInteger));
  return all.map((one) => (isInteger(one) ? `${formatFixed(one, decimals)} ${currency}` : "none"));
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const DURATION = /^(\d{1,9})([smhd]?)$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses "24h", or a plain number of seconds, to seconds. For commander: @throws InvalidArgumentError. */
export function parseDuration(text: string): number {
  const seconds = secondsOf(text);
  if (seconds !== null) return seconds;
  throw new InvalidArgumentError("expected a time such as 30m, 24h or 7d, or a number of seconds");
}

/**
 * Parses a past time: "2h" is two hours ago. A day stays a day, for the API. For commander: @throws
 * InvalidArgumentError.
 */
export function parsePastTime(text: string): string {
  return parseTime(text, -1);
}

/**
 * Parses a future time: "90d" is in ninety days, a day means its start (UTC), or "none". For commander:
 * @throws InvalidArgumentError.
 */
export function parseFutureTime(text: string): OrNone<string> {
  if (text === NONE) return NONE;
  const time = parseTime(text, 1);
  return isDay(time) ? `${time}T00:00:00Z` : time;
}

/** Formats a time of a response as "2026-11-21T14:03:59Z". */
export function formatSecond(time: unknown): string {
  return `${String(time).slice(0, "2026-11-21T14:03:59".length)}Z`;
}

function parseTime(text: string, direction: 1 | -1): string {
  const seconds = /[smhd]$/.test(text) ? secondsOf(text) : null;
  if (seconds !== null) return new Date(Date.now() + direction * seconds * 1000).toISOString();
  if (isDay(text) || (TIME.test(text) && !Number.isNaN(Date.parse(text)))) return text;
  throw new InvalidArgumentError(
    "expected a day such as 2026-11-01 (UTC), a time such as 2026-11-01T14:00:00Z, or 90m, 12h, 30d from now",
  );
}

function secondsOf(text: string): number | null {
  const [, count, unit = ""] = DURATION.exec(text) ?? [];
  if (count === undefined) return null;
  return Number(count) * (unit === "" ? 1 : SECONDS[unit as keyof typeof SECONDS]);
}
