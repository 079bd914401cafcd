/**
 * Checks whether an operator's Envoy configuration keeps the gateway's promises. Reads a bootstrap and
 * reports what breaks a promise, where, and what to write instead. Each protection and flag of docs/envoy.md
 * has one check, with the gateway's own rendering as the expected value.
 * Checks every connection manager that calls the sidecar and ignores the rest of the file. Parts that come by
 * xDS are invisible here: they are reported as `unchecked`, never as right.
 */
import type { Config } from "../../shared/config/schema.ts";
import { readYaml } from "../../shared/config/load/yaml-source.ts";
import { checkFilters } from "./check-filters.ts";
import { checkManager } from "./check-manager.ts";
import { checkRoutes } from "./check-routes.ts";
import { checkSidecar } from "./check-sidecar.ts";
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
  return listOwnFilters(manager).map((filter) =>
    filter.at("typed_config", "grpc_service", "envoy_grpc", "cluster_name"),
  );
}

function checkClusters(root: YamlView, config: Config, rendered: Rendered): BootstrapFinding[] {
  const clusters = root.at("static_resources", "clusters");
  const hasDiscovery = root.at("dynamic_resources", "cds_config").exists;
  const calls = listEdges(root.at("static_resources", "listeners")).flatMap(calledClusters);
  const names = new Map(calls.map((call) => [call.text, call]));
  const sidecar = [...names].flatMap(([name, call]) => {
    const cluster = findCluster(clusters, name);
    if (cluster !== undefined) return checkSidecar(root, cluster, rendered.sidecar);
    return findAt(call, {
      check: "sidecar_cluster",
      level: hasDiscovery ? "unchecked" : "problem",
      message: `this file has no cluster \`${name}\`.`,
      fix: "Copy the cluster `sidecar` from `inference-gateway envoy render`.",
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
