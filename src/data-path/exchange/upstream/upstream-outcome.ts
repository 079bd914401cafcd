/**
 * Determines the outcome of a request that was handed to an upstream, from the beginning of its response. Envoy's own
 * responses also arrive as a `:status`; only `response.code_details` distinguishes them.
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_conn_man/response_code_details
 */
import { GatewayError } from "../../../shared/contract/errors.ts";
import type { Outcome } from "../../request-log/line.ts";
import type { ResponseStart } from "./upstream-call.ts";

/** Envoy's own response in place of an upstream's. */
export interface LocalOutcome {
  readonly error: GatewayError;
  /** `not_sent`: nothing reached an upstream, so nothing was used. */
  readonly outcome: Exclude<Outcome, "complete">;
}

/** Envoy's details of a failed request. */
interface LocalReply extends Pick<ResponseStart, "codeDetails" | "lostConnection"> {
  /** Milliseconds since the request was sent to the upstream. */
  readonly sinceSentMs: number;
}

const NOT_CONNECTED = [
  "no_healthy_upstream",
  // An endpoint picker after this gateway's filters is missing or late, so no server was chosen.
  "ext_proc_error",
  "upstream_reset_before_response_started{remote_connection_failure",
  "upstream_reset_before_response_started{local_connection_failure",
  "upstream_reset_before_response_started{connection_timeout",
  "upstream_reset_before_response_started{connection_failure",
];
const OVERFLOW = "upstream_reset_before_response_started{overflow";
const MISCONFIGURED = ["cluster_not_found", "route_not_found", "maintenance_mode"];
/** Envoy rejected the body by an operator's own limit: the rendered limit was checked before. */
const TOO_LARGE = "request_payload_too_large";
const TIMED_OUT = [
  "response_timeout",
  "upstream_response_timeout",
  "stream_idle_timeout",
  "upstream_per_try",
];

const BROKEN_CONNECTION = "upstream_reset_before_response_started{connection_termination";
/**
 * The connection was older than the request, and no byte came back: the server was closing an idle connection and
 * most likely never read the request.
 */
const STALE = /^[1-9]\d* 0$/;
/** A stale connection breaks on first use. A later break means that a server was working on the request. */
const STALE_WITHIN_MS = 1_000;

/** Returns whether the response came from an upstream, and not from Envoy. */
export function isFromUpstream(codeDetails: string): boolean {
  return codeDetails === "via_upstream" || codeDetails === "";
}

/** Facts about the upstream that do not depend on this request. */
export interface KnownUpstream {
  /** `Retry-After` while no server is available. */
  readonly startupSeconds: number;
  /** Whether any request has reached it since the gateway started. */
  readonly wasEverReached: boolean;
}

/**
 * Adds `Retry-After` to the error of a server that responds that it is starting: the model's startup time, as for a
 * 503.
 */
export function withStartupTime(
  error: GatewayError,
  { startupSeconds }: Pick<KnownUpstream, "startupSeconds">,
): GatewayError {
  if (error.code !== "model_starting") return error;
  return new GatewayError("model_starting", { cause: error.cause, retryAfterSeconds: startupSeconds });
}

/** Maps Envoy's response in place of an upstream's to the client's error. */
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
