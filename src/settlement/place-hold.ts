import type { Admission } from "../limits/admission.ts";
import { createHoldError, describeShrunk, type HoldRefusal } from "../limits/hold-error.ts";
import type { Shrunk } from "../limits/spend-cap.ts";
import { MICROCENTS_PER_CENT } from "../money/money.ts";
import type { DashboardAddress } from "../contract/pages.ts";
import type { Store } from "../store/types.ts";
import type { HoldInput, HoldResult, SessionFigures } from "../store/types/settlement.ts";
import type { RequestAccount } from "./request-account.ts";
import type { StrictWorstCase } from "./strict-worst-case.ts";

export interface PlaceHoldInput {
  readonly hold: Omit<HoldInput, "worstCaseMicrocents">;
  readonly admission: Admission;
  /** Asked for strict caps only. */
  readonly worstCase: Pick<StrictWorstCase, "microcents" | "afford" | "shrinkTo">;
  /** Where the message of a 402 leads. */
  readonly dashboard: DashboardAddress;
}

/** What a hold says of its request. */
export function describeHold(
  { opened, promptFloorPrice }: Pick<RequestAccount, "opened" | "promptFloorPrice">,
  { takenTokens, sessionBudgetCents }: Admission,
): PlaceHoldInput["hold"] {
  const fields = { price: promptFloorPrice, takenTokens, ...opened };
  return sessionBudgetCents === null ? fields : { sessionBudgetCents, ...fields };
}

export interface PlacedHold {
  /** What it holds; null without strict caps. */
  readonly worstCaseMicrocents: bigint | null;
  /** See RequestIdentity. */
  readonly tagRow: string | undefined;
  /** What the limit of its answers was lowered to; null: it goes as it is. */
  readonly shrunk: Shrunk | null;
}

/** Others may take the room that was found until it is asked for. */
const MAX_SHRUNK_HOLDS = 3;

/**
 * Places a hold.
 * @throws GatewayError as `createHoldError` says; whatever the store rejects with when Redis fails: whether the hold is
 * there is not known then.
 */
export async function placeHold(store: Pick<Store, "hold">, input: PlaceHoldInput): Promise<PlacedHold> {
  const { hold, admission, worstCase, dashboard } = input;
  let worstCaseMicrocents = admission.isStrict ? worstCase.microcents() : null;
  let result = await store.hold(boundFloor(hold, worstCaseMicrocents));
  if (result.outcome === "worst_case_required") {
    // Strict caps were switched on between the admission and the hold.
    worstCaseMicrocents = worstCase.microcents();
    result = await store.hold(boundFloor(hold, worstCaseMicrocents));
  }
  if (isHeld(result)) return { worstCaseMicrocents, tagRow: result.tagRow, shrunk: null };
  // It was answered with a worst case: strict caps were switched off and on again meanwhile.
  if (result.outcome === "worst_case_required") {
    return { worstCaseMicrocents, tagRow: undefined, shrunk: null };
  }
  if (worstCaseMicrocents === null) throw createHoldError(result, admission, null, dashboard);
  return placeShrunk(store, input, { result, worstCaseMicrocents });
}

/** What is asked for does not fit: with as much of its answer as does, where that is wanted. @throws as `placeHold`. */
async function placeShrunk(
  store: Pick<Store, "hold">,
  { hold, admission, worstCase, dashboard }: PlaceHoldInput,
  refused: { readonly result: HoldRefusal; readonly worstCaseMicrocents: bigint },
): Promise<PlacedHold> {
  let { result } = refused;
  for (let tries = 0; ; tries += 1) {
    const affordable = "figures" in result ? worstCase.afford(roomUnder(result.figures)) : null;
    const mayShrink = affordable !== null && tries < MAX_SHRUNK_HOLDS;
    if (!mayShrink || !worstCase.shrinkTo(affordable)) {
      const asked = { worstCaseMicrocents: refused.worstCaseMicrocents, affordable };
      throw createHoldError(result, admission, asked, dashboard);
    }
    const worstCaseMicrocents = worstCase.microcents();
    // One after the other: each asks for what the one before has found.
    // oxlint-disable-next-line no-await-in-loop
    const next = await store.hold(boundFloor(hold, worstCaseMicrocents));
    if (isHeld(next)) {
      return { worstCaseMicrocents, tagRow: next.tagRow, shrunk: describeShrunk(result, affordable) };
    }
    if (next.outcome === "worst_case_required") {
      return { worstCaseMicrocents, tagRow: undefined, shrunk: describeShrunk(result, affordable) };
    }
    result = next;
  }
}

function isHeld(result: HoldResult): result is Extract<HoldResult, { outcome: "held" | "exists" }> {
  return result.outcome === "held" || result.outcome === "exists";
}

/** Strict caps refuse by the one that leaves least room, so this much fits under all of them. */
function roomUnder({ capCents, spentMicrocents, heldMicrocents }: SessionFigures): bigint {
  const cap = BigInt(capCents) * BigInt(MICROCENTS_PER_CENT);
  return cap - spentMicrocents - heldMicrocents;
}

/** What is charged when nobody ever reports a charge is an estimate, too: never above what is held. */
function boundFloor(hold: PlaceHoldInput["hold"], worstCaseMicrocents: bigint | null): HoldInput {
  const { floorMicrocents } = hold;
  const isAbove = worstCaseMicrocents !== null && floorMicrocents > worstCaseMicrocents;
  return { ...hold, floorMicrocents: isAbove ? worstCaseMicrocents : floorMicrocents, worstCaseMicrocents };
}
