/**
 * Hard caps while Redis is unreachable, of every window and owner: what was last known to be spent of each, and what this
 * worker has counted itself since.
 */
import { formatWindowEnd } from "../../shared/time/calendar.ts";
import { isReached } from "../../shared/money/money.ts";
import { LIMIT_PERIODS } from "../../shared/settings/limits.ts";
import type { AdmittedCap, KnownKeyResult } from "../store/types/admission.ts";
import { LIMIT_SCOPES } from "../store/types/decision.ts";
import { windowName } from "../store/usage/windows.ts";
import type { GraceSpend } from "./grace-spend.ts";

/** A cap as an admission told of it. */
export interface KnownCap extends Pick<AdmittedCap, "scope" | "period" | "cents" | "raisedCents"> {
  readonly subjectId: string;
  /** The window of the admission, by `windowName`. */
  readonly window: string;
  /** Spent in it by Redis's account without what this worker has charged. */
  readonly baseMicrocents: bigint;
}

/** Later than every end. */
const NEVER_MS = 8.64e15 / 100;

/**
 * The caps that a request of this key meets.
 * @param before What was known before the outage, as long as Redis has not all that this worker has counted; else none.
 */
export function rememberCaps(result: KnownKeyResult, before: readonly KnownCap[]): readonly KnownCap[] {
  return result.caps.map((met) => {
    const cap = createCap(result, met, met.spentMicrocents - met.ownMicrocents);
    const same = before.find((one) => one.window === cap.window && one.subjectId === cap.subjectId);
    return same === undefined ? cap : { ...cap, baseMicrocents: same.baseMicrocents };
  });
}

function createCap(
  result: KnownKeyResult,
  { scope, period, cents, raisedCents }: Pick<KnownCap, "scope" | "period" | "cents" | "raisedCents">,
  baseMicrocents: bigint,
): KnownCap {
  const subjectId = result[scope]?.id ?? "";
  return {
    scope,
    period,
    cents,
    raisedCents,
    subjectId,
    window: windowName(period, result.day),
    baseMicrocents,
  };
}

export interface CapsNow {
  /** The cap that is reached; of several the one that resets last, and of those the narrowest owner's. Null: none is. */
  readonly reached: AdmittedCap | null;
  /** One is reached without its raise, of which nobody knows whether it has ended. */
  readonly isUnsure: boolean;
}

/** @param day Of the request, "2026-11-21": a window that has ended since has nothing of it. */
export function compareCaps(
  caps: readonly KnownCap[],
  day: string,
  spend: Pick<GraceSpend, "inWindow">,
): CapsNow {
  const now = caps.map((cap): AdmittedCap => {
    const { scope, period, cents, raisedCents, subjectId, baseMicrocents } = cap;
    const window = windowName(period, day);
    const base = window === cap.window ? baseMicrocents : 0n;
    return { scope, period, cents, raisedCents, spentMicrocents: base + spend.inWindow(window, subjectId) };
  });
  const reached = now.filter(({ cents, spentMicrocents }) => isReached(cents, spentMicrocents));
  return {
    reached: reached.toSorted((one, other) => rank(other, day) - rank(one, day))[0] ?? null,
    isUnsure: now.some(
      ({ cents, raisedCents, spentMicrocents }) =>
        raisedCents > 0 && isReached(cents - raisedCents, spentMicrocents),
    ),
  };
}

/** The order in which `name-cap.lua` names caps: a later end goes first, then the narrower owner, then the longer period. */
function rank({ scope, period }: AdmittedCap, day: string): number {
  const end = formatWindowEnd(period, day);
  const endMs = end === null ? NEVER_MS : Date.parse(end);
  const owner = endMs * LIMIT_SCOPES.length - LIMIT_SCOPES.indexOf(scope);
  return owner * LIMIT_PERIODS.length + LIMIT_PERIODS.indexOf(period);
}
