/**
 * Tracing, if `telemetry.otlp` is configured: Envoy creates a span per request and sends it to an
 * OpenTelemetry collector. W3C trace context (`traceparent`) is accepted from the client and passed to the
 * upstream. While the collector is unreachable, only spans are lost.
 */
import { isIP } from "node:net";
import type { Config } from "../../shared/config/schema.ts";
import { parseUpstreamEndpoint } from "../../shared/config/schema/urls.ts";
import { EDGE_METADATA_NAMESPACE, EDGE_METADATA_PATH, EDGE_METADATA_USER_AGENT } from "../names.ts";
import { createHttpOptions } from "./cluster-parts.ts";
import { type AuthorityPlaces, createUpstreamTls } from "./upstream-tls.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

type OtlpConfig = NonNullable<Config["telemetry"]["otlp"]>;

/** No upstream can have this name. */
const CLUSTER = "telemetry.otlp";
const SERVICE_NAME = "inference-gateway";

/** Returns the `tracing` of the connection manager; empty without a collector. */
export function createTracing(otlp: OtlpConfig | null): EnvoyNode {
  if (otlp === null) return {};
  return {
    "#tracing":
      "Spans hold method, path, status and times; no key, no query, no body. Envoy's own tags of what the client wrote " +
      "are replaced by what the first filter has left of it.",
    tracing: {
      custom_tags: [
        oneLine({ tag: "gateway.request_id", request_header: { name: "x-request-id" } }),
        createEdgeTag("http.url", EDGE_METADATA_PATH),
        createEdgeTag("user_agent", EDGE_METADATA_USER_AGENT),
      ],
      provider: {
        name: "envoy.tracers.opentelemetry",
        typed_config: typed("envoy.config.trace.v3.OpenTelemetryConfig", {
          grpc_service: oneLine({ envoy_grpc: { cluster_name: CLUSTER }, timeout: "1s" }),
          service_name: SERVICE_NAME,
          "#sampler": "The client's own decision first; without one, so many percent.",
          sampler: createSampler(otlp.samplingPercent),
        }),
      },
    },
  };
}

/** Replaces a tag that Envoy would write; a request that no filter has seen gets a dash. */
function createEdgeTag(tag: string, key: string) {
  const path = { key: EDGE_METADATA_NAMESPACE, path: [{ key }] };
  return oneLine({ tag, metadata: { kind: { request: {} }, metadata_key: path, default_value: "-" } });
}

/** Follows the client's `traceparent`; without one, samples this percentage. */
function createSampler(percent: number): EnvoyNode {
  const samplers = "envoy.extensions.tracers.opentelemetry.samplers.v3";
  return {
    name: "envoy.tracers.opentelemetry.samplers.parent_based",
    typed_config: typed(`${samplers}.ParentBasedSamplerConfig`, {
      wrapped_sampler: {
        name: "envoy.tracers.opentelemetry.samplers.trace_id_ratio_based",
        typed_config: typed(`${samplers}.TraceIdRatioBasedSamplerConfig`, {
          sampling_percentage: oneLine({ numerator: percent, denominator: "HUNDRED" }),
        }),
      },
    }),
  };
}

/** Returns the collector's cluster; empty without a collector. */
export function createTracingClusters(otlp: OtlpConfig | null, places: AuthorityPlaces): EnvoyNode[] {
  if (otlp === null) return [];
  const endpoint = parseUpstreamEndpoint(otlp.url);
  const { host, port, usesTls } = endpoint;
  const target = { name: CLUSTER, endpoints: [endpoint], tls: null };
  const address = oneLine({ socket_address: { address: host, port_value: port } });
  return [
    {
      name: CLUSTER,
      type: isIP(host) === 0 ? "STRICT_DNS" : "STATIC",
      connect_timeout: "1s",
      typed_extension_protocol_options: createHttpOptions({
        explicit_http_config: oneLine({ http2_protocol_options: {} }),
      }),
      load_assignment: {
        cluster_name: CLUSTER,
        endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
      },
      ...(usesTls ? { transport_socket: createUpstreamTls(target, places) } : {}),
    },
  ];
}
