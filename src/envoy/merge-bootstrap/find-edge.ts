/** Finds the HTTP connection manager for the gateway: the only one, or the named one. */
import type { YAMLMap } from "yaml";
import { FILTERS } from "../check-bootstrap/filter-types.ts";
import { findList, findMap, membersOf, type Place, refuse, textOf } from "./bootstrap-file.ts";

export interface Edge {
  readonly listener: Place<YAMLMap>;
  /** `typed_config` of the connection manager. */
  readonly manager: Place<YAMLMap>;
  /** "edge", or "edge/public" if the listener has several filter chains. */
  readonly name: string;
}

/** @throws MergeRefusal if there is none, or it is ambiguous. */
export function findEdge(root: Place<YAMLMap>, wanted: string | null): Edge {
  const place = { path: ["static_resources.listeners"] };
  const resources = findMap(root, "static_resources");
  const listeners = resources === null ? [] : membersOf(findList(resources, "listeners"));
  const edges = listeners.flatMap(listEdges);
  const names = edges.map(({ name }) => name).join(", ");
  if (edges.length === 0) {
    throw refuse(
      place,
      "no listener has an HTTP connection manager. Change xDS resources at their source. For an Envoy " +
        "without a connection manager, use the whole bootstrap of `envoy render`.",
    );
  }
  const found = edges.filter(
    ({ name, listener }) => wanted === null || name === wanted || textOf(listener, "name") === wanted,
  );
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const reason =
    only === undefined
      ? `no listener \`${wanted ?? ""}\` with an HTTP connection manager exists`
      : "several HTTP connection managers exist";
  throw refuse(place, `${reason}: name one by --listener: ${names}.`);
}

function listEdges(listener: Place<YAMLMap>, index: number): Edge[] {
  const name = textOf(listener, "name") ?? String(index);
  const spare = findMap(listener, "default_filter_chain");
  const chains = [...membersOf(findList(listener, "filter_chains")), ...(spare === null ? [] : [spare])];
  const edges = chains.flatMap((chain, place) =>
    membersOf(findList(chain, "filters")).flatMap((filter) => {
      const manager = findMap(filter, "typed_config");
      if (manager === null || textOf(manager, "@type")?.endsWith(FILTERS.manager) !== true) return [];
      return [{ listener, manager, chain: textOf(chain, "name") ?? String(place) }];
    }),
  );
  return edges.map(({ chain, ...edge }) => ({
    ...edge,
    name: edges.length === 1 ? name : `${name}/${chain}`,
  }));
}
