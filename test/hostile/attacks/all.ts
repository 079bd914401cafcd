/** Every attack by its name, in the order in which they are run. */
import type { Attack } from "./attack.ts";
import { BODY_ATTACKS } from "./bodies.ts";
import { CONNECTION_ATTACKS } from "./connections.ts";
import { REQUEST_ATTACKS } from "./requests.ts";

export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...CONNECTION_ATTACKS,
  ...REQUEST_ATTACKS,
  ...BODY_ATTACKS,
};

/**
 * Not held yet on a machine that has no core to spare: what a worker does with each body of 32 MiB, and with all that it was
 * sent of answers that nobody reads, keeps others waiting until they are given up. The first runs where it is named; the
 * second by itself, where others wait, but not beside all the rest.
 */
export const NOT_HELD: ReadonlySet<string> = new Set(["large bodies to a slow model"]);
const NOT_BESIDE_OTHERS: ReadonlySet<string> = new Set([...NOT_HELD, "answers that nobody reads"]);

/** What `ALL_AT_ONCE` is. */
export const TOGETHER: readonly Attack[] = Object.entries(ATTACKS)
  .filter(([name]) => !NOT_BESIDE_OTHERS.has(name))
  .map(([, attack]) => attack);

export const ALL_AT_ONCE = "all at once";
