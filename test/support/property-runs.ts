/** Environment variable: `all` tries every property as often as its test asks. */
export const PROPERTY_RUNS = "PROPERTY_RUNS";

/** In CI, and in a whole `npm test`. */
const IS_WHOLE = process.env["CI"] !== undefined || process.env[PROPERTY_RUNS] === "all";

/**
 * How often a property of the unit project is tried: `full` times in CI and in a whole `npm test`, a tenth of that
 * otherwise. Seeds differ from run to run, so the inner loop still covers new cases each time.
 */
export function runs(full: number): number {
  return IS_WHOLE ? full : Math.ceil(full / 10);
}
