/**
 * What became of a request that was handed to an upstream, read from how its response began. Envoy answers by itself
 * when there is nothing to pass on; all of those arrive as a `:status` of Envoy's, so `response.code_details` tells
 * them apart.
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/response_code_details
 */
import { GatewayError } from "../errors.ts";

/** Envoy's own answer in place of an upstream's. */
export interface LocalOutcome {
  readonly error: GatewayError;
  /** Nothing was sent to any upstream, so nothing can have been used. */
  readonly wasReached: boolean;
}

const NOT_CONNECTED = [
  "no_healthy_upstream",
  // An endpoint picker behind this gateway's filters, which is gone or late: no server was chosen.
  "ext_proc_error",
  "upstream_reset_before_response_started{remote_connection_failure",
  "upstream_reset_before_response_started{local_connection_failure",
  "upstream_reset_before_response_started{connection_timeout",
  "upstream_reset_before_response_started{connection_failure",
];
const OVERFLOW = "upstream_reset_before_response_started{overflow";
const MISCONFIGURED = ["cluster_not_found", "route_not_found", "maintenance_mode"];
/** The body was held against the rendered limit before it left here; an operator's own may be lower. */
const TOO_LARGE = "request_payload_too_large";
const TIMED_OUT = [
  "response_timeout",
  "upstream_response_timeout",
  "stream_idle_timeout",
  "upstream_per_try",
];

/** Whether the response came from an upstream; false for what Envoy answered in its place. */
export function isFromUpstream(codeDetails: string): boolean {
  return codeDetails === "via_upstream" || codeDetails === "";
}

/** What is known of the upstream beside how this request went. */
export interface KnownUpstream {
  /** What `Retry-After` says while there is no server. */
  readonly startupSeconds: number;
  /** Whether any request has reached it since the gateway started. */
  readonly wasEverReached: boolean;
}

/** The error that a client is told when Envoy answered in an upstream's place. */
export function mapLocalOutcome(
  codeDetails: string,
  { startupSeconds, wasEverReached }: KnownUpstream,
): LocalOutcome {
  const startsWith = (prefix: string) => codeDetails.startsWith(prefix);
  if (NOT_CONNECTED.some(startsWith)) {
    const code = wasEverReached ? "model_starting" : "model_unreachable";
    return { error: new GatewayError(code, { retryAfterSeconds: startupSeconds }), wasReached: false };
  }
  if (startsWith(OVERFLOW)) return { error: new GatewayError("model_overloaded"), wasReached: false };
  if (MISCONFIGURED.some(startsWith)) {
    return {
      error: new GatewayError("internal_error", { cause: new Error(codeDetails) }),
      wasReached: false,
    };
  }
  if (startsWith(TOO_LARGE)) return { error: new GatewayError("request_too_large"), wasReached: false };
  if (TIMED_OUT.some(startsWith)) return { error: new GatewayError("upstream_timeout"), wasReached: true };
  return { error: new GatewayError("upstream_error", { cause: new Error(codeDetails) }), wasReached: true };
}
