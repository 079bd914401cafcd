/**
 * What became of a request that was handed to an upstream, read from how its response began. Envoy answers by itself
 * when there is nothing to pass on; all of those arrive as a `:status` of Envoy's, so `response.code_details` tells
 * them apart.
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/response_code_details
 */
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { Outcome } from "../../request-log/line.ts";
import type { ResponseStart } from "./upstream-call.ts";

/** Envoy's own answer in place of an upstream's. */
export interface LocalOutcome {
  readonly error: GatewayError;
  /** `not_sent`: nothing was sent to any upstream, so nothing can have been used. */
  readonly outcome: Exclude<Outcome, "complete">;
}

/** What Envoy says of how a request went. */
interface LocalReply extends Pick<ResponseStart, "codeDetails" | "lostConnection"> {
  /** Milliseconds since the request was sent to the upstream. */
  readonly sinceSentMs: number;
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

const BROKEN_CONNECTION = "upstream_reset_before_response_started{connection_termination";
/**
 * The connection was there before the request, and no byte came back: the server was about to close it, behind an earlier
 * answer or a time of rest, and has most likely never read the request.
 */
const STALE = /^[1-9]\d* 0$/;
/** A stale connection breaks as soon as it is used. One that breaks later had a server at work on the request. */
const STALE_WITHIN_MS = 1_000;

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

/** A server that says in an answer of status 200 that it is starting says no time: the model's own, as with a 503. */
export function withStartupTime(
  error: GatewayError,
  { startupSeconds }: Pick<KnownUpstream, "startupSeconds">,
): GatewayError {
  if (error.code !== "model_starting") return error;
  return new GatewayError("model_starting", { cause: error.cause, retryAfterSeconds: startupSeconds });
}

/** The error that a client is told when Envoy answered in an upstream's place. */
export function mapLocalOutcome(
  { codeDetails, lostConnection = "", sinceSentMs }: LocalReply,
  { startupSeconds, wasEverReached }: KnownUpstream,
): LocalOutcome {
  const startsWith = (prefix: string) => codeDetails.startsWith(prefix);
  if (NOT_CONNECTED.some(startsWith)) {
    const code = wasEverReached ? "model_starting" : "model_unreachable";
    return { error: new GatewayError(code, { retryAfterSeconds: startupSeconds }), outcome: "not_sent" };
  }
  if (startsWith(OVERFLOW)) return { error: new GatewayError("model_overloaded"), outcome: "not_sent" };
  if (MISCONFIGURED.some(startsWith)) {
    return {
      error: new GatewayError("internal_error", { cause: new Error(codeDetails) }),
      outcome: "not_sent",
    };
  }
  const isStale = STALE.test(lostConnection) && sinceSentMs <= STALE_WITHIN_MS;
  if (startsWith(BROKEN_CONNECTION) && isStale) {
    const message = "The model server closed the connection before it responded. Try again.";
    const cause = new Error(`${codeDetails}, of a connection that it had kept`);
    return { error: new GatewayError("upstream_error", { message, cause }), outcome: "refused_by_upstream" };
  }
  if (startsWith(TOO_LARGE)) return { error: new GatewayError("request_too_large"), outcome: "not_sent" };
  if (TIMED_OUT.some(startsWith)) return { error: new GatewayError("upstream_timeout"), outcome: "broken" };
  return { error: new GatewayError("upstream_error", { cause: new Error(codeDetails) }), outcome: "broken" };
}
