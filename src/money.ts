/**
 * Money. One unit inside: the microcent, a millionth of a cent of the organization's billing currency, always an
 * integer. Prices are microcents per million tokens, which holds eight decimals of a price per million exactly.
 */

/** Microcents in one cent. */
export const MICROCENTS_PER_CENT = 1_000_000;

/** The largest cap or budget, in cents: keeps every amount in microcents under 2^53, where Lua's numbers are exact. */
export const MAX_CENTS = 9_000_000_000;

/** "2.50" per million tokens: 2.50 × 100 cents × 10^6 microcents. */
const PRICE_DECIMALS = 8;
const MIN_SHOWN_DECIMALS = 2;
const PRICE_PATTERN = /^(\d{1,7})(?:\.(\d{1,8}))?$/;

/**
 * A price per million tokens, written as a decimal string ("2.50"), in microcents per million tokens; or an amount of the
 * currency, in microcents.
 * Returns null for anything that is not a decimal of at most seven digits before and eight behind the point.
 */
export function parsePrice(text: string): bigint | null {
  const match = PRICE_PATTERN.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, "0"));
}

/** A price per million tokens as it is written in `gateway.yaml`: "2.50", "0.075". The reverse of `parsePrice`. */
export function formatPrice(price: bigint): string {
  const digits = price.toString().padStart(PRICE_DECIMALS + 1, "0");
  const fraction = digits.slice(-PRICE_DECIMALS).replace(/0+$/, "").padEnd(MIN_SHOWN_DECIMALS, "0");
  return `${digits.slice(0, -PRICE_DECIMALS)}.${fraction}`;
}

/** "0.00123400": an amount of the currency with all its decimals, and no more than eight. */
export function formatDecimal(microcents: bigint): string {
  const sign = microcents < 0n ? "-" : "";
  const digits = String(microcents < 0n ? -microcents : microcents).padStart(PRICE_DECIMALS + 1, "0");
  return `${sign}${digits.slice(0, -PRICE_DECIMALS)}.${digits.slice(-PRICE_DECIMALS)}`;
}

/** Whole cents of an amount, rounded down: what is spent is never shown as more than it is. */
export function wholeCents(microcents: bigint): number {
  const unit = BigInt(MICROCENTS_PER_CENT);
  const floor = microcents / unit;
  return Number(microcents < 0n && floor * unit !== microcents ? floor - 1n : floor);
}

/** "50.13 USD": an amount of whole cents in the notation of error messages and mails. */
export function formatCents(cents: number, currency: string): string {
  const sign = cents < 0 ? "-" : "";
  const absolute = Math.abs(cents);
  return `${sign}${Math.floor(absolute / 100)}.${String(absolute % 100).padStart(2, "0")} ${currency}`;
}
