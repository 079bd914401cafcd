/**
 * Handler of ext_authz. Envoy calls it once per request, with the headers only.
 * `src/data-path/exchange/admission/admit-request.ts` decides; this file converts Envoy's messages. Every
 * internal error becomes a rejection: an error here must never let a request pass.
 */
import { isGrpcType } from "../shared/contract/grpc-type.ts";
import type { AdmitRequest } from "../data-path/exchange/admission/admit-request.ts";
import type { Reply } from "../data-path/exchange/reply.ts";
import type { CheckCall } from "./transport/contract.ts";
import { readTokenVerdict } from "./messages/token-verdict.ts";
import { formatRateMetadata, formatRefusalMetadata } from "./messages/metadata.ts";
import { createDeniedCheck, createOkCheck } from "./messages/format-replies.ts";
import type { Message } from "./messages/messages.ts";
import { WORKER_HEADER } from "./names.ts";

/** How Envoy reaches this worker. */
export interface WorkerPlace {
  /** Path of the Unix socket; null on TCP, where Envoy's name of a worker is unknown. */
  readonly socket: string | null;
  /** Whether Envoy has no other worker. */
  readonly isOnlyWorker: boolean;
}

/** The handler of `envoy.service.auth.v3.Authorization/Check`. Never rejects. */
export function createCheckHandler(
  admitRequest: AdmitRequest,
  { socket, isOnlyWorker }: WorkerPlace,
): (request: Message<"CheckRequest">, call: CheckCall) => Promise<Message<"CheckResponse">> {
  return async (request, call) => {
    const http = request.attributes?.request?.http;
    const headers = http?.headers ?? {};
    const incoming = {
      method: http?.method ?? "",
      path: http?.path ?? "",
      headers,
      extensions: request.attributes?.context_extensions ?? {},
      token: readTokenVerdict(request.attributes?.metadata_context),
      staysOnWorker: isOnlyWorker || (socket !== null && headers[WORKER_HEADER] !== undefined),
    };
    const verdict = await admitRequest(incoming, call);
    if (verdict.kind === "admitted") {
      const worker = verdict.isDeferred ? socket : null;
      return createOkCheck({ ...verdict, worker }, formatRateMetadata(verdict.rateHeaders));
    }
    // ext_authz can respond to a request only by denying it, even with status 200.
    const reply = isGrpcType(incoming.headers["content-type"])
      ? withStatusHeader(verdict.reply)
      : verdict.reply;
    return createDeniedCheck(reply, formatRefusalMetadata(verdict.log));
  };
}

/** Envoy makes the status 200 and keeps this header, from which the route's filter restores the status. */
function withStatusHeader(reply: Reply): Reply {
  return { ...reply, headers: [...reply.headers, ["grpc-status", String(reply.status)]] };
}
