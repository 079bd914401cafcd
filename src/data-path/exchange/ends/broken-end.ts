/**
 * Decides who ended an exchange that the gateway did not end, from Envoy's report: the client, the upstream, a
 * timeout, or unknown.
 */
import { type ErrorCode, GatewayError } from "../../../shared/contract/errors.ts";
import { GUARDRAIL_DETAILS } from "../../../shared/contract/guardrail.ts";
import type { ClientResult } from "../../request-log/line.ts";
import type { ReportedEnd } from "./reported-ends.ts";

/** Result of an exchange whose end the gateway did not decide. */
export interface BrokenEnd {
  readonly result: ClientResult;
  /** The error that the client got; null if the client left or if that is unknown. */
  readonly error: GatewayError | null;
  /** Envoy's details; null if it gave none. */
  readonly cause: string | null;
}

/**
 * The response was cut and no error can be reported: the client left, or the cause is unknown. 499 is nginx's status
 * for it.
 */
export const CLIENT_DISCONNECTED: ClientResult = { status: 499, errorCode: null };

/** Envoy's own responses, made by `bootstrap/local-replies.ts`, by status. */
const LOCAL_REPLIES: Readonly<Record<number, ErrorCode>> = {
  400: "invalid_parameter",
  408: "request_timeout",
  413: "request_too_large",
  500: "internal_error",
  502: "upstream_error",
  503: "gateway_unavailable",
  504: "upstream_timeout",
};
/** Errors of a begun response, by the prefix of Envoy's details. */
const CUT_RESPONSES: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ["upstream_reset", "upstream_error"],
  ["response_timeout", "upstream_timeout"],
  ["upstream_response_timeout", "upstream_timeout"],
  ["upstream_per_try", "upstream_timeout"],
  ["upstream_max_stream_duration", "upstream_timeout"],
];

/** No bytes in either direction until Envoy's timeout. Envoy does not report which side was silent. */
const SILENCE = "stream_idle_timeout";
/**
 * Bytes of a response that Envoy buffers for a client that does not read. Beyond this, Envoy stops reading the
 * upstream, which then looks silent; below it, nothing keeps the upstream from sending.
 */
const MAX_UNREAD_BYTES = 1024 ** 2;

/**
 * @param end Null if Envoy has reported nothing.
 * @param streamedBytes Bytes sent of a streamed response.
 */
export function describeBrokenEnd(end: ReportedEnd | null, streamedBytes = 0): BrokenEnd {
  if (end === null) return { result: CLIENT_DISCONNECTED, error: null, cause: null };
  const { status, details: cause } = end;
  if (cause.startsWith(GUARDRAIL_DETAILS)) return failed("guardrail_blocked", status, cause);
  const local = LOCAL_REPLIES[status];
  if (local !== undefined) return failed(local, status, cause);
  const isUpstreamSilent = status === 200 && cause.startsWith(SILENCE) && streamedBytes <= MAX_UNREAD_BYTES;
  if (isUpstreamSilent) return failed("upstream_timeout", status, cause);
  const cut = CUT_RESPONSES.find(([prefix]) => cause.startsWith(prefix))?.[1];
  // The stream contained no error event: the client got status 200 and an incomplete response.
  return cut === undefined ? { result: CLIENT_DISCONNECTED, error: null, cause } : failed(cut, 200, cause);
}

function failed(code: ErrorCode, status: number, cause: string): BrokenEnd {
  const error = new GatewayError(code, { cause: new Error(cause) });
  return { result: { status, errorCode: error.publicCode }, error, cause };
}
