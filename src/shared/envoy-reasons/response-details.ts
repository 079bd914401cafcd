/**
 * Response code details of Envoy 1.40 (`%RESPONSE_CODE_DETAILS%`, attribute `response.code_details`) in plain
 * words: those of its connection manager and router here, those of codecs and filters in separate files.
 * @see https://www.envoyproxy.io/docs/envoy/v1.40.0/configuration/http/http_conn_man/response_code_details
 */
import { CODEC_DETAILS } from "./codec-details.ts";
import { explainTransport } from "./connection-reasons.ts";
import { FILTER_DETAILS } from "./filter-details.ts";
import { type Reason, reason } from "./reason.ts";
import { FLAGS } from "./response-flags.ts";

const BEFORE = "upstream_reset_before_response_started";
const AFTER = "upstream_reset_after_response_started";

const TOO_LONG = reason(
  "gateway",
  "the request exceeded Envoy's maximum duration",
  "client",
  'Retry. docs/envoy.md, "Timeouts", lists the timeouts.',
);
const SLOW_REQUEST = reason(
  "client",
  "the client didn't send its whole request in time",
  "client",
  "Send headers and body without a pause; the client's network may be slow.",
);
const FILTER_FAULT = reason(
  "gateway",
  "a filter in Envoy removed required headers of a request or response",
  "operator",
  "Check the filters that were added to the rendered bootstrap: `inference-gateway config check --envoy FILE` names what is missing.",
);
const NOT_HTTP = (text: string, todo: string): Reason => reason("client", text, "client", todo);

/** Reasons by the start of the details. */
const CORE_DETAILS: Readonly<Record<string, Reason>> = {
  via_upstream: reason(
    null,
    "{upstream} sent the response",
    "upstream",
    "Status and text of the response come from the model server.",
  ),
  direct_response: reason(null, "Envoy's configuration contains this response", "client", FLAGS.NR.todo),
  admin_filter_response: reason(
    null,
    "Envoy's admin interface sent the response",
    "operator",
    "Nothing is wrong.",
  ),
  internal_redirect: reason(null, "Envoy followed a redirect of {upstream}", "operator", "Nothing is wrong."),
  no_healthy_upstream: FLAGS.UH,
  cluster_not_found: FLAGS.NC,
  route_not_found: FLAGS.NR,
  route_configuration_not_found: FLAGS.NR,
  filter_chain_not_found: reason(
    "gateway",
    "Envoy has no filter chain for this connection",
    "operator",
    "Check the filter chains of the listener: none matches the connection's address or server name.",
  ),
  maintenance_mode: reason(
    "gateway",
    "Envoy's runtime settings declare {upstream} under maintenance",
    "operator",
    "Remove the runtime setting `upstream.maintenance_mode`.",
  ),
  drop_overload: FLAGS.DO,
  unconditional_drop_overload: FLAGS.UDO,
  response_timeout: FLAGS.UT,
  upstream_per_try_timeout: FLAGS.UT,
  upstream_per_try_idle_timeout: FLAGS.UT,
  upstream_max_stream_duration_reached: FLAGS.UMSDR,
  stream_idle_timeout: FLAGS.SI,
  max_duration_timeout: TOO_LONG,
  duration_timeout: FLAGS.DT,
  request_overall_timeout: SLOW_REQUEST,
  request_header_timeout: SLOW_REQUEST,
  downstream_header_timeout: SLOW_REQUEST,
  downstream_remote_disconnect: FLAGS.DC,
  downstream_local_disconnect: reason(
    "gateway",
    "Envoy closed the client's connection",
    "operator",
    "The text in brackets shows why. Read Envoy's log at this time: Envoy drained, or the client violated the protocol.",
  ),
  overload: FLAGS.OM,
  request_payload_too_large: NOT_HTTP(
    "the request's body is larger than the gateway accepts",
    "Send a smaller body; the operator's limit is `limits.max_body_bytes`.",
  ),
  request_payload_exceeded_retry_buffer_limit: reason(
    "gateway",
    "the first attempt failed, and the request's body is too large for a retry by Envoy",
    "client",
    "Retry.",
  ),
  response_payload_too_large: reason(
    "gateway",
    "the response of {upstream} is larger than Envoy's buffer",
    "operator",
    "Request shorter responses, or raise Envoy's buffer limits.",
  ),
  low_version: NOT_HTTP(
    "the client speaks HTTP/1.0 or older",
    "Use HTTP/1.1 or HTTP/2; a proxy before the gateway may need `proxy_http_version 1.1`.",
  ),
  missing_host_header: NOT_HTTP("the request has no `Host` header", "Send `Host`."),
  missing_path_rejected: NOT_HTTP("the request has no path", "Send one of the paths of docs/api.md."),
  invalid_path: NOT_HTTP("the request's path is invalid", "Send one of the paths of docs/api.md."),
  absolute_path_rejected: NOT_HTTP(
    "the request's first line has a full URL",
    "Send only the path: the gateway isn't a forward proxy.",
  ),
  path_normalization_failed: NOT_HTTP(
    "the request's path can't be normalized",
    "Send one of the paths of docs/api.md, without escapes.",
  ),
  request_headers_failed_strict_check: FLAGS.IH,
  upgrade_failed: NOT_HTTP(
    "the request asks for another protocol on its connection",
    "Don't send `Upgrade`: the gateway doesn't support WebSockets.",
  ),
  websocket_handshake_unsuccessful: reason(
    "upstream",
    "{upstream} rejected the WebSocket",
    "client",
    "Don't send `Upgrade`: the gateway doesn't support WebSockets.",
  ),
  early_connect_data: NOT_HTTP("the client sent data before its tunnel was open", "Don't send `CONNECT`."),
  rejecting_because_detection_failed: reason(
    "gateway",
    "Envoy couldn't determine the client's address",
    "operator",
    "Check the proxies before the gateway, and `--trusted-hops` of `inference-gateway envoy render`.",
  ),
  filter_removed_required_request_headers: FILTER_FAULT,
  filter_removed_required_response_headers: FILTER_FAULT,
  filter_added_invalid_request_data: FILTER_FAULT,
  filter_added_invalid_response_data: FILTER_FAULT,
  [BEFORE]: reason(
    "upstream",
    "{upstream} closed the connection before its response began",
    "upstream",
    FLAGS.UC.todo,
  ),
  [AFTER]: reason(
    "upstream",
    "{upstream} closed the connection during its response",
    "upstream",
    FLAGS.UC.todo,
  ),
};

/**
 * Reasons in braces after a reset of the upstream's stream, by their start. Without a row, the reset's own
 * reason is used.
 */
const RESETS: Readonly<Record<string, Reason>> = {
  remote_connection_failure: FLAGS.UF,
  local_connection_failure: FLAGS.UF,
  overflow: FLAGS.UO,
  local_reset: FLAGS.LR,
  local_refused_stream_reset: FLAGS.LR,
  remote_refused_stream_reset: reason(
    "upstream",
    "{upstream} rejected the request before reading it",
    "upstream",
    "The server is at its limit of concurrent requests, or is stopping. The client can retry.",
  ),
  protocol_error: FLAGS.UPE,
  remote_error_with_CONNECT_request: FLAGS.UPE,
  overload_manager_reset: FLAGS.OM,
};

const DETAILS: readonly (readonly [prefix: string, reason: Reason])[] = Object.entries({
  ...CORE_DETAILS,
  ...CODEC_DETAILS,
  ...FILTER_DETAILS,
}).sort(([first], [second]) => second.length - first.length);

/**
 * Explains the details of a response code; null if they are unknown or not Envoy's.
 * @param details As Envoy writes them, including text in braces: "cluster_not_found".
 */
export function explainDetails(details: string): Reason | null {
  const found = DETAILS.find(([prefix]) => beginsWithWord(details, prefix));
  if (found === undefined) return null;
  const [prefix, known] = found;
  if (prefix !== BEFORE && prefix !== AFTER) return known;
  const inner = details.slice(prefix.length).replace(/^\{/, "");
  const ofConnection = prefix === BEFORE ? explainTransport(inner) : null;
  return ofConnection ?? Object.entries(RESETS).find(([reset]) => inner.startsWith(reset))?.[1] ?? known;
}

/** Details are one word: "overloaded" or "gateway timeout" come from a model server. */
function beginsWithWord(details: string, prefix: string): boolean {
  if (!details.startsWith(prefix) || /\s/.test(details)) return false;
  return prefix.endsWith(".") || !/^[A-Za-z0-9]/.test(details.slice(prefix.length));
}
