/** Money as people write it: "50", "50.00", "none". */
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
import { NONE, type OrNone } from "./options.ts";

/** A cap or budget in whole cents, or "none". For commander: @throws InvalidArgumentError. */
export function parseAmount(text: string): OrNone<number> {
  if (text === NONE) return NONE;
  const cents = parseCents(text);
  if (cents !== null && cents <= MAX_CENTS) return cents;
  throw new InvalidArgumentError(
    "expected an amount such as 50 or 50.00, at most 90000000.00, or `none` for no limit",
  );
}

/** A signed amount in microcents, to the last decimal. For commander: @throws InvalidArgumentError. */
export function parseCorrection(text: string): number {
  const microcents = parseSignedAmount(text) ?? 0;
  if (microcents !== 0 && Math.abs(microcents) <= MAX_CENTS * MICROCENTS_PER_CENT) return microcents;
  throw new InvalidArgumentError("expected an amount such as 12.50 or -0.00125, not 0, at most 90000000.00");
}

const COUNT_FORM = /^([a-z][a-z0-9_]{0,30})=(\d{1,13})$/;

/** "input=1200000,output=80000", each once; the API knows the names. For commander: @throws InvalidArgumentError. */
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

/** "50.00 USD", or "none". */
export function formatAmount(cents: unknown, currency: string): string {
  return typeof cents === "number" ? formatCents(cents, currency) : "none";
}

/** "0.001234 USD": microcents to their last digit, without zeros behind the cents. */
export function formatExactAmount(microcents: unknown, currency: string): string {
  return formatExactAmounts([microcents], currency).join();
}

/** The amounts of a column: each with as many decimals as the longest of them has. */
export function formatExactAmounts(all: readonly unknown[], currency: string): readonly string[] {
  const decimals = columnDecimals(all.filter(isInteger));
  return all.map((one) => (isInteger(one) ? `${formatFixed(one, decimals)} ${currency}` : "none"));
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}
