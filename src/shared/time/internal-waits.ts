/**
 * Scaling of long internal waits for tests: waits before other workers close records of a dead process, and between looks at the spend.
 * Operators cannot set these waits. Tests that wait for one divide all of them by the same number, in every
 * process and in Lua, so that their order stays. Only waits of several seconds are scaled: shorter ones are
 * compared with timeouts of Envoy and Redis.
 */

/** Only for this repository's tests, so not documented. */
export const WAIT_DIVISOR_VARIABLE = "IGW_TEST_WAIT_DIVISOR";
/**
 * Up to 9, the shortest scaled wait is longer than a pause of the garbage collector; above it, no request may be in
 * flight.
 */
const DIVISORS = /^[1-9]\d?$/;

const divisor = readWaitDivisor(process.env);

/** Returns the duration of an internal wait: the given one, unless the process runs in a test. */
export function internalWait(ms: number): number {
  return Math.round(ms / divisor);
}

/** @throws Error unless the value is an integer from 1 to 99. */
export function readWaitDivisor(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[WAIT_DIVISOR_VARIABLE] ?? "1";
  if (DIVISORS.test(text)) return Number(text);
  throw new Error(`${WAIT_DIVISOR_VARIABLE}: expected a whole number from 1 to 99, found "${text}"`);
}
