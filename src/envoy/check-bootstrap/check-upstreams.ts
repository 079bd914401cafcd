/** Checks that each upstream of `gateway.yaml` has a cluster that adds its credential and removes the client's key. */
import type { UpstreamConfig } from "../../shared/config/schema.ts";
import { HTTP_OPTIONS } from "../bootstrap/cluster-parts.ts";
import { FILTERS } from "./filter-types.ts";
import { type BootstrapFinding, findAt, findUnless } from "./finding.ts";
import { findCluster, findFilter, type Rendered } from "./rendered.ts";
import { checkSettings, isAtLeast, isRendered, isSameAsRendered, type SettingRule } from "./setting-rule.ts";
import type { YamlView } from "./yaml-view.ts";

const MIN_IN_FLIGHT = 1_025;

const TWICE = "a request that an upstream has begun could be sent, and charged, twice.";

const RULES: readonly SettingRule[] = [
  {
    check: "upstream_circuit_breakers",
    path: ["circuit_breakers", "thresholds", 0, "max_retries"],
    holds: (view, rendered) => view.number === 0 || (rendered.number !== 0 && isAtLeast(MIN_IN_FLIGHT)(view)),
    why:
      "with Envoy's default of 3, a request could be sent twice to the only server, and few requests find another server if " +
      "there are several.",
  },
  {
    check: "retries",
    path: ["typed_extension_protocol_options", HTTP_OPTIONS, "retry_policy"],
    holds: (view, rendered) => !view.exists || isSameAsRendered(view, rendered),
    why: `only the rendered policy is safe. With any other policy, ${TWICE}`,
  },
  {
    check: "retries",
    path: ["typed_extension_protocol_options", HTTP_OPTIONS, "request_mirror_policies"],
    holds: (view) => !view.exists,
    why: "every request would be sent, and charged, twice.",
  },
  ...["max_connections", "max_pending_requests", "max_requests"].map((name) => ({
    check: "upstream_circuit_breakers",
    path: ["circuit_breakers", "thresholds", 0, name],
    holds: isAtLeast(MIN_IN_FLIGHT),
    why: "Envoy's default of 1,024 returns 503 for further requests.",
  })),
];

export function checkUpstreams(
  clusters: YamlView,
  upstreams: readonly UpstreamConfig[],
  rendered: Rendered,
  hasDiscovery: boolean,
): BootstrapFinding[] {
  return upstreams.flatMap((upstream) => {
    const cluster = findCluster(clusters, upstream.name);
    const right = findCluster(rendered.clusters, upstream.name);
    return cluster === undefined || right === undefined
      ? findMissing(clusters, upstream.name, hasDiscovery)
      : checkUpstream(cluster, right, upstream.name);
  });
}

function findMissing(clusters: YamlView, name: string, hasDiscovery: boolean): BootstrapFinding[] {
  return findAt(clusters, {
    check: "upstream_cluster",
    level: hasDiscovery ? "unchecked" : "problem",
    message: hasDiscovery
      ? `the cluster \`${name}\` isn't in this file; CDS may deliver it.`
      : `the cluster \`${name}\` is missing: requests for its models return 500.`,
    fix: `The cluster must have the upstream's name, \`${name}\`.`,
  });
}

function checkUpstream(cluster: YamlView, rendered: YamlView, name: string): BootstrapFinding[] {
  const path = ["typed_extension_protocol_options", HTTP_OPTIONS, "http_filters"];
  const filters = cluster.at(...path);
  const injectors = rendered
    .at(...path)
    .items()
    .filter(isInjector);
  const isSecured = !rendered.at("transport_socket").exists || cluster.at("transport_socket").exists;
  return [
    ...checkSettings(cluster, rendered, RULES),
    ...checkKeyRemoval(filters, injectors.map(headerOf)),
    ...findUnless(isSecured, cluster, {
      check: "upstream_tls",
      message: `the upstream \`${name}\` is https, but the cluster speaks plain HTTP.`,
      fix: "Copy the cluster's `transport_socket` from `inference-gateway envoy render`.",
    }),
    ...injectors.flatMap((injector) => checkCredential(filters, injector, name)),
    ...checkSigning(filters, findFilter(rendered.at(...path), FILTERS.signing), name),
  ];
}

function isInjector(filter: YamlView): boolean {
  return filter.typeName === FILTERS.credential;
}

/** Returns the header that a credential_injector writes; Envoy's default is `Authorization`. */
function headerOf(injector: YamlView): string {
  const header = injector.at("typed_config", "credential", "typed_config", "header").text;
  return header === "" ? "authorization" : header.toLowerCase();
}

function checkKeyRemoval(filters: YamlView, credentials: readonly string[]): BootstrapFinding[] {
  const removed = filters
    .items()
    .filter((filter) => filter.typeName === FILTERS.headerMutation)
    .flatMap((filter) => filter.at("typed_config", "mutations", "request_mutations").items())
    .map((mutation) => mutation.at("remove").text.toLowerCase());
  const wanted = [...new Set(["authorization", "x-api-key", ...credentials])];
  const missing = wanted.filter((name) => !removed.includes(name));
  return findUnless(missing.length === 0, filters, {
    check: "key_removal",
    message: `the client's ${missing.join(" and ")} isn't removed: the client's key would reach the upstream.`,
    fix: "Copy the cluster's header_mutation filter from `inference-gateway envoy render`.",
  });
}

const CREDENTIAL_RULES: readonly SettingRule[] = [
  {
    check: "credential",
    path: ["overwrite"],
    why: "another authorization could remain.",
  },
  {
    check: "credential",
    path: ["allow_request_without_credential"],
    holds: isRendered(false),
    why: "requests would go out without a credential.",
  },
];

function checkCredential(filters: YamlView, rendered: YamlView, name: string): BootstrapFinding[] {
  const header = headerOf(rendered);
  const injector = filters.items().find((filter) => isInjector(filter) && headerOf(filter) === header);
  if (injector === undefined) {
    return findAt(filters, {
      check: "credential",
      message: `no filter adds the credential of \`${name}\` to its requests, as \`${header}\`.`,
      fix: "Copy the cluster's credential_injector from `inference-gateway envoy render`.",
    });
  }
  return checkSettings(injector.at("typed_config"), rendered.at("typed_config"), CREDENTIAL_RULES);
}

const SIGNING_RULES: readonly SettingRule[] = [
  ...["service_name", "region", "host_rewrite"].map((name) => ({
    check: "signing",
    path: [name],
    why: "the upstream would reject every signature.",
  })),
  {
    check: "signing",
    path: ["use_unsigned_payload"],
    why: "a body that was changed in transit would pass.",
  },
];

function checkSigning(filters: YamlView, rendered: YamlView | undefined, name: string): BootstrapFinding[] {
  if (rendered === undefined) return [];
  const found = findFilter(filters, FILTERS.signing);
  const last = filters.items().at(-2);
  if (found === undefined || last?.typeName !== FILTERS.signing) {
    return findAt(filters, {
      check: "signing",
      message: `requests to \`${name}\` aren't signed, or are changed after the signature.`,
      fix: "Copy the cluster's http_filters from `inference-gateway envoy render`, in their order.",
    });
  }
  return checkSettings(found.at("typed_config"), rendered.at("typed_config"), SIGNING_RULES);
}
