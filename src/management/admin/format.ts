/** Formatting of figures for people. */
import { columnDecimals, formatCents, formatFixed, wholeCents } from "../../shared/money/money.ts";
import { formatMonthName } from "../../shared/time/calendar.ts";

const MICROCENTS_PER_UNIT = 100_000_000;

/** Formats "1,234.56 USD"; amounts below a cent completely: "0.0045 USD". Rounds down, as in comparisons with caps. */
export function formatMoney(microcents: number | bigint, currency: string): string {
  const cents = wholeCents(BigInt(microcents));
  return cents === 0 && microcents > 0
    ? formatExactMoney(microcents, currency)
    : groupThousands(formatCents(cents, currency));
}

/** Formats an amount of a column of sums, all with two decimals: "1,234.56 USD", "< 0.01 USD". Rounds down. */
export function formatSumMoney(microcents: number | bigint, currency: string): string {
  const cents = wholeCents(BigInt(microcents));
  if (cents === 0 && microcents > 0) return `< ${formatCents(1, currency)}`;
  return groupThousands(formatCents(cents, currency));
}

/** Formats a label of an axis: "0", "0.05", "1,200". */
export function formatTickMoney(microcents: number): string {
  return (microcents / MICROCENTS_PER_UNIT).toLocaleString("en-US", { maximumSignificantDigits: 6 });
}

/** Formats a label of an axis: "950", "1.2M". */
export function formatTickCount(count: number): string {
  return count.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
}

/** Formats a cap or a budget: "50.00 USD" or "none". */
export function formatLimit(cents: number | null, currency: string): string {
  return cents === null ? "none" : groupThousands(formatCents(cents, currency));
}

/** Formats an amount for a field: "50.00", empty for none. */
export function amountText(cents: number | null): string {
  return cents === null ? "" : formatCents(cents, "").trim();
}

/** Formats "0.00123400 USD" without trailing zeros after the cents: "0.001234 USD". */
export function formatExactMoney(microcents: number | bigint, currency: string): string {
  return formatAmount(microcents, currency, columnDecimals([microcents]));
}

/** Pads decimals such as "2.50" and "0.003" to the longest: "2.500", "0.003". */
export function alignDecimals(amounts: readonly string[]): readonly string[] {
  const placesOf = (amount: string): number => amount.length - (amount.indexOf(".") + 1 || amount.length);
  const places = Math.max(...amounts.map(placesOf));
  return amounts.map((amount) =>
    amount.includes(".") ? amount.padEnd(amount.length + places - placesOf(amount), "0") : amount,
  );
}

/** Formats with this many decimals, rounded down. */
export function formatAmount(microcents: number | bigint, currency: string, decimals: number): string {
  return `${groupThousands(formatFixed(microcents, decimals))} ${currency}`;
}

/** Formats "1234.50" as "1,234.50". */
export function groupThousands(amount: string): string {
  return amount.replace(/\B(?<!\.\d*)(?=(?:\d{3})+(?:\.|$| ))/g, ",");
}

/** Formats "84 ms", "1.92 s", "2 min 5 s". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1_000);
  return `${formatCount(Math.floor(seconds / 60))} min ${seconds % 60} s`;
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** Formats "1 request", "1,200 requests". */
export function formatCountOf(count: number, one: string): string {
  return `${formatCount(count)} ${count === 1 ? one : `${one}s`}`;
}

/** Formats "2026-11-21 14:03:59 UTC". */
export function formatExactTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;
}

/** Formats "2026-11-21 14:03 UTC". */
export function formatTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

export function monthName(month: string): string {
  return formatMonthName(month);
}

/** Converts "rate_limit" to "rate limit". */
export function spellOut(word: string): string {
  return word.replaceAll("_", " ").replaceAll(".", ": ");
}
