/** Errors for requests whose record was not opened, with the texts of admissions. */
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { DashboardAddress } from "../../../shared/contract/pages.ts";
import type { LimitScope } from "../../../shared/stored/decision.ts";
import { parseOwnerIds } from "../../../shared/stored/owner-ids.ts";
import type { OpenRecordResult } from "../../../shared/stored/settlement.ts";
import type { Admission } from "../admission.ts";
import { createConcurrencyError } from "./concurrency-limit.ts";
import { createSessionCapError } from "./session-cap.ts";
import {
  type Affordable,
  type RequestedHold,
  createCapError,
  isHiddenFromClients,
  type Shrunk,
} from "./spend-cap.ts";

const SCOPES = {
  key_cap_reached: "key",
  user_cap_reached: "user",
  group_cap_reached: "group",
  organization_cap_reached: "organization",
} as const satisfies Record<`${LimitScope}_cap_reached`, LimitScope>;

export type OpenRefusal = Exclude<OpenRecordResult, { outcome: "opened" | "exists" | "worst_case_required" }>;

/**
 * Returns 503 if the organization's currency was changed since the admission, which requires that the body
 * arrived more than a minute late (a retry gets the new one); 402 if a cap is reached; 429 if the key's limit
 * of concurrent requests is reached.
 * @param requested Requested amounts; null without strict caps.
 */
export function createOpenError(
  refusal: OpenRefusal,
  admission: Pick<Admission, "identity" | "caller">,
  requested: RequestedHold | null,
  dashboard: DashboardAddress,
): GatewayError {
  const { identity, caller } = admission;
  const { organizationId, keyId, organizationName, keyName, currency } = caller;
  if (refusal.outcome === "concurrency_limited") {
    return createConcurrencyError(caller, refusal.limit, dashboard);
  }
  if (refusal.outcome === "currency_changed") {
    const message = `The organization changed its currency from ${currency} to ${refusal.currency} during this request. Send the request again.`;
    return new GatewayError("gateway_unavailable", { message });
  }
  if (refusal.outcome === "session_cap_reached") {
    return createSessionCapError(refusal.figures, admission, requested);
  }
  const { heldMicrocents, ownerName, ...figures } = refusal.figures;
  const scope = SCOPES[refusal.outcome];
  const { userId, groupId } = parseOwnerIds(identity.owners ?? "");
  const names = { key: keyName, user: ownerName, group: ownerName, organization: organizationName };
  const ownerIds = { key: null, user: userId, group: groupId, organization: null };
  const cap = {
    ...figures,
    scope,
    organizationId,
    keyId,
    ownerId: ownerIds[scope],
    name: names[scope],
    currency,
    day: identity.day,
    ...(requested === null ? {} : describeRequested(requested, heldMicrocents)),
  };
  return createCapError(cap, dashboard);
}

function describeRequested({ worstCaseMicrocents, affordable }: RequestedHold, heldMicrocents: bigint) {
  return { held: { heldMicrocents, worstCaseMicrocents }, affordable };
}

/** Describes a request whose output limit was lowered to what the cap that rejected it allows. */
export function describeShrunk(refusal: OpenRefusal, affordable: Affordable): Shrunk | null {
  if (!("figures" in refusal)) return null;
  const requestedTokens = affordable.requestedTokens ?? 0;
  const maxTokens = affordable.affordableTokens;
  if (refusal.outcome === "session_cap_reached") {
    return { requestedTokens, maxTokens, scope: "session", period: "session", isHidden: false };
  }
  const { period, areAmountsHidden } = refusal.figures;
  const scope = SCOPES[refusal.outcome];
  const isHidden = isHiddenFromClients({ areAmountsHidden, scope });
  return { requestedTokens, maxTokens, scope, period, isHidden };
}
