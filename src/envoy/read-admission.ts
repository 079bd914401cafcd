/**
 * Finds the admission of a request in ext_proc: in the admission header of ext_authz, or, if the admission was
 * deferred, by its decision. A request without an admission is rejected.
 */
import { GatewayError } from "../shared/contract/errors.ts";
import {
  parseAdmissionHeader,
  parseAwaitedHeader,
  readAwaitedId,
} from "../data-path/exchange/admission/admission-header.ts";
import type { AdmitAgain } from "../data-path/exchange/admission/admit-request.ts";
import type { DeferredAdmissions } from "../data-path/exchange/admission/deferred-admissions.ts";
import type { Decision } from "../data-path/exchange/admission/decision.ts";
import { createErrorReply, type Header, type ReplyContext } from "../data-path/exchange/reply.ts";
import type { Admission } from "../data-path/limits/admission.ts";
import { formatRateHeaders } from "../data-path/limits/headers/rate-headers.ts";
import type { Logger } from "../shared/host/logger.ts";
import type { Protocol, ProtocolName } from "../data-path/translation/client-protocol.ts";
import { createImmediateReply } from "./messages/format-replies.ts";
import { findHeader, recordOf } from "./messages/headers.ts";
import { formatLateRefusalMetadata } from "./messages/metadata.ts";
import { ADMISSION_HEADER } from "./names.ts";
import type { Message } from "./messages/messages.ts";

export interface AdmissionReader {
  /** Requests that passed ext_authz before they were decided. */
  readonly deferred: Pick<DeferredAdmissions, "take">;
  readonly admitAgain: AdmitAgain;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  /** Called for a request without an admission, which should raise an alert. */
  readonly onUnadmitted?: () => void;
  readonly logger: Logger<"warn" | "error">;
}

export type ReadAdmission =
  | {
      readonly kind: "admitted";
      readonly admission: Admission;
      /** Response headers that ext_authz did not know yet. */
      readonly lateHeaders: readonly Header[];
    }
  | { readonly kind: "refused"; readonly reply: Message<"ProcessingResponse"> };

/**
 * Returns a promise only if the decision is pending; it never rejects.
 * @throws SyntaxError if the header is malformed, which only a broken filter chain can cause.
 */
export function readAdmission(
  headers: Message<"HeaderMap"> | undefined,
  reader: AdmissionReader,
): ReadAdmission | Promise<ReadAdmission> {
  const header = findHeader(headers, ADMISSION_HEADER);
  if (header === undefined) return refuseUnadmitted(headers, reader);
  const requestId = readAwaitedId(header);
  if (requestId === null) {
    return { kind: "admitted", admission: parseAdmissionHeader(header), lateHeaders: [] };
  }
  const deferred = reader.deferred.take(requestId);
  if (deferred === null) return admitAgain(headers, header, reader);
  const { decision, decisionPromise } = deferred;
  return decision === null ? decisionPromise.then(readDecision) : readDecision(decision);
}

function admitAgain(
  map: Message<"HeaderMap"> | undefined,
  header: string,
  { logger, admitAgain: again }: AdmissionReader,
): Promise<ReadAdmission> {
  const lost = parseAwaitedHeader(header);
  const headers = recordOf(map);
  const { ":method": method = "", ":path": path = "" } = headers;
  logger.warn({ request_id: lost.requestId }, "request admitted again: its first worker is gone");
  return again(lost, { method, path, headers }).then(readDecision);
}

function readDecision(decision: Decision): ReadAdmission {
  if (decision.kind === "refused") {
    const metadata = formatLateRefusalMetadata(decision.log);
    return { kind: "refused", reply: createImmediateReply(decision.reply, metadata) };
  }
  const { admission } = decision;
  return { ...decision, lateHeaders: formatRateHeaders(admission.rate, admission.protocol) };
}

function refuseUnadmitted(headers: Message<"HeaderMap"> | undefined, reader: AdmissionReader): ReadAdmission {
  reader.onUnadmitted?.();
  reader.logger.error(
    { path: findHeader(headers, ":path")?.split("?")[0] },
    "request without admission rejected: ext_authz did not run before ext_proc; check the filter chain",
  );
  const requestId = findHeader(headers, "x-request-id") ?? "";
  const context = { identity: { requestId }, protocol: "chat", rate: null } as const;
  return refuse(new GatewayError("internal_error"), context, reader);
}

function refuse(error: GatewayError, context: ReplyContext, { protocols }: AdmissionReader): ReadAdmission {
  const reply = createErrorReply(error, protocols[context.protocol], context);
  return { kind: "refused", reply: createImmediateReply(reply) };
}
