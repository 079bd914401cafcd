/** The refusals of a hold, in the words of the admission's. */
import { GatewayError } from "../errors.ts";
import type { DashboardAddress } from "../pages.ts";
import type { HoldResult } from "../store/types/settlement.ts";
import type { Admission } from "./admission.ts";
import { createConcurrencyError } from "./concurrency-limit.ts";
import { createCapError } from "./spend-cap.ts";

type HoldRefusal = Exclude<HoldResult, { outcome: "held" | "exists" | "worst_case_required" }>;

/**
 * 503 when the organization's currency was changed since the admission, for which the body must have come more than a
 * minute late: the next try has it; 402 when a cap is reached,
 * 429 when the key has as many requests in flight as it may.
 * @param worstCaseMicrocents What was asked for; null without strict caps.
 */
export function createHoldError(
  refusal: HoldRefusal,
  admission: Admission,
  worstCaseMicrocents: bigint | null,
  dashboard: DashboardAddress,
): GatewayError {
  const { organizationId, keyId, keyName, organizationName, currency, month } = admission;
  if (refusal.outcome === "concurrency_limited") {
    return createConcurrencyError(keyName, refusal.limit);
  }
  if (refusal.outcome === "currency_changed") {
    const message = `The organization is billed in ${refusal.currency} from now on, and no longer in ${currency}. Send the request again.`;
    return new GatewayError("gateway_unavailable", { message });
  }
  const { spentMicrocents, heldMicrocents, hardCapCents } = refusal.figures;
  const isKey = refusal.outcome === "key_cap_reached";
  const cap = {
    scope: isKey ? "key" : "organization",
    organizationId,
    keyId,
    name: isKey ? keyName : organizationName,
    hardCapCents: hardCapCents ?? 0,
    spentMicrocents,
    currency,
    month,
    ...(worstCaseMicrocents === null ? {} : { held: { heldMicrocents, worstCaseMicrocents } }),
  } as const;
  return createCapError(cap, dashboard);
}
