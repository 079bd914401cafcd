/**
 * Money. Internally everything is in microcents, a millionth of a cent of the organization's billing
 * currency, always an integer. Prices are microcents per million tokens, which represents eight decimals of a
 * price per million exactly.
 */

export const MICROCENTS_PER_CENT = 1_000_000;

/** Largest cap or budget in cents: keeps every amount in microcents below 2^53, where Lua's numbers are exact. */
export const MAX_CENTS = 9_000_000_000;

/** Decimals of a price: "2.50" per million tokens is 2.50 × 100 cents × 10^6 microcents. */
const PRICE_DECIMALS = 8;
/** Decimals of a product of tokens and a price per million tokens. */
const PRODUCT_DECIMALS = PRICE_DECIMALS + 6;
export const MIN_SHOWN_DECIMALS = 2;
const PRICE_PATTERN = /^(\d{1,7})(?:\.(\d{1,8}))?$/;
const CENTS_PATTERN = /^(\d{1,12})(?:\.(\d{2}))?$/;
const SIGNED_PATTERN = /^([+-]?)(\d{1,8})(?:\.(\d{1,8}))?$/;

/**
 * Parses a price per million tokens ("2.50") to microcents per million tokens; or an amount of the currency
 * to microcents. Returns null unless it is a decimal of at most seven digits before and eight after the
 * point.
 */
export function parsePrice(text: string): bigint | null {
  const match = PRICE_PATTERN.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, "0"));
}

/**
 * Parses "50" or "50.00" to cents; null for anything else, such as "10,50", which means 10.50 to some and
 * 1,050 to others.
 */
export function parseCents(text: string): number | null {
  const match = CENTS_PATTERN.exec(text);
  return match === null ? null : Number(`${match[1]}${match[2] ?? "00"}`);
}

/** Parses "-0.00125" to microcents; null unless it is a decimal of at most eight digits after the point. */
export function parseSignedAmount(text: string): number | null {
  const match = SIGNED_PATTERN.exec(text);
  if (match === null) return null;
  const [, sign, whole = "", fraction = ""] = match;
  const microcents = Number(whole + fraction.padEnd(PRICE_DECIMALS, "0"));
  return sign === "-" ? 0 - microcents : microcents;
}

/** Formats a price per million tokens as in `gateway.yaml`: "2.50", "0.075". The reverse of `parsePrice`. */
export function formatPrice(price: bigint): string {
  return formatUnits(price, PRICE_DECIMALS, MIN_SHOWN_DECIMALS);
}

/** Formats an amount with all its decimals, at most eight: "0.00123400". */
export function formatDecimal(microcents: bigint): string {
  return formatUnits(microcents, PRICE_DECIMALS, PRICE_DECIMALS);
}

/**
 * Formats tokens times a price, in millionths of a microcent, as an exact decimal of the currency:
 * "0.00123400", with more decimals if needed.
 * @param shown Minimum number of decimals.
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

/** Formats an amount with this many decimals, at most eight, truncated: "0.0012". */
export function formatFixed(microcents: number | bigint, decimals: number): string {
  const whole = formatDecimal(BigInt(microcents));
  return whole.slice(0, whole.length - PRICE_DECIMALS + decimals);
}

/**
 * Formats an amount with two decimals, which every currency that can be billed has, rounded half up, that is
 * away from 0: "12.35", "-0.01".
 */
export function formatRounded(microcents: bigint): string {
  const unit = BigInt(MICROCENTS_PER_CENT);
  const half = microcents < 0n ? -unit / 2n : unit / 2n;
  return formatUnits(((microcents + half) / unit) * unit, PRICE_DECIMALS, MIN_SHOWN_DECIMALS);
}

/** Returns how many decimals show all these amounts exactly: the same for each, at least two. */
export function columnDecimals(amounts: readonly (number | bigint)[]): number {
  const decimals = amounts.map((amount) => formatPrice(BigInt(amount)).split(".")[1]?.length ?? 0);
  return Math.max(...decimals, MIN_SHOWN_DECIMALS);
}

/** Returns whole cents, rounded down: spend is never shown as more than it is. */
export function wholeCents(microcents: bigint): number {
  const unit = BigInt(MICROCENTS_PER_CENT);
  const floor = microcents / unit;
  return Number(microcents < 0n && floor * unit !== microcents ? floor - 1n : floor);
}

/** Returns whole cents, rounded up: reserved amounts are never shown as less than they are. */
export function ceilCents(microcents: bigint): number {
  return 0 - wholeCents(-microcents);
}

/**
 * Returns whether a cap or budget is reached: spend is at least the limit; 0 is always reached. Redis scripts
 * have the same rule in `store/lua/include/cap-rule.lua`; a test compares both.
 */
export function isReached(cents: number, spentMicrocents: bigint): boolean {
  return remainingOfLimit(cents, spentMicrocents) <= 0n;
}

/** Returns what is left of a cap or budget in microcents, below 0 if it is exceeded. */
export function remainingOfLimit(cents: number, takenMicrocents: bigint): bigint {
  return BigInt(cents) * BigInt(MICROCENTS_PER_CENT) - takenMicrocents;
}

/** Formats an amount in whole cents for error messages and emails: "50.13 USD". */
export function formatCents(cents: number, currency: string): string {
  const sign = cents < 0 ? "-" : "";
  const absolute = Math.abs(cents);
  return `${sign}${Math.floor(absolute / 100)}.${String(absolute % 100).padStart(2, "0")} ${currency}`;
}
