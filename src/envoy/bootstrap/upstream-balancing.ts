/** The servers of an upstream: which there are, how requests are shared among them, and when one is left out. */
import { isIP } from "node:net";
import type { UpstreamConfig } from "../../shared/config/schema.ts";
import type { UpstreamEndpoint } from "../../shared/config/schema/urls.ts";
import { formatHost } from "../../shared/host/local-url.ts";
import { createOutlierDetection } from "./cluster-parts.ts";
import { formatSeconds } from "./render-options.ts";
import { type EnvoyNode, oneLine, typed } from "./yaml-document.ts";

/**
 * How often a second try picks a server until it is another one. Of two, the one that is gone has the fewest requests, and
 * is picked three times of four.
 */
const PICKS_OF_ANOTHER_SERVER = 100;
/** A check that takes longer has failed. */
const LONGEST_CHECK_SECONDS = 5;

/** `type`, and how names are resolved. */
export function createDiscovery(endpoints: readonly UpstreamEndpoint[]): EnvoyNode {
  if (endpoints.every((endpoint) => isIP(endpoint.host) !== 0)) return { type: "STATIC" };
  return { type: "STRICT_DNS", dns_lookup_family: "V4_PREFERRED" };
}

/** `lb_policy` and what belongs to it. */
export function createBalancing({ slowStartSeconds, healthCheck }: UpstreamConfig): EnvoyNode {
  return {
    lb_policy: "LEAST_REQUEST",
    ...(slowStartSeconds === null
      ? {}
      : {
          least_request_lb_config: {
            slow_start_config: oneLine({ slow_start_window: formatSeconds(slowStartSeconds) }),
          },
        }),
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

/** `outlier_detection`, and `health_checks` where they are configured. */
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

/** `load_assignment`: one group for each priority. */
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

/** What the server reads as `Host`: with the port unless it is the scheme's own. */
export function formatAuthority({ host, port, usesTls }: UpstreamEndpoint): string {
  const name = formatHost(host);
  return port === (usesTls ? 443 : 80) ? name : `${name}:${port}`;
}

/** Whether a request may find another server: several are named, or a name may stand for several. */
export function hasSeveralServers({ endpoints }: UpstreamConfig): boolean {
  return endpoints.length > 1 || endpoints.some(({ host }) => isIP(host) === 0);
}

/**
 * `retry_policy` of the cluster's HTTP options: a second try where not a byte of the request has gone out. A request
 * of which anything was sent is never sent again, it could be paid for twice.
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
