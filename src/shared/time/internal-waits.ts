/**
 * The scale of long internal waits: how long others wait before they close what a dead process left. Operators cannot set
 * these waits, and tests that sit through one divide them all by the same number, in every process and in Lua, so that
 * their order stays. Only waits of several seconds are scaled: shorter ones are compared with timeouts of Envoy and Redis.
 */

/** For this repository's tests only; the gateway's documentation does not have it. */
export const WAIT_DIVISOR_VARIABLE = "IGW_TEST_WAIT_DIVISOR";
/** At the largest one, the shortest scaled wait is still longer than a pause of the garbage collector. */
const DIVISORS = /^[1-9]$/;

const divisor = readWaitDivisor(process.env);

/** An internal wait as this process keeps it: as it is given, unless the process is under test. */
export function internalWait(ms: number): number {
  return Math.round(ms / divisor);
}

/** @throws Error for anything but a whole number from 1 to 9. */
export function readWaitDivisor(env: Readonly<Record<string, string | undefined>>): number {
  const text = env[WAIT_DIVISOR_VARIABLE] ?? "1";
  if (DIVISORS.test(text)) return Number(text);
  throw new Error(`${WAIT_DIVISOR_VARIABLE}: expected a whole number from 1 to 9, found "${text}"`);
}
