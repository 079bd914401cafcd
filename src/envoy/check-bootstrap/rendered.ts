/**
 * Expected parts of a bootstrap, as the gateway renders them for a configuration. Checks take expected values
 * from here, so that each value is only defined where it is rendered; a check only states how an operator may
 * deviate.
 */
import type { Config } from "../../shared/config/schema.ts";
import { createBootstrap } from "../bootstrap/render-bootstrap.ts";
import { plain } from "../bootstrap/yaml-document.ts";
import { CHECKS_CLUSTER, SIDECAR_CLUSTER, WORKER_CLUSTERS } from "../names.ts";
import { FILTERS } from "./filter-types.ts";
import { YamlView } from "./yaml-view.ts";

export interface Rendered {
  readonly listener: YamlView;
  readonly manager: YamlView;
  /** The cluster that ext_proc calls. */
  readonly sidecar: YamlView;
  /** The cluster that ext_authz calls. */
  readonly checks: YamlView;
  readonly clusters: YamlView;
}

/** For rendered values, which have no line. */
const NO_TEXT = { lineOf: () => undefined };

/**
 * Renders the parts. Never throws: a socket directory whose path is too long for a bootstrap does not matter
 * to checks.
 */
export function renderExpected(config: Config): Rendered {
  const bootstrap = createBootstrap({ ...config, sidecar: { ...config.sidecar, sockets: "/run" } }, {});
  const root = new YamlView(NO_TEXT, plain(bootstrap), []);
  const listener = root.at("static_resources", "listeners", 0);
  const clusters = root.at("static_resources", "clusters");
  return {
    listener,
    manager: listener.at("filter_chains", 0, "filters", 0, "typed_config"),
    sidecar: findCluster(clusters, SIDECAR_CLUSTER) ?? clusters.at(0),
    checks: findCluster(clusters, CHECKS_CLUSTER) ?? clusters.at(1),
    clusters,
  };
}

export function findCluster(clusters: YamlView, name: string): YamlView | undefined {
  return clusters.items().find((one) => one.at("name").text === name);
}

/** Finds the filter of a type that calls the sidecar, otherwise the first: a guardrail's comes before the gateway's. */
export function findFilter(filters: YamlView, type: string): YamlView | undefined {
  const alike = filters.items().filter((one) => one.typeName === type);
  return alike.find(callsSidecar) ?? alike[0];
}

function callsSidecar(filter: YamlView): boolean {
  const call = filter.at("typed_config", "grpc_service", "envoy_grpc", "cluster_name");
  return WORKER_CLUSTERS.includes(call.text);
}

/** Lists the two filters of a connection manager that call the sidecar. */
export function listOwnFilters(manager: YamlView): YamlView[] {
  const filters = manager.at("http_filters");
  return [FILTERS.admission, FILTERS.processing].flatMap((type) => findFilter(filters, type) ?? []);
}
