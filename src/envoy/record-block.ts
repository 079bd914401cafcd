/**
 * Records what a guardrail between ext_authz and ext_proc has blocked: Envoy's report is the only trace of it. A
 * blocked request never reached ext_proc; its entry among the open requests is removed and it costs nothing. A blocked
 * response is charged in full, and its entry in the list of recent requests gets the error.
 * Envoy reports to any worker; if only another one knows the request's admission, the report goes to all of the host.
 */
import { parseAdmissionHeader, readAwaitedId } from "../data-path/exchange/admission/admission-header.ts";
import { METERED_ENDPOINTS } from "../data-path/exchange/admission/endpoints.ts";
import type { Admission } from "../data-path/limits/admission.ts";
import { GatewayError } from "../shared/contract/errors.ts";
import type { Channel } from "../shared/host/channel.ts";
import type { Block } from "./access-log-entries.ts";
import type { StreamServices } from "./stream-services.ts";

export interface BlockServices extends Pick<StreamServices, "createExchange" | "deferred" | "protocols"> {
  readonly recordBlockedResponse: (
    request: { readonly organizationId: string; readonly requestId: string },
    status: number,
    error: GatewayError,
  ) => void;
  /** Called for a block of a request whose decision this worker does not have. */
  readonly onUnknown: (block: Block) => void;
  readonly logger: Pick<StreamServices["logger"], "error">;
}

const KIND = "request_blocked";

/** Returns the handler of Envoy's reports on this worker. */
export function createBlockRecorder(
  channel: Channel,
  services: Omit<BlockServices, "onUnknown">,
): (block: Block, isEndingOnWorker: boolean) => void {
  channel.onMessage((message) => {
    if (!isShared(message)) return;
    void recordBlock(message.block, false, { ...services, onUnknown: () => undefined });
  });
  const onUnknown = (block: Block): void => channel.send({ kind: KIND, block });
  return (block, isEndingOnWorker) => void recordBlock(block, isEndingOnWorker, { ...services, onUnknown });
}

/** The supervisor's side: sends blocks whose request a worker does not know to all workers. */
export function shareBlocks(channel: Channel): void {
  channel.onMessage((message) => {
    if (isShared(message)) channel.send(message);
  });
}

function isShared(message: unknown): message is { readonly block: Block } {
  return typeof message === "object" && message !== null && "kind" in message && message.kind === KIND;
}

/**
 * Never rejects.
 * @param isEndingOnWorker A stream of ext_proc on this worker ends with the block and records it.
 */
export async function recordBlock(
  block: Block,
  isEndingOnWorker: boolean,
  services: BlockServices,
): Promise<void> {
  const { requestId, reason, organizationId, status, admission: header } = block;
  const message = `A guardrail blocked the request: ${reason}.`;
  const error = new GatewayError("guardrail_blocked", { message, fields: { reason } });
  if (organizationId !== null) {
    services.recordBlockedResponse({ organizationId, requestId }, status, error);
    return;
  }
  if (header === null || isEndingOnWorker) return;
  try {
    const admission = await findAdmission(block, header, services);
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
  block: Block,
  header: string,
  { deferred, onUnknown }: Pick<BlockServices, "deferred" | "onUnknown">,
): Promise<Admission | null> {
  const requestId = readAwaitedId(header);
  if (requestId === null) return parseAdmissionHeader(header);
  const awaited = deferred.take(requestId);
  if (awaited === null) onUnknown(block);
  const decision = await awaited?.decisionPromise;
  return decision?.kind === "admitted" ? decision.admission : null;
}
