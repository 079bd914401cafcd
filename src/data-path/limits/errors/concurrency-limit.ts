/**
 * Limit of a key's concurrent requests. A slot is one model request in flight: its record takes the slot, its
 * final charge releases it. Endpoints that call no model need no slot, nor does a request whose body is still
 * arriving.
 */
import { GatewayError } from "../../../shared/contract/errors.ts";
import { type DashboardAddress, formatChangeLink, ownerOfKey } from "../../../shared/contract/pages.ts";
import type { Admission } from "../admission.ts";
import { REFUSAL_FIELDS } from "./refusal-fields.ts";

export function createConcurrencyError(
  key: Pick<Admission["caller"], "organizationId" | "keyId" | "keyName">,
  limit: number | null,
  dashboard: DashboardAddress,
): GatewayError {
  const change = formatChangeLink(
    dashboard,
    ownerOfKey(key),
    REFUSAL_FIELDS.concurrency_limit_exceeded.field,
  );
  const requests = limit === 1 ? "request" : "requests";
  return new GatewayError("concurrency_limit_exceeded", {
    message: `API key "${key.keyName}" has reached its limit of ${limit} concurrent ${requests}. Try again when one has ended.${change}`,
  });
}

/**
 * Returns whether one more request fits into a worker's share of a key's limit (null: no limit), while Redis,
 * which counts for all workers, is unreachable. Each worker has at least one slot.
 */
export function fitsShare(limit: number | null, workerCount: number, inFlight: number): boolean {
  if (limit === null) return true;
  return inFlight < Math.max(1, Math.floor(limit / workerCount));
}
