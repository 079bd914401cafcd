/** Reads Envoy's access log entries (gRPC) into plain values. */
import type { ReportedEnd } from "../data-path/exchange/ends/reported-ends.ts";
import { GUARDRAIL_DETAILS } from "../shared/contract/guardrail.ts";
import { scrubBeginning } from "../shared/text/scrub.ts";
import type { StreamAccessLogsMessage } from "./messages/codec.ts";
import { REPORT_TAGS } from "./names.ts";

/** How one request ended. */
export interface EndEntry {
  readonly requestId: string;
  readonly end: ReportedEnd;
  /** Null: no guardrail has blocked it. */
  readonly block: Block | null;
}

/** A request, or its response, that a guardrail has blocked. */
export interface Block {
  readonly requestId: string;
  readonly reason: string;
  /** Status that the client got. */
  readonly status: number;
  /** Null: the request never reached ext_proc. */
  readonly organizationId: string | null;
  /** Admission header; null: the request went upstream. */
  readonly admission: string | null;
}

const MAX_REASON_CHARACTERS = 100;

/** Skips entries without a request id. */
export function readEntries({ http_logs: logs }: StreamAccessLogsMessage): EndEntry[] {
  return (logs?.log_entry ?? []).flatMap(({ request, response, common_properties: common }): EndEntry[] => {
    if (request?.request_id === undefined) return [];
    const { request_id: requestId } = request;
    const status = response?.response_code?.value ?? 0;
    const tags: Readonly<Record<string, string | undefined>> = common?.custom_tags ?? {};
    const blockReason = tags[REPORT_TAGS.guardrail];
    if (blockReason === undefined) {
      return [{ requestId, end: { status, details: response?.response_code_details ?? "" }, block: null }];
    }
    const reason = scrubBeginning(blockReason, MAX_REASON_CHARACTERS);
    const organizationId = tags[REPORT_TAGS.organization] ?? null;
    const admission = tags[REPORT_TAGS.admission] ?? null;
    const block = { requestId, reason, status, organizationId, admission };
    return [{ requestId, end: { status, details: GUARDRAIL_DETAILS + reason }, block }];
  });
}
