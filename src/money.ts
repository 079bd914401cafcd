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
/** Of a product of tokens and a price per million of them. */
const PRODUCT_DECIMALS = PRICE_DECIMALS + 6;
export const MIN_SHOWN_DECIMALS = 2;
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
  return formatUnits(price, PRICE_DECIMALS, MIN_SHOWN_DECIMALS);
}

/** "0.00123400": an amount of the currency with all its decimals, and no more than eight. */
export function formatDecimal(microcents: bigint): string {
  return formatUnits(microcents, PRICE_DECIMALS, PRICE_DECIMALS);
}

/**
 * Tokens times a price, in millionths of a microcent, as an exact decimal of the currency: "0.00123400", with more
 * decimals where they are needed.
 * @param shown Decimals that are there even when they are 0.
 */
export function formatProduct(product: bigint, shown = PRICE_DECIMALS): string {
  return formatUnits(product, PRODUCT_DECIMALS, shown);
}

function formatUnits(value: bigint, decimals: number, shown: number): string {
  const sign = value < 0n ? "-" : "";
  const digits = String(value < 0n ? -value : value).padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "").padEnd(shown, "0");
  return `${sign}${digits.slice(0, -decimals)}.${fraction}`;
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
