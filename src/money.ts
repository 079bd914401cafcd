/**
 * Money. One unit inside: the microcent, a millionth of a cent of the organization's billing currency, always an
 * integer. Prices are microcents per million tokens, which holds eight decimals of a price per million exactly.
 */

/** Microcents in one cent. */
export const MICROCENTS_PER_CENT = 1_000_000;

/** The largest cap or budget, in cents: keeps every amount in microcents under 2^53, where Lua's numbers are exact. */
export const MAX_CENTS = 9_000_000_000;

const TOKENS_PER_PRICE_UNIT = 1_000_000n;
/** "2.50" per million tokens: 2.50 × 100 cents × 10^6 microcents. */
const PRICE_DECIMALS = 8;
const PRICE_PATTERN = /^(\d{1,7})(?:\.(\d{1,8}))?$/;

/** What one model costs in one currency: microcents per million tokens. */
export interface Price {
  readonly input: bigint;
  readonly cachedInput: bigint;
  readonly output: bigint;
}

/** Token counts of one request as they are billed: the three add up to all tokens, none is counted twice. */
export interface BillableTokens {
  /** Prompt tokens that were not served from the upstream's cache. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  /** Reasoning tokens included. */
  readonly outputTokens: number;
}

/**
 * A price per million tokens, written as a decimal string ("2.50"), in microcents per million tokens.
 * Returns null for anything that is not a decimal of at most seven digits before and eight behind the point.
 */
export function parsePrice(text: string): bigint | null {
  const match = PRICE_PATTERN.exec(text);
  if (match === null) return null;
  const [, whole = "", fraction = ""] = match;
  return BigInt(whole + fraction.padEnd(PRICE_DECIMALS, "0"));
}

/** The cost of a request in microcents, rounded up once, on the sum. */
export function costMicrocents(tokens: BillableTokens, price: Price): bigint {
  const sum =
    BigInt(tokens.inputTokens) * price.input +
    BigInt(tokens.cachedInputTokens) * price.cachedInput +
    BigInt(tokens.outputTokens) * price.output;
  return (sum + TOKENS_PER_PRICE_UNIT - 1n) / TOKENS_PER_PRICE_UNIT;
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
