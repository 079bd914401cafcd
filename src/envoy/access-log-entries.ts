/** What Envoy's access log tells over gRPC, in the gateway's words. */
import type { ReportedEnd } from "../exchange/reported-ends.ts";
import type { AccessLogMessage } from "./messages/codec.ts";
import { ADMISSION_HEADER, IMMEDIATE_RESPONSE_DETAILS } from "./names.ts";

/** Of the sidecar's own answers and of an upstream's: ext_proc has read those requests. */
const READ: ReadonlySet<string> = new Set([IMMEDIATE_RESPONSE_DETAILS, "via_upstream"]);

/** How one request ended. */
export interface EndEntry {
  readonly requestId: string;
  readonly end: ReportedEnd;
  /** Null: it had none, or ext_proc has answered or routed it. */
  readonly admissionHeader: string | null;
  readonly durationMs: number;
}

/** A request without an id is nobody's. */
export function readEntries({ http_logs: logs }: AccessLogMessage): EndEntry[] {
  return (logs?.log_entry ?? []).flatMap(({ common_properties: common, request, response }): EndEntry[] => {
    if (request?.request_id === undefined) return [];
    const { seconds = "0", nanos = 0 } = common?.duration ?? {};
    const details = response?.response_code_details ?? "";
    const header = request.request_headers?.[ADMISSION_HEADER] ?? null;
    return [
      {
        requestId: request.request_id,
        end: { status: response?.response_code?.value ?? 0, details },
        admissionHeader: READ.has(details) ? null : header,
        durationMs: Number(seconds) * 1_000 + nanos / 1e6,
      },
    ];
  });
}
