/**
 * Records what a guardrail between ext_authz and ext_proc has blocked: Envoy's report is the only trace of it. A
 * blocked request never reached ext_proc; its entry among the open requests is removed and it costs nothing. A blocked
 * response is charged in full, and its entry in the list of recent requests gets the error.
 */
import {
  parseAdmissionHeader,
  parseAwaitedHeader,
} from "../data-path/exchange/admission/admission-header.ts";
import { METERED_ENDPOINTS } from "../data-path/exchange/admission/endpoints.ts";
import type { Admission } from "../data-path/limits/admission.ts";
import { GatewayError } from "../shared/contract/errors.ts";
import type { Block } from "./access-log-entries.ts";
import type { StreamServices } from "./stream-services.ts";

export interface BlockServices extends Pick<StreamServices, "createExchange" | "deferred" | "protocols"> {
  readonly recordBlockedResponse: (
    request: { readonly organizationId: string; readonly requestId: string },
    status: number,
    error: GatewayError,
  ) => void;
  readonly logger: Pick<StreamServices["logger"], "error">;
}

/**
 * Never rejects.
 * @param isEndingHere A stream of ext_proc on this worker ends with the block and records it.
 */
export async function recordBlock(
  block: Block,
  isEndingHere: boolean,
  services: BlockServices,
): Promise<void> {
  const { requestId, reason, organizationId, status, admission: header } = block;
  const message = `A guardrail blocked the request: ${reason}.`;
  const error = new GatewayError("guardrail_blocked", { message, fields: { reason } });
  if (organizationId !== null) {
    services.recordBlockedResponse({ organizationId, requestId }, status, error);
    return;
  }
  if (header === null || isEndingHere) return;
  try {
    const admission = await findAdmission(header, services);
    if (admission === null || !METERED_ENDPOINTS.has(admission.endpoint)) return;
    const protocol = services.protocols[admission.protocol];
    const exchange = services.createExchange({ admission, protocol });
    exchange.onRefused(error);
    await exchange.onEndAnswered();
  } catch (thrown) {
    services.logger.error({ request_id: requestId, err: thrown }, "blocked request not recorded");
  }
}

/** Returns null if the admission was rejected, or is of another process. */
async function findAdmission(
  header: string,
  { deferred }: Pick<BlockServices, "deferred">,
): Promise<Admission | null> {
  const awaited = parseAwaitedHeader(header);
  if (awaited === null) return parseAdmissionHeader(header);
  const decision = await deferred.take(awaited.requestId)?.decisionPromise;
  return decision?.kind === "admitted" ? decision.admission : null;
}
