/** Finds the HTTP connection manager for the gateway: the only one, or the named one. */
import type { YAMLMap } from "yaml";
import { formatPath } from "../../shared/config/config-error.ts";
import { FILTERS } from "../check-bootstrap/filter-types.ts";
import { refuse } from "./merge-refusal.ts";
import type { Place, YamlText } from "./yaml-text.ts";

export interface Edge {
  readonly listener: Place<YAMLMap>;
  /** `typed_config` of the connection manager. */
  readonly manager: Place<YAMLMap>;
  /** "edge", or "edge/public" if the listener has several filter chains. */
  readonly name: string;
}

/** @throws MergeRefusal if there is none, or it is ambiguous. */
export function findEdge(yaml: YamlText, wanted: string | null): Edge {
  const resources = yaml.map(yaml.root, "static_resources");
  const listeners = resources === null ? [] : yaml.items(resources, "listeners");
  const edges = listeners.flatMap((listener, index) => listEdges(yaml, listener, index));
  const names = edges.map(({ name }) => name).join(", ");
  if (edges.length === 0) {
    throw refuse(
      "static_resources.listeners",
      "no listener has an HTTP connection manager. Change xDS resources at their source. For an Envoy " +
        "without a connection manager, use the whole bootstrap of `envoy render`.",
    );
  }
  const found = edges.filter(
    ({ name, listener }) => wanted === null || name === wanted || textOf(yaml, listener, "name") === wanted,
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const reason =
    only === undefined
      ? `no listener \`${wanted ?? ""}\` with an HTTP connection manager exists`
      : "several HTTP connection managers exist";
  throw refuse("static_resources.listeners", `${reason}: name one by --listener: ${names}.`);
}

function listEdges(yaml: YamlText, listener: Place<YAMLMap>, index: number): Edge[] {
  const name = textOf(yaml, listener, "name") ?? String(index);
  const spare = yaml.map(listener, "default_filter_chain");
  const chains = [...yaml.items(listener, "filter_chains"), ...(spare === null ? [] : [spare])];
  const edges = chains.flatMap((chain, place) =>
    yaml.items(chain, "filters").flatMap((filter) => {
      const manager = yaml.map(filter, "typed_config");
      if (manager === null || textOf(yaml, manager, "@type")?.endsWith(FILTERS.manager) !== true) return [];
      return [{ listener, manager, chain: textOf(yaml, chain, "name") ?? String(place) }];
    }),
  );
  return edges.map(({ chain, ...edge }) => ({
    ...edge,
    name: edges.length === 1 ? name : `${name}/${chain}`,
  }));
}

/** Returns the text of a field. */
export function textOf(yaml: YamlText, map: Place<YAMLMap>, name: string): string | null {
  const value: unknown = yaml.field(map, name)?.node.toJSON();
  return typeof value === "string" ? value : null;
}

/** Formats "static_resources.listeners[0]". */
export function pathOf({ path }: Place): string {
  return formatPath(path);
}
