/**
 * The limit of a key's concurrent requests. A place is for a model request in flight: taken with its hold, given back
 * with its final charge. Endpoints that call no model take none, nor does a body that is still on its way.
 */
import { GatewayError } from "../../shared/contract/errors.ts";
import { type DashboardAddress, formatChangeLink, ownerOfKey } from "../../shared/contract/pages.ts";
import type { Admission } from "./admission.ts";
import { REFUSAL_FIELDS } from "./refusal-fields.ts";

export function createConcurrencyError(
  key: Pick<Admission, "organizationId" | "keyId" | "keyName">,
  limit: number | null,
  dashboard: DashboardAddress,
): GatewayError {
  const change = formatChangeLink(dashboard, ownerOfKey(key), REFUSAL_FIELDS.concurrency_limit_exceeded);
  const requests = limit === 1 ? "request" : "requests";
  return new GatewayError("concurrency_limit_exceeded", {
    message: `API key "${key.keyName}" has reached its limit of ${limit} concurrent ${requests}. Try again when one has ended.${change}`,
  });
}

/**
 * Whether one more request of a key fits into a worker's share of its limit (null: none), at least one, while Redis,
 * which counts for all workers, is out of reach.
 */
export function fitsShare(limit: number | null, shares: number, inFlight: number): boolean {
  if (limit === null) return true;
  return inFlight < Math.max(1, Math.floor(limit / shares));
}
