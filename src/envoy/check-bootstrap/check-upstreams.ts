/** One cluster per upstream of `gateway.yaml`, with its credential put on and the client's key taken off. */
import type { UpstreamConfig } from "../../config/schema.ts";
import { FILTERS } from "./filter-types.ts";
import { type BootstrapFinding, createFinding } from "./finding.ts";
import { checkSettings, is, isAtLeast, type SettingRule } from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

const OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const LEAST_IN_FLIGHT = 1_025;

const RULES: readonly SettingRule[] = [
  {
    check: "upstream_circuit_breakers",
    path: ["circuit_breakers", "thresholds", 0, "max_retries"],
    holds: is(0),
    why: "a request that an upstream has begun could be sent, and paid for, twice.",
    write: "max_retries: 0",
  },
  ...["max_connections", "max_pending_requests", "max_requests"].map((name) => ({
    check: "upstream_circuit_breakers",
    path: ["circuit_breakers", "thresholds", 0, name],
    holds: isAtLeast(LEAST_IN_FLIGHT),
    why: "Envoy's default of 1,024 answers 503 for the requests above it.",
    write: `${name}: 100000`,
  })),
];

/** Findings about the clusters of the upstreams. */
export function checkUpstreams(
  clusters: YamlView,
  upstreams: readonly UpstreamConfig[],
  hasDiscovery: boolean,
): BootstrapFinding[] {
  return upstreams.flatMap((upstream) => {
    const cluster = clusters.items().find((one) => one.at("name").text === upstream.name);
    return cluster === undefined
      ? [createMissing(clusters, upstream.name, hasDiscovery)]
      : checkUpstream(cluster, upstream);
  });
}

function createMissing(clusters: YamlView, name: string, hasDiscovery: boolean): BootstrapFinding {
  return createFinding(clusters, {
    check: "upstream_cluster",
    severity: hasDiscovery ? "unchecked" : "problem",
    message: hasDiscovery
      ? `the cluster \`${name}\` may come by CDS.`
      : `there is no cluster \`${name}\`: requests for its models get a 500.`,
    fix: `The cluster must have the upstream's name, \`${name}\`.`,
  });
}

function checkUpstream(cluster: YamlView, upstream: UpstreamConfig): BootstrapFinding[] {
  const filters = cluster.at("typed_extension_protocol_options", OPTIONS, "http_filters");
  const findings = [...checkSettings(cluster, RULES), ...checkKeyRemoval(filters)];
  const usesTls = upstream.endpoints.some((endpoint) => endpoint.usesTls);
  if (usesTls && !cluster.at("transport_socket").exists) {
    const text = {
      check: "upstream_tls",
      message: `the upstream \`${upstream.name}\` is https, the cluster speaks plain HTTP.`,
      fix: "Give the cluster the `transport_socket` of `inference-gateway envoy render`.",
    };
    findings.push(createFinding(cluster, text));
  }
  return upstream.credential === null ? findings : [...findings, ...checkCredential(filters, upstream.name)];
}

function checkKeyRemoval(filters: YamlView): BootstrapFinding[] {
  const removed = filters
    .items()
    .filter((filter) => filter.typeName === FILTERS.headerMutation)
    .flatMap((filter) => filter.at("typed_config", "mutations", "request_mutations").items())
    .map((mutation) => mutation.at("remove").text);
  const missing = ["authorization", "x-api-key"].filter((name) => !removed.includes(name));
  if (missing.length === 0) return [];
  const text = {
    check: "key_removal",
    message: `the client's ${missing.join(" and ")} is not taken off: its key would reach the upstream.`,
    fix: "Take the cluster's header_mutation filter over from `inference-gateway envoy render`.",
  };
  return [createFinding(filters, text)];
}

function checkCredential(filters: YamlView, name: string): BootstrapFinding[] {
  const injector = filters.items().find((filter) => filter.typeName === FILTERS.credential);
  if (injector === undefined) {
    const text = {
      check: "credential",
      message: `nothing puts the credential of \`${name}\` on its requests.`,
      fix: "Take the cluster's credential_injector over from `inference-gateway envoy render`.",
    };
    return [createFinding(filters, text)];
  }
  return checkSettings(injector.at("typed_config"), [
    {
      check: "credential",
      path: ["overwrite"],
      holds: is(true),
      why: "another authorization could stand.",
      write: "overwrite: true",
    },
    {
      check: "credential",
      path: ["allow_request_without_credential"],
      holds: is(false, false),
      why: "requests would go out without a credential.",
      write: "allow_request_without_credential: false",
    },
  ]);
}
