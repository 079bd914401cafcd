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
/** Decimals of a product of tokens and a price per million of them. */
const PRODUCT_DECIMALS = PRICE_DECIMALS + 6;
export const MIN_SHOWN_DECIMALS = 2;
const PRICE_PATTERN = /^(\d{1,7})(?:\.(\d{1,8}))?$/;
const CENTS_PATTERN = /^(\d{1,12})(?:\.(\d{2}))?$/;
const SIGNED_PATTERN = /^([+-]?)(\d{1,8})(?:\.(\d{1,8}))?$/;

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

/** "50" or "50.00" in cents; null for anything else, such as "10,50", which is 10.50 to some and 1,050 to others. */
export function parseCents(text: string): number | null {
  const match = CENTS_PATTERN.exec(text);
  return match === null ? null : Number(`${match[1]}${match[2] ?? "00"}`);
}

/** "-0.00125" in microcents; null for anything that is not a decimal of at most eight digits behind the point. */
export function parseSignedAmount(text: string): number | null {
  const match = SIGNED_PATTERN.exec(text);
  if (match === null) return null;
  const [, sign, whole = "", fraction = ""] = match;
  const microcents = Number(whole + fraction.padEnd(PRICE_DECIMALS, "0"));
  return sign === "-" ? 0 - microcents : microcents;
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

/** "0.0012": an amount of the currency with so many decimals, eight at most. What is behind them is left out. */
export function formatFixed(microcents: number | bigint, decimals: number): string {
  const whole = formatDecimal(BigInt(microcents));
  return whole.slice(0, whole.length - PRICE_DECIMALS + decimals);
}

/** How many decimals show all these amounts to their last digit: the same number for each of them, two at least. */
export function columnDecimals(amounts: readonly (number | bigint)[]): number {
  const decimals = amounts.map((amount) => formatPrice(BigInt(amount)).split(".")[1]?.length ?? 0);
  return Math.max(...decimals, MIN_SHOWN_DECIMALS);
}

/** Whole cents of an amount, rounded down: what is spent is never shown as more than it is. */
export function wholeCents(microcents: bigint): number {
  const unit = BigInt(MICROCENTS_PER_CENT);
  const floor = microcents / unit;
  return Number(microcents < 0n && floor * unit !== microcents ? floor - 1n : floor);
}

/** Whole cents, rounded up: what is set aside is never shown as less than it is. */
export function ceilCents(microcents: bigint): number {
  return 0 - wholeCents(-microcents);
}

/**
 * The rule of caps and budgets: one is reached once as much is spent as it allows, one of 0 always. Scripts in Redis have the
 * same rule from `store/lua/include/cap-rule.lua`; a test holds both equal.
 */
export function isReached(cents: number, spentMicrocents: bigint): boolean {
  return roomUnder(cents, spentMicrocents) <= 0n;
}

/** What a cap or budget leaves beside so much, in microcents: below 0 where it is passed. */
export function roomUnder(cents: number, takenMicrocents: bigint): bigint {
  return BigInt(cents) * BigInt(MICROCENTS_PER_CENT) - takenMicrocents;
}

/** "50.13 USD": an amount of whole cents in the notation of error messages and mails. */
export function formatCents(cents: number, currency: string): string {
  const sign = cents < 0 ? "-" : "";
  const absolute = Math.abs(cents);
  return `${sign}${Math.floor(absolute / 100)}.${String(absolute % 100).padStart(2, "0")} ${currency}`;
}
