import type { Admission } from "../limits/admission.ts";
import { createHoldError } from "../limits/hold-error.ts";
import type { Store } from "../store/types.ts";
import type { HoldInput } from "../store/types/settlement.ts";

export interface PlaceHoldInput {
  readonly hold: Omit<HoldInput, "worstCaseMicrocents">;
  readonly admission: Admission;
  /** Computed for strict caps only. */
  readonly worstCase: () => bigint;
}

/**
 * Places a hold. Returns the worst case that it holds, null without strict caps.
 * @throws GatewayError as `createHoldError` says; whatever the store rejects with when Redis fails: whether the hold is
 * there is not known then.
 */
export async function placeHold(
  store: Pick<Store, "hold">,
  { hold, admission, worstCase }: PlaceHoldInput,
): Promise<bigint | null> {
  let worstCaseMicrocents = admission.strictCaps ? worstCase() : null;
  let result = await store.hold({ ...hold, worstCaseMicrocents });
  if (result.outcome === "worst_case_required") {
    // Strict caps were switched on between the admission and the hold.
    worstCaseMicrocents = worstCase();
    result = await store.hold({ ...hold, worstCaseMicrocents });
  }
  const { outcome } = result;
  if (outcome === "held" || outcome === "exists" || outcome === "worst_case_required") {
    return worstCaseMicrocents;
  }
  throw createHoldError(result, admission, worstCaseMicrocents);
}
