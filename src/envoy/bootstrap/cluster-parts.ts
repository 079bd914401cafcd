/** Parts that clusters of the sidecar, of upstreams and of the trace collector share. */
import { isIP } from "node:net";
import { type EnvoyNode, oneLine, type OneLine, typed } from "./yaml-document.ts";

/** Envoy's type name of a cluster's HTTP options. */
export const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** Returns `typed_extension_protocol_options`. */
export function createHttpOptions(options: EnvoyNode): EnvoyNode {
  return { [HTTP_OPTIONS]: typed(HTTP_OPTIONS, options) };
}

/** Returns a `load_balancing_policy` with one policy, such as `maglev` with its message `Maglev`. */
export function createPolicy(name: string, message: string, fields: EnvoyNode): EnvoyNode {
  const policy = `envoy.extensions.load_balancing_policies.${name}.v3.${message}`;
  return {
    policies: [
      {
        typed_extension_config: {
          name: `envoy.load_balancing_policies.${name}`,
          typed_config: typed(policy, fields),
        },
      },
    ],
  };
}

/** Largest value that HTTP/2 and Envoy accept. */
const OUT_OF_REACH = 2 ** 31 - 1;

/**
 * `http2_protocol_options` of connections that requests of all organizations share: clients cannot reach any
 * of their bounds. A client that cancels its requests, or does not read its responses, is bounded on its own
 * connection.
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

/** Returns `circuit_breakers`, of which only those of retries are meant to open. */
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

/** Returns `outlier_detection` for failing connections; responses of any status do not count. */
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

/** Returns the `transport_socket` of connections that Envoy opens. */
export function createClientTls(context: EnvoyNode): EnvoyNode {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", context),
  };
}

/** Returns a member of `match_typed_subject_alt_names`: the certificate must be for this name or address. */
export function createNameMatcher(name: string): OneLine {
  return oneLine({ san_type: isIP(name) === 0 ? "DNS" : "IP_ADDRESS", matcher: { exact: name } });
}
