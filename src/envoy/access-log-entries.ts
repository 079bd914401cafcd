/** Reads Envoy's access log entries (gRPC) into plain values. */
import type { ReportedEnd } from "../data-path/exchange/ends/reported-ends.ts";
import type { AccessLogMessage } from "./messages/codec.ts";

/** How one request ended. */
export interface EndEntry {
  readonly requestId: string;
  readonly end: ReportedEnd;
}

/** Skips entries without a request id. */
export function readEntries({ http_logs: logs }: AccessLogMessage): EndEntry[] {
  return (logs?.log_entry ?? []).flatMap(({ request, response }): EndEntry[] => {
    if (request?.request_id === undefined) return [];
    const status = response?.response_code?.value ?? 0;
    return [
      { requestId: request.request_id, end: { status, details: response?.response_code_details ?? "" } },
    ];
  });
}
