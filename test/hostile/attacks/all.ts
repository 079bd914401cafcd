/** Every attack by its name, in the order in which they are run. */
import type { Attack } from "./attack.ts";
import { BODY_ATTACKS } from "./bodies.ts";
import { CONNECTION_ATTACKS } from "./connections.ts";
import { MANAGEMENT_ATTACKS } from "./management.ts";
import { REQUEST_ATTACKS } from "./requests.ts";

export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...CONNECTION_ATTACKS,
  ...REQUEST_ATTACKS,
  ...BODY_ATTACKS,
  ...MANAGEMENT_ATTACKS,
};

/** What `ALL_AT_ONCE` is. */
export const TOGETHER: readonly Attack[] = Object.values(ATTACKS);

export const ALL_AT_ONCE = "all at once";
