import type { Limit } from "../../src/shared/settings/limits.ts";

/** A month's limits in whole cents; null and left out: none. */
export function monthLimits({
  cap = null,
  budget = null,
}: {
  readonly cap?: number | null;
  readonly budget?: number | null;
}): readonly Limit[] {
  const rows = [
    { period: "month", kind: "cap", cents: cap },
    { period: "month", kind: "budget", cents: budget },
  ] as const;
  return rows.flatMap(({ cents, ...name }) => (cents === null ? [] : [{ ...name, cents }]));
}
