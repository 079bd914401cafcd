/** How much a request's caps have left, in headers of its answer: for agents that land before they are refused. */
import { formatWindowEnd } from "../../shared/time/calendar.ts";
import { formatCents, MICROCENTS_PER_CENT, roomUnder, wholeCents } from "../../shared/money/money.ts";
import type { AdmittedCap, KnownKeyResult } from "../store/types/admission.ts";
import { isHiddenFromClients } from "./spend-cap.ts";

type Header = readonly [name: string, value: string];

const NOTHING: readonly Header[] = [];
/** The share of a cap at which its first alert is sent, see `store/lua/include/thresholds.lua`. */
const FIRST_ALERT_PERCENT = 90n;

/**
 * Headers of the cap that has least left, where any of the request's is past its first alert, or always where the
 * organization wants that. Of one whose amounts clients are not told, a percentage alone. A budget refuses nothing, so it
 * is no headroom. By what was spent at the admission.
 */
export function formatHeadroom(result: KnownKeyResult): readonly Header[] {
  const { organization, day, caps } = result;
  const [tightest] = caps.toSorted((one, other) => (leftOf(one) < leftOf(other) ? -1 : 1));
  if (tightest === undefined) return NOTHING;
  const isNear = caps.some((cap) => usedPercent(cap) >= FIRST_ALERT_PERCENT);
  if (!isNear && organization.budgetHeaders !== "always") return NOTHING;
  const { scope, period } = tightest;
  if (isHiddenFromClients({ scope, areAmountsHidden: organization.hideAmounts })) {
    return [["x-budget-used-percent", String(usedPercent(tightest))]];
  }
  const resetsAt = formatWindowEnd(period, day);
  const left = leftOf(tightest);
  return [
    ["x-budget-remaining", formatCents(wholeCents(left < 0n ? 0n : left), organization.currency)],
    ["x-budget-scope", scope],
    ["x-budget-period", period],
    ...(resetsAt === null ? [] : [["x-budget-resets-at", resetsAt] as const]),
  ];
}

function leftOf({ cents, spentMicrocents }: AdmittedCap): bigint {
  return roomUnder(cents, spentMicrocents);
}

/** Whole percent, rounded down. */
function usedPercent({ cents, spentMicrocents }: AdmittedCap): bigint {
  return cents === 0 ? 100n : (spentMicrocents * 100n) / (BigInt(cents) * BigInt(MICROCENTS_PER_CENT));
}
