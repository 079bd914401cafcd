/**
 * What this gateway itself renders for a configuration, part by part. Checks take from here what they expect, so that a
 * value stands once, where it is rendered; they state only how far an operator may be from it.
 */
import type { Config } from "../../shared/config/schema.ts";
import { createBootstrap } from "../bootstrap/render-bootstrap.ts";
import { plain } from "../bootstrap/yaml-document.ts";
import { SIDECAR_CLUSTER } from "../names.ts";
import { FILTERS } from "./filter-types.ts";
import { YamlView } from "./yaml-view.ts";

export interface Rendered {
  readonly listener: YamlView;
  readonly manager: YamlView;
  readonly sidecar: YamlView;
  readonly clusters: YamlView;
}

/** Values that were never written: nothing has a line. */
const NO_TEXT = { lineOf: () => undefined };

/** Never throws: of the sockets' folder, whose path may be too long for a bootstrap, no check wants to know. */
export function renderExpected(config: Config): Rendered {
  const bootstrap = createBootstrap({ ...config, sidecar: { ...config.sidecar, sockets: "/run" } }, {});
  const root = new YamlView(NO_TEXT, plain(bootstrap), []);
  const listener = root.at("static_resources", "listeners", 0);
  const clusters = root.at("static_resources", "clusters");
  return {
    listener,
    manager: listener.at("filter_chains", 0, "filters", 0, "typed_config"),
    sidecar: findCluster(clusters, SIDECAR_CLUSTER) ?? clusters.at(0),
    clusters,
  };
}

/** The cluster of this name. */
export function findCluster(clusters: YamlView, name: string): YamlView | undefined {
  return clusters.items().find((one) => one.at("name").text === name);
}

/** The first filter of a type. */
export function findFilter(filters: YamlView, type: string): YamlView | undefined {
  return filters.items().find((one) => one.typeName === type);
}

/** The two filters of a connection manager that ask the sidecar: the first of their types. */
export function listOwnFilters(manager: YamlView): YamlView[] {
  const filters = manager.at("http_filters");
  return [FILTERS.admission, FILTERS.processing].flatMap((type) => findFilter(filters, type) ?? []);
}
