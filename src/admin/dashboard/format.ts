/** Figures as people read them. */
import { formatCents, wholeCents } from "../../money.ts";
import { formatMonthName } from "../../calendar.ts";

const UNIT_DECIMALS = 8;

/** "1,234.56 USD"; what is under a cent to its last digit: "0.0045 USD". Rounded down, as caps are compared. */
export function formatMoney(microcents: number, currency: string): string {
  const cents = wholeCents(BigInt(microcents));
  if (cents === 0 && microcents > 0) {
    const fraction = String(microcents).padStart(UNIT_DECIMALS, "0").replace(/0+$/, "");
    return `0.${fraction} ${currency}`;
  }
  return formatCents(cents, currency).replace(/\B(?=(?:\d{3})+\.)/g, ",");
}

/** A cap or a budget: "50.00 USD" or "none". */
export function formatLimit(cents: number | null, currency: string): string {
  return cents === null ? "none" : formatCents(cents, currency).replace(/\B(?=(?:\d{3})+\.)/g, ",");
}

/** What stands in an amount's field: "50.00", nothing for none. */
export function amountText(cents: number | null): string {
  return cents === null ? "" : formatCents(cents, "").trim();
}

export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** "2026-11-21 14:03 UTC". */
export function formatTime(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

export function monthName(month: string): string {
  return formatMonthName(month);
}

/** "rate_limit" → "rate limit". */
export function spellOut(word: string): string {
  return word.replaceAll("_", " ").replaceAll(".", ": ");
}
