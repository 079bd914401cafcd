/** Microcents per million tokens have eight decimals of a unit of the currency. */
const DECIMALS = 8;
const MIN_SHOWN_DECIMALS = 2;

/** A price per million tokens as it is written in `gateway.yaml`: "2.50", "0.075". The reverse of `parsePrice`. */
export function formatPrice(price: bigint): string {
  const digits = price.toString().padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, "").padEnd(MIN_SHOWN_DECIMALS, "0");
  return `${digits.slice(0, -DECIMALS)}.${fraction}`;
}
