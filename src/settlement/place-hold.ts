import type { GatewayError } from "../errors.ts";
import type { Admission } from "../limits/admission.ts";
import { createConcurrencyError } from "../limits/concurrency-limit.ts";
import { createCapError } from "../limits/spend-cap.ts";
import type { Store } from "../store/types.ts";
import type { HoldInput, HoldResult } from "../store/types/settlement.ts";

export interface PlaceHoldInput {
  readonly hold: Omit<HoldInput, "worstCaseMicrocents">;
  readonly admission: Admission;
  /** Computed for strict caps only. */
  readonly worstCase: () => bigint;
}

/**
 * Places a hold. Returns the worst case that it holds, null without strict caps.
 * @throws GatewayError 402 when a cap is reached, 429 when the key has as many requests in flight as it may; whatever the store rejects with when Redis fails: whether the hold is
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
  if (result.outcome === "concurrency_limited") {
    const { keyName } = admission;
    throw createConcurrencyError({ keyName, maxConcurrentRequests: result.maxConcurrentRequests });
  }
  if (result.outcome === "key_cap_reached" || result.outcome === "organization_cap_reached") {
    throw createRefusal(result, admission, worstCaseMicrocents);
  }
  return worstCaseMicrocents;
}

type Refusal = Extract<HoldResult, { outcome: "key_cap_reached" | "organization_cap_reached" }>;

function createRefusal(
  { outcome, figures }: Refusal,
  admission: Admission,
  worstCaseMicrocents: bigint | null,
): GatewayError {
  const { spentMicrocents, heldMicrocents, hardCapCents } = figures;
  const isKey = outcome === "key_cap_reached";
  return createCapError({
    scope: isKey ? "key" : "organization",
    name: isKey ? admission.keyName : admission.organizationName,
    hardCapCents: hardCapCents ?? 0,
    spentMicrocents,
    currency: admission.currency,
    month: admission.month,
    ...(worstCaseMicrocents === null ? {} : { held: { heldMicrocents, worstCaseMicrocents } }),
  });
}
