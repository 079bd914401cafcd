/** Servers of an upstream: discovery, load balancing, and exclusion of failing servers. */
import { isIP } from "node:net";
import type { UpstreamConfig } from "../../shared/config/schema.ts";
import type { UpstreamEndpoint } from "../../shared/config/schema/urls.ts";
import { PIN_HEADER } from "../../shared/contract/header-names.ts";
import { formatHost } from "../../shared/host/local-url.ts";
import { createOutlierDetection, createPolicy } from "./cluster-parts.ts";
import { formatSeconds } from "./render-options.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

/**
 * Maximum picks of a retry to find another server. Of two servers the failed one has the fewest requests, and
 * is picked three times out of four.
 */
const PICKS_OF_ANOTHER_SERVER = 100;
/** Smallest bound of a server's load, in percent of the average of all. */
const MIN_LOAD_PERCENT = 150;
/** Timeout of a health check. */
const LONGEST_CHECK_SECONDS = 5;

/** Returns `type` and the resolution of names. */
export function createDiscovery(endpoints: readonly UpstreamEndpoint[]): EnvoyNode {
  if (endpoints.every((endpoint) => isIP(endpoint.host) !== 0)) return { type: "STATIC" };
  return { type: "STRICT_DNS", dns_lookup_family: "V4_PREFERRED" };
}

/** Returns the balancing policy and `common_lb_config`. */
export function createBalancing(
  { endpoints, slowStartSeconds, healthCheck }: UpstreamConfig,
  pinsSessions: boolean,
): EnvoyNode {
  return {
    ...(pinsSessions ? createHashing(endpoints) : createLeastRequest(slowStartSeconds)),
    "#common_lb_config":
      healthCheck === null
        ? "A server that is back is used at once. When none can be reached, all are tried: one may be back."
        : "A server that is back is used at once. When no check succeeds, nothing is sent: 503 `model_starting`, or " +
          "`model_unreachable` where none ever did.",
    common_lb_config: oneLine({
      update_merge_window: "0s",
      healthy_panic_threshold: { value: healthCheck === null ? 1 : 0 },
    }),
  };
}

function createLeastRequest(slowStartSeconds: number | null): EnvoyNode {
  return {
    lb_policy: "LEAST_REQUEST",
    ...(slowStartSeconds === null
      ? {}
      : {
          least_request_lb_config: {
            slow_start_config: oneLine({ slow_start_window: formatSeconds(slowStartSeconds) }),
          },
        }),
  };
}

/** Consistent hashing with bounded load. If servers come or go, only their own sessions move. */
function createHashing(endpoints: readonly UpstreamEndpoint[]): EnvoyNode {
  const hashing = {
    "#hash_balance_factor":
      "No server gets more than this percentage of the average requests in flight: the rest goes elsewhere.",
    hash_balance_factor: boundLoad(endpoints),
    "#hash_policy": "Written by ext_proc; requests without it are spread by weight.",
    hash_policy: [oneLine({ header: { header_name: PIN_HEADER } })],
  };
  return {
    "#load_balancing_policy": "A session stays at one server, which has its prompt in the cache.",
    load_balancing_policy: createPolicy("maglev", "Maglev", { consistent_hashing_lb_config: hashing }),
  };
}

/**
 * Returns the bound of a server's load, in percent of the average. If any server fails, the others can take all requests:
 * with a lower bound, Envoy would send their retries back to the server that failed. One name may be two servers.
 */
function boundLoad(endpoints: readonly UpstreamEndpoint[]): number {
  const weights = endpoints.length === 1 ? [1, 1] : endpoints.map(({ weight }) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Math.max(MIN_LOAD_PERCENT, Math.ceil((100 * total) / (total - Math.max(...weights))));
}

/** Returns `outlier_detection`, and `health_checks` if configured. */
export function createHealth({ healthCheck }: UpstreamConfig): EnvoyNode {
  return {
    "#outlier_detection":
      "Passive: no probe costs a model server anything. A server that cannot be reached is left out for a while; " +
      "answers of any status do not count, they may be about the request.",
    outlier_detection: createOutlierDetection(5, {
      interval: "1s",
      base_ejection_time: "5s",
      max_ejection_time: "30s",
    }),
    ...(healthCheck === null ? {} : { health_checks: [createHealthCheck(healthCheck)] }),
  };
}

function createHealthCheck({ path, intervalSeconds }: NonNullable<UpstreamConfig["healthCheck"]>): EnvoyNode {
  return {
    timeout: formatSeconds(Math.min(intervalSeconds, LONGEST_CHECK_SECONDS)),
    interval: formatSeconds(intervalSeconds),
    "#no_traffic_interval": "The default of 60 s would leave a dead server in for the first requests.",
    no_traffic_interval: formatSeconds(intervalSeconds),
    unhealthy_threshold: 2,
    healthy_threshold: 1,
    http_health_check: oneLine({ path }),
    "#tls_options": "Checks speak HTTP/1.1, whatever requests are sent by.",
    tls_options: oneLine({ alpn_protocols: ["http/1.1"] }),
  };
}

/** Returns the `load_assignment`: one group per priority. */
export function createLoadAssignment({ name, endpoints, healthCheck }: UpstreamConfig): EnvoyNode {
  const priorities = [...new Set(endpoints.map(({ priority }) => priority))].sort((one, next) => one - next);
  return {
    cluster_name: name,
    endpoints: priorities.map((priority) => ({
      ...(priorities.length === 1 ? {} : { priority }),
      lb_endpoints: endpoints
        .filter((endpoint) => endpoint.priority === priority)
        .map((endpoint) => createLbEndpoint(endpoint, healthCheck !== null)),
    })),
  };
}

function createLbEndpoint(endpoint: UpstreamEndpoint, isChecked: boolean): EnvoyNode {
  const hostname = formatAuthority(endpoint);
  return {
    endpoint: oneLine({
      address: { socket_address: { address: endpoint.host, port_value: endpoint.port } },
      hostname,
      ...(isChecked ? { health_check_config: { hostname } } : {}),
    }),
    ...(endpoint.weight === 1 ? {} : { load_balancing_weight: endpoint.weight }),
  };
}

/** Returns the server's `Host`: with the port unless it is the scheme's default. */
export function formatAuthority({ host, port, usesTls }: UpstreamEndpoint): string {
  const name = formatHost(host);
  return port === (usesTls ? 443 : 80) ? name : `${name}:${port}`;
}

/**
 * Returns the `retry_policy` of the cluster's HTTP options: a retry only if no byte of the request was sent.
 * A request that was sent partly is never sent again, since it could be paid twice.
 */
export function createRetryPolicy(): EnvoyNode {
  return {
    "#retry_on": "Nothing was sent: no connection was made, or it was lost before the request's first byte.",
    retry_on: "connect-failure,reset-before-request",
    num_retries: 1,
    "#retry_host_predicate": "Another server than the first, and another priority where there is one.",
    retry_host_predicate: [
      {
        name: "envoy.retry_host_predicates.previous_hosts",
        typed_config: oneLine(typed("envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate")),
      },
    ],
    host_selection_retry_max_attempts: PICKS_OF_ANOTHER_SERVER,
    retry_priority: {
      name: "envoy.retry_priorities.previous_priorities",
      typed_config: oneLine(
        typed("envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig", {
          update_frequency: 1,
        }),
      ),
    },
  };
}
