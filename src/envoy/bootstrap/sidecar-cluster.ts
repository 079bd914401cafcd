/**
 * Sidecar's clusters: one endpoint per worker process. Health checks and outlier detection keep requests away
 * from workers that start, drain or have ended; without any worker, ext_authz fails at once and the client
 * gets 503. ext_authz has a cluster of its own: in one connection, checks wait behind megabytes of bodies.
 */
import type { Config } from "../../shared/config/schema.ts";
import { CHECKS_CLUSTER, SIDECAR_CLUSTER, WORKER_HEADER } from "../names.ts";
import {
  createCircuitBreakers,
  createHttpOptions,
  createOutlierDetection,
  createPolicy,
  SHARED_CONNECTION,
} from "./cluster-parts.ts";
import { type EdgeTimeouts, formatSeconds } from "./render-options.ts";
import type { SidecarEndpoint } from "./sidecar-endpoints.ts";
import { createRetryPolicy } from "./upstream-balancing.ts";
import { type EnvoyNode, omitComments, oneLine } from "./yaml-document.ts";

/** Far above any number of requests in flight: each needs a gRPC stream, and Envoy's default of 1,024 causes 500. */
const MAX_IN_FLIGHT = 1_000_000;
/** Fraction of the hang timeout before a PING is sent; the rest is the wait for its reply. */
const PING_SHARE = 0.2;
/**
 * Multiple of the hang timeout with grpc-js. Node's HTTP/2 processes everything that arrived in one turn and
 * answers no PING meanwhile: on a twentieth of a core, 900 canceled calls took a worker 8 s and cost other
 * streams their connection.
 */
const GRPC_JS_PATIENCE = 2;
const MEBIBYTE = 1024 ** 2;

/** Node closes a connection after more than 1,000 simultaneous resets; fewer calls cannot cause that. */
export const MAX_CALLS_PER_NODE_CONNECTION = 900;

export interface SidecarClustersOptions {
  /** Transport of the workers: `sidecar.transport`. */
  readonly server: Config["sidecar"]["transport"];
  readonly endpoints: readonly SidecarEndpoint[];
  /** Transport socket of the clusters, if any. */
  readonly transportSocket: EnvoyNode;
  readonly timeouts: EdgeTimeouts;
}

/** Returns the cluster that ext_proc calls, and the one that ext_authz calls. */
export function createSidecarClusters(options: SidecarClustersOptions): [EnvoyNode, EnvoyNode] {
  const checks = omitComments(createCluster(CHECKS_CLUSTER, options));
  return [
    createCluster(SIDECAR_CLUSTER, options),
    {
      "#":
        `As \`${SIDECAR_CLUSTER}\`, for ext_authz: connections of its own, in which a check never waits behind the ` +
        "bodies of other requests. By calls in flight: a worker that is busy gets fewer.",
      ...checks,
    },
  ];
}

function createCluster(name: string, options: SidecarClustersOptions): EnvoyNode {
  const { endpoints, transportSocket } = options;
  const isForChecks = name === CHECKS_CLUSTER;
  return {
    name,
    type: endpoints.every((endpoint) => "pipe" in endpoint || !endpoint.isName) ? "STATIC" : "STRICT_DNS",
    connect_timeout: "1s",
    ...createBalancing(endpoints, isForChecks),
    "#common_lb_config":
      "Never send to a worker known to be down just because most are. If all are, try one: ext_authz, which has health " +
      "checks of its own and never tries, has just found one that is back.",
    common_lb_config: {
      healthy_panic_threshold: oneLine({ value: isForChecks ? 0 : 1 }),
      "#update_merge_window":
        "A worker that is back is used at once; by default Envoy collects changes for a second.",
      update_merge_window: "0s",
    },
    "#circuit_breakers": "Every request in flight holds one gRPC stream; the default of 1,024 answers 500.",
    circuit_breakers: createCircuitBreakers(MAX_IN_FLIGHT, MAX_IN_FLIGHT),
    ...createHealthWatch(),
    typed_extension_protocol_options: createHttp2Options(options),
    ...transportSocket,
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: endpoints.map(createLbEndpoint) }],
    },
  };
}

function createBalancing(endpoints: readonly SidecarEndpoint[], isForChecks: boolean): EnvoyNode {
  const reason = "Streams last for minutes: by requests in flight, not in turn.";
  if (isForChecks || !endpoints.every((endpoint) => "pipe" in endpoint)) {
    return { "#lb_policy": reason, lb_policy: "LEAST_REQUEST" };
  }
  return {
    "#load_balancing_policy": "The worker that a call names, also one that drains.",
    load_balancing_policy: createPolicy("override_host", "OverrideHost", {
      override_host_sources: [oneLine({ header: WORKER_HEADER })],
      "#fallback_policy": reason,
      fallback_policy: createPolicy("least_request", "LeastRequest", {}),
    }),
  };
}

function createHealthWatch(): EnvoyNode {
  return {
    health_checks: [
      {
        timeout: "1s",
        interval: "0.5s",
        "#no_traffic_interval": "Also before the first request; the default is a minute.",
        no_traffic_interval: "0.5s",
        unhealthy_interval: "0.25s",
        no_traffic_healthy_interval: "0.5s",
        "#unhealthy_threshold": "A busy event loop misses one check now and then.",
        unhealthy_threshold: 3,
        healthy_threshold: 1,
        grpc_health_check: oneLine({}),
      },
    ],
    "#outlier_detection":
      "Only connections that fail: between two health checks a crashed worker is passed over. Error statuses do not " +
      "count, the sidecar fails a call to stop one stream.",
    outlier_detection: {
      ...createOutlierDetection(2, {
        interval: "0.5s",
        base_ejection_time: "1s",
        max_ejection_time: "5s",
      }),
      "#max_ejection_percent":
        "The last one is never passed over: a call that comes too late counts as a connection that fails, and a worker " +
        "that is slow is better than none. Whether it is gone, health checks tell.",
      max_ejection_percent: 99,
    },
  };
}

function createHttp2Options({ server, timeouts }: SidecarClustersOptions): EnvoyNode {
  const hangSeconds = timeouts.hangSeconds * (server === "grpc-js" ? GRPC_JS_PATIENCE : 1);
  return createHttpOptions({
    ...(server === "grpc-js" ? createShortConnections() : {}),
    explicit_http_config: {
      http2_protocol_options: {
        "#initial_stream_window_size":
          "Whole bodies travel both ways: the default window halves their throughput.",
        initial_stream_window_size: 4 * MEBIBYTE,
        ...SHARED_CONNECTION,
        "#connection_keepalive":
          "A worker that hangs answers no PING: its calls end here, whatever they wait for, each with a 503.",
        connection_keepalive: oneLine({
          interval: formatSeconds(hangSeconds * PING_SHARE),
          timeout: formatSeconds(hangSeconds * (1 - PING_SHARE)),
        }),
      },
    },
    retry_policy: createRetryPolicy(),
  });
}

function createShortConnections(): EnvoyNode {
  return {
    "#common_http_protocol_options":
      "Node's HTTP/2 closes a connection with more than 1,000 resets at once, each of a request that its client took " +
      "back: a connection with fewer calls cannot get there. Envoy opens the next one while open calls run on.",
    common_http_protocol_options: { max_requests_per_connection: MAX_CALLS_PER_NODE_CONNECTION },
  };
}

function createLbEndpoint(endpoint: SidecarEndpoint): EnvoyNode {
  const address =
    "pipe" in endpoint
      ? { pipe: { path: endpoint.pipe } }
      : { socket_address: { address: endpoint.host, port_value: endpoint.port } };
  return { endpoint: oneLine({ address }) };
}
