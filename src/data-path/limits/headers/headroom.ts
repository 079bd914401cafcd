/** Response headers with the rest of a request's caps, for agents that want to stop before they are rejected. */
import { formatWindowEnd } from "../../../shared/time/periods.ts";
import {
  formatCents,
  MICROCENTS_PER_CENT,
  remainingOfLimit,
  wholeCents,
} from "../../../shared/money/money.ts";
import type { AdmittedCap, KnownKeyResult } from "../../../shared/stored/admission.ts";
import { isHiddenFromClients } from "../errors/spend-cap.ts";

type Header = readonly [name: string, value: string];

const NOTHING: readonly Header[] = [];
/** Percentage of a cap at which its first alert is sent, see `store/lua/include/thresholds.lua`. */
const FIRST_ALERT_PERCENT = 90n;

/**
 * Formats the headers of the cap with the smallest remaining amount. Returns none while all caps are below their
 * first alert, unless the organization has enabled them for every response. If amounts are hidden, the headers have
 * only a percentage. Budgets are ignored, since they reject nothing. The spend is that of the admission.
 */
export function formatHeadroom(result: KnownKeyResult): readonly Header[] {
  const { organization, day, caps } = result;
  const [tightest] = caps.toSorted((one, other) => (readRemaining(one) < readRemaining(other) ? -1 : 1));
  if (tightest === undefined) return NOTHING;
  const isNear = caps.some((cap) => usedPercent(cap) >= FIRST_ALERT_PERCENT);
  if (!isNear && organization.budgetHeaders !== "always") return NOTHING;
  const { scope, period } = tightest;
  if (isHiddenFromClients({ scope, areAmountsHidden: organization.hideAmounts })) {
    return [["x-budget-used-percent", String(usedPercent(tightest))]];
  }
  const resetsAt = formatWindowEnd(period, day);
  const remaining = readRemaining(tightest);
  return [
    ["x-budget-remaining", formatCents(wholeCents(remaining < 0n ? 0n : remaining), organization.currency)],
    ["x-budget-scope", scope],
    ["x-budget-period", period],
    ...(resetsAt === null ? [] : [["x-budget-resets-at", resetsAt] as const]),
  ];
}

function readRemaining({ cents, spentMicrocents }: AdmittedCap): bigint {
  return remainingOfLimit(cents, spentMicrocents);
}

/** Returns whole percent, rounded down. */
function usedPercent({ cents, spentMicrocents }: AdmittedCap): bigint {
  return cents === 0 ? 100n : (spentMicrocents * 100n) / (BigInt(cents) * BigInt(MICROCENTS_PER_CENT));
}
