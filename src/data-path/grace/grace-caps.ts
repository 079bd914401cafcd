/**
 * Hard caps while Redis is unreachable, of every window and scope: the last known spend plus this worker's
 * charges since.
 */
import { formatWindowEnd } from "../../shared/time/periods.ts";
import { isReached } from "../../shared/money/money.ts";
import { LIMIT_PERIODS } from "../../shared/settings/limits.ts";
import type { AdmittedCap, KnownKeyResult } from "../../shared/stored/admission.ts";
import { LIMIT_SCOPES } from "../../shared/stored/decision.ts";
import { windowName } from "../store/usage/windows.ts";
import type { GraceSpend } from "./grace-spend.ts";

/** Cap as reported by an admission. */
export interface KnownCap extends Pick<AdmittedCap, "scope" | "period" | "cents" | "raisedCents"> {
  readonly subjectId: string;
  /** Window of the admission, by `windowName`. */
  readonly window: string;
  /** Spend according to Redis, without this worker's own charges. */
  readonly baseMicrocents: bigint;
}

/** Later than every end of a window. */
const NEVER_MS = 8.64e15 / 100;

/**
 * Returns the caps that apply to a request of this key.
 * @param before State from before the outage, while Redis lacks charges that this worker has counted;
 * otherwise empty.
 */
export function rememberCaps(result: KnownKeyResult, before: readonly KnownCap[]): readonly KnownCap[] {
  return result.caps.map((admitted) => {
    const cap = createCap(result, admitted, admitted.spentMicrocents - admitted.ownMicrocents);
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
  /** Reached cap; of several the one that resets last, then the one with the narrowest scope. Null: none is reached. */
  readonly reached: AdmittedCap | null;
  /** True if a cap is reached without its temporary increase, which may have ended. */
  readonly isUnsure: boolean;
}

/** @param day Day of the request, "2026-11-21": a window that has ended before it is ignored. */
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

/** Returns the order in which `name-cap.lua` reports caps: later end first, then narrower scope, then longer period. */
function rank({ scope, period }: AdmittedCap, day: string): number {
  const end = formatWindowEnd(period, day);
  const endMs = end === null ? NEVER_MS : Date.parse(end);
  const owner = endMs * LIMIT_SCOPES.length - LIMIT_SCOPES.indexOf(scope);
  return owner * LIMIT_PERIODS.length + LIMIT_PERIODS.indexOf(period);
}
