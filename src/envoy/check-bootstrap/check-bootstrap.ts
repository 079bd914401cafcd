/**
 * Checks whether an operator's Envoy configuration keeps the gateway's promises. Reads a bootstrap and
 * reports what breaks a promise, where, and what to write instead. Each protection and flag of docs/envoy.md
 * has one check, with the gateway's own rendering as the expected value.
 * Checks every connection manager that calls the sidecar and ignores the rest of the file. Parts that come by
 * xDS are invisible here: they are reported as `unchecked`, never as right.
 */
import type { Config } from "../../shared/config/schema.ts";
import { readYaml } from "../../shared/config/load/yaml-source.ts";
import { CHECKS_CLUSTER, SIDECAR_CLUSTER } from "../names.ts";
import { checkFilters } from "./check-filters.ts";
import { checkManager } from "./check-manager.ts";
import { checkRoutes } from "./check-routes.ts";
import { checkGracefulClose, checkSidecar } from "./check-sidecar.ts";
import { checkUpstreams } from "./check-upstreams.ts";
import { FILTERS } from "./filter-types.ts";
import { type BootstrapFinding, findAt, findUnless } from "./finding.ts";
import { findCluster, listOwnFilters, type Rendered, renderExpected, findFilter } from "./rendered.ts";
import { YamlView } from "./yaml-view.ts";

/** Returns all findings in a bootstrap's text, sorted by line. Never throws. */
export function checkBootstrap(text: string, config: Config): BootstrapFinding[] {
  const source = readYaml(text);
  if (source.value === undefined) {
    return source.problems.map((problem) => ({
      check: "yaml",
      level: "problem",
      ...problem,
      fix: "Correct the file.",
    }));
  }
  const root = new YamlView(source, source.value, []);
  const rendered = renderExpected(config);
  const findings = [...checkEdges(root, config, rendered), ...checkClusters(root, config, rendered)];
  return findings.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

function checkEdges(root: YamlView, config: Config, rendered: Rendered): BootstrapFinding[] {
  const listeners = root.at("static_resources", "listeners");
  const edges = listEdges(listeners);
  if (edges.length === 0) {
    const hasDiscovery = root.at("dynamic_resources", "lds_config").exists;
    return findAt(listeners, {
      check: "filter_order",
      level: hasDiscovery ? "unchecked" : "problem",
      message: "no listener here has a connection manager with ext_authz or ext_proc.",
      fix: "Copy the http_filters from `inference-gateway envoy render`.",
    });
  }
  const upstreams = config.upstreams.map(({ name }) => name);
  return edges.flatMap((manager) => [
    ...checkManager(manager, rendered),
    ...checkFilters(manager.at("http_filters"), rendered),
    ...checkRoutes(
      manager,
      rendered,
      new Set([...upstreams, ...calledClusters(manager).map(({ text }) => text)]),
    ),
    ...checkLimits(manager, rendered, config.limits.maxBodyBytes),
    ...checkOwnConnections(manager),
  ]);
}

/** Lists connection managers that call an external service for requests. */
function listEdges(listeners: YamlView): YamlView[] {
  return listeners.items().flatMap((listener) => {
    const chains = [...listener.at("filter_chains").items(), listener.at("default_filter_chain")];
    return chains
      .flatMap((chain) => chain.at("filters").items())
      .filter((filter) => filter.typeName === FILTERS.manager)
      .map((filter) => filter.at("typed_config"))
      .filter((manager) => calledClusters(manager).length > 0);
  });
}

/** Lists the names of the clusters that ext_authz and ext_proc call; a second ext_proc is an endpoint picker's. */
function calledClusters(manager: YamlView): YamlView[] {
  return listOwnFilters(manager).map(calledCluster);
}

function calledCluster(filter: YamlView): YamlView {
  return filter.at("typed_config", "grpc_service", "envoy_grpc", "cluster_name");
}

/** Checks that ext_authz's calls have connections without ext_proc's bodies. */
function checkOwnConnections(manager: YamlView): BootstrapFinding[] {
  const [checks, bodies] = calledClusters(manager);
  if (checks === undefined || bodies === undefined) return [];
  return findUnless(checks.text !== bodies.text, checks, {
    check: "checks_cluster",
    message:
      "ext_authz and ext_proc call the same cluster: checks would wait behind other requests' bodies, and time out with 503.",
    fix: `Write \`cluster_name: ${CHECKS_CLUSTER}\`, and copy this cluster from \`inference-gateway envoy render\`.`,
  });
}

function checkClusters(root: YamlView, config: Config, rendered: Rendered): BootstrapFinding[] {
  const clusters = root.at("static_resources", "clusters");
  const hasDiscovery = root.at("dynamic_resources", "cds_config").exists;
  const filters = listEdges(root.at("static_resources", "listeners")).flatMap(listOwnFilters);
  const names = new Map(filters.map((filter) => [calledCluster(filter).text, filter]));
  const sidecar = [...names].flatMap(([name, filter]) => {
    const cluster = findCluster(clusters, name);
    const isForChecks = filter.typeName === FILTERS.admission;
    if (cluster !== undefined) {
      return isForChecks
        ? checkSidecar(cluster, rendered.checks)
        : [...checkSidecar(cluster, rendered.sidecar), ...checkGracefulClose(root, cluster)];
    }
    return findAt(calledCluster(filter), {
      check: "sidecar_cluster",
      level: hasDiscovery ? "unchecked" : "problem",
      message: `this file has no cluster \`${name}\`.`,
      fix: `Copy the cluster \`${isForChecks ? CHECKS_CLUSTER : SIDECAR_CLUSTER}\` from \`inference-gateway envoy render\`.`,
    });
  });
  return [...sidecar, ...checkUpstreams(clusters, config.upstreams, rendered, hasDiscovery)];
}

/** Checks that body limits of Envoy and of `gateway.yaml` agree. */
function checkLimits(manager: YamlView, rendered: Rendered, maxBodyBytes: number): BootstrapFinding[] {
  const limit = readBodyLimit(manager);
  if (limit === undefined) return [];
  const right = readBodyLimit(rendered.manager)?.number;
  return findUnless(limit.number === right, limit, {
    check: "body_limit",
    message: `Envoy accepts bodies of ${String(limit.value)} bytes, but needs ${right}: limits.max_body_bytes (${maxBodyBytes}) plus what translation can add.`,
    fix: `Write \`max_request_bytes: ${right}\`, or change limits.max_body_bytes.`,
  });
}

function readBodyLimit(manager: YamlView): YamlView | undefined {
  return findFilter(manager.at("http_filters"), FILTERS.buffer)?.at("typed_config", "max_request_bytes");
}
