import type { Admission } from "../limits/admission.ts";
import { createHoldError } from "../limits/hold-error.ts";
import type { Affordable } from "../limits/spend-cap.ts";
import { MICROCENTS_PER_CENT } from "../money.ts";
import type { DashboardAddress } from "../pages.ts";
import type { Store } from "../store/types.ts";
import type { CapFigures, HoldInput, HoldResult } from "../store/types/settlement.ts";
import type { StrictWorstCase } from "./strict-worst-case.ts";

export interface PlaceHoldInput {
  readonly hold: Omit<HoldInput, "worstCaseMicrocents">;
  readonly admission: Admission;
  /** Asked for strict caps only. */
  readonly worstCase: Pick<StrictWorstCase, "microcents" | "afford">;
  /** Where the message of a 402 leads. */
  readonly dashboard: DashboardAddress;
}

export interface PlacedHold {
  /** What it holds; null without strict caps. */
  readonly worstCaseMicrocents: bigint | null;
  /** See RequestIdentity. */
  readonly tagRow: string | undefined;
}

/**
 * Places a hold.
 * @throws GatewayError as `createHoldError` says; whatever the store rejects with when Redis fails: whether the hold is
 * there is not known then.
 */
export async function placeHold(
  store: Pick<Store, "hold">,
  { hold, admission, worstCase, dashboard }: PlaceHoldInput,
): Promise<PlacedHold> {
  let worstCaseMicrocents = admission.strictCaps ? worstCase.microcents() : null;
  let result = await store.hold(boundFloor(hold, worstCaseMicrocents));
  if (result.outcome === "worst_case_required") {
    // Strict caps were switched on between the admission and the hold.
    worstCaseMicrocents = worstCase.microcents();
    result = await store.hold(boundFloor(hold, worstCaseMicrocents));
  }
  if (result.outcome === "held" || result.outcome === "exists") {
    return { worstCaseMicrocents, tagRow: result.tagRow };
  }
  // It was answered with a worst case: strict caps were switched off and on again meanwhile.
  if (result.outcome === "worst_case_required") return { worstCaseMicrocents, tagRow: undefined };
  const asked =
    worstCaseMicrocents === null ? null : { worstCaseMicrocents, affordable: afford(result, worstCase) };
  throw createHoldError(result, admission, asked, dashboard);
}

/** Null: it is no cap that refuses. */
function afford(refusal: HoldResult, worstCase: PlaceHoldInput["worstCase"]): Affordable | null {
  return "figures" in refusal ? worstCase.afford(roomUnder(refusal.figures)) : null;
}

/** Strict caps refuse by the one that leaves least room, so this much fits under all of them. */
function roomUnder({ hardCapCents, spentMicrocents, heldMicrocents }: CapFigures): bigint {
  const cap = BigInt(hardCapCents) * BigInt(MICROCENTS_PER_CENT);
  return cap - spentMicrocents - heldMicrocents;
}

/** What is charged when nobody ever reports a charge is an estimate, too: never above what is held. */
function boundFloor(hold: PlaceHoldInput["hold"], worstCaseMicrocents: bigint | null): HoldInput {
  const { floorMicrocents } = hold;
  const isAbove = worstCaseMicrocents !== null && floorMicrocents > worstCaseMicrocents;
  return { ...hold, floorMicrocents: isAbove ? worstCaseMicrocents : floorMicrocents, worstCaseMicrocents };
}
