/** What clusters of the sidecar, of upstreams and of the collector of traces have alike. */
import { isIP } from "node:net";
import { type EnvoyNode, oneLine, type OneLine, typed } from "./yaml-document.ts";

/** A cluster's HTTP options: the type that Envoy has them under. */
export const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** `typed_extension_protocol_options`. */
export function createHttpOptions(options: EnvoyNode): EnvoyNode {
  return { [HTTP_OPTIONS]: typed(HTTP_OPTIONS, options) };
}

/** The largest that HTTP/2 and Envoy know. */
const OUT_OF_REACH = 2 ** 31 - 1;

/**
 * `http2_protocol_options` of connections that the requests of all tenants share: none of their bounds is met by what
 * clients do. A client that takes its requests back, or does not read its answers, is bounded on its own connection.
 */
export const SHARED_CONNECTION: EnvoyNode = {
  "#initial_connection_window_size":
    "Answers that their clients do not read hold this window: with a smaller one a few of them stop all others.",
  initial_connection_window_size: OUT_OF_REACH,
  "#max_outbound_frames":
    "Every request that its client takes back is a frame here. Over the limit Envoy breaks the connection off, and with " +
    "it the streams of everybody else.",
  max_outbound_frames: OUT_OF_REACH,
  max_outbound_control_frames: OUT_OF_REACH,
};

/** `circuit_breakers`, of which only those of retries are meant to break. */
export function createCircuitBreakers(mostInFlight: number, mostRetries: number): EnvoyNode {
  return {
    thresholds: [
      {
        max_connections: mostInFlight,
        max_pending_requests: mostInFlight,
        max_requests: mostInFlight,
        max_retries: mostRetries,
      },
    ],
  };
}

/** `outlier_detection` of connections that fail; no answer counts, of whichever status. */
export function createOutlierDetection(
  failures: number,
  times: Readonly<Record<"interval" | "base_ejection_time" | "max_ejection_time", string>>,
): EnvoyNode {
  return {
    split_external_local_origin_errors: true,
    consecutive_local_origin_failure: failures,
    enforcing_consecutive_local_origin_failure: 100,
    enforcing_local_origin_success_rate: 0,
    enforcing_consecutive_5xx: 0,
    enforcing_consecutive_gateway_failure: 0,
    enforcing_success_rate: 0,
    ...times,
    max_ejection_percent: 100,
  };
}

/** `transport_socket` of connections that Envoy makes. */
export function createClientTls(context: EnvoyNode): EnvoyNode {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", context),
  };
}

/** A member of `match_typed_subject_alt_names`: the certificate is for this name or address. */
export function createNameMatcher(name: string): OneLine {
  return oneLine({ san_type: isIP(name) === 0 ? "DNS" : "IP_ADDRESS", matcher: { exact: name } });
}
