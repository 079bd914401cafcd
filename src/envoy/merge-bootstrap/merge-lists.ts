/** Merges lists that contain members of the gateway and of the operator: clusters, mappers, mutations, layers. */
import type { YAMLMap } from "yaml";
import { type EnvoyNode, type EnvoyValue, plain } from "../bootstrap/yaml-document.ts";
import { END_REPORTS_LOG, GRACEFUL_CLOSE_FLAG } from "../names.ts";
import { pathOf, textOf } from "./find-edge.ts";
import { formatField, formatItem } from "./format-part.ts";
import { isSame, meaningOf, mergeFields, type Merging } from "./merge-fields.ts";
import { refuse } from "./merge-refusal.ts";
import type { Place } from "./yaml-text.ts";

/**
 * Merges clusters by name: ours are rewritten; an operator's cluster with such a name stays if it keeps the
 * promises.
 */
export function mergeClusters(
  merging: Merging,
  resources: Place<YAMLMap>,
  wanted: readonly EnvoyNode[],
): void {
  const { yaml, isWrong } = merging;
  const clusters = yaml.items(resources, "clusters");
  if (clusters.length === 0) {
    yaml.replaceField(resources, "clusters", formatMarked("clusters", wanted));
    return;
  }
  for (const cluster of wanted) {
    const { name } = plain(cluster) as { readonly name: string };
    const index = clusters.findIndex((one) => textOf(yaml, one, "name") === name);
    const found = clusters[index];
    if (found === undefined) yaml.insertItem(resources, "clusters", clusters.length, formatItem(cluster));
    else if (isSame(found.node, cluster)) continue;
    else if (yaml.isItemMarked(resources, "clusters", index)) {
      yaml.replaceItem(resources, "clusters", index, formatItem(cluster));
    } else if (isWrong(pathOf(found))) {
      throw refuse(
        pathOf(found),
        `your own cluster \`${name}\` differs from the one that the gateway needs: rename the upstream in gateway.yaml, or remove the cluster.`,
      );
    }
  }
}

function formatMarked(name: string, items: readonly EnvoyNode[]) {
  const lines = items.flatMap((item) => formatItem(item).map((line) => `  ${line}`));
  return { lines: [`${name}:`, ...lines], flow: `${name}: ${JSON.stringify(items.map(plain))}` };
}

/** Merges `early_header_mutation_extensions`: adds ours. */
export function mergeExtensions(merging: Merging, manager: Place<YAMLMap>, wanted: EnvoyNode): void {
  const name = "early_header_mutation_extensions";
  mergeMember(merging, manager, { wanted, name, ours: (wanted[name] as readonly EnvoyNode[])[0] });
}

/** Merges `access_log`: the operator's own log is sufficient, except for the reports to the sidecar. */
export function mergeAccessLogs(merging: Merging, manager: Place<YAMLMap>, wanted: EnvoyNode): void {
  const name = "access_log";
  const logs = wanted[name] as readonly EnvoyNode[];
  mergeMember(merging, manager, { wanted, name, ours: logs.find((log) => log["name"] === END_REPORTS_LOG) });
}

/** Adds our member to a list; writes the whole list if it is missing. */
function mergeMember(
  { yaml }: Merging,
  manager: Place<YAMLMap>,
  { wanted, name, ours = {} }: { wanted: EnvoyNode; name: string; ours: EnvoyNode | undefined },
): void {
  const found = yaml.items(manager, name);
  if (found.length === 0) yaml.replaceField(manager, name, formatField(wanted, name));
  else if (found.some(({ node }) => isSame(node, ours))) return;
  else {
    const index = found.findIndex((_, place) => yaml.isItemMarked(manager, name, place));
    if (index === -1) yaml.insertItem(manager, name, found.length, formatItem(ours));
    else yaml.replaceItem(manager, name, index, formatItem(ours));
  }
}

/**
 * Merges `local_reply_config`: first the mapper that passes the sidecar's replies, then the operator's, then
 * Envoy's errors.
 */
export function mergeLocalReplies(merging: Merging, manager: Place<YAMLMap>, wanted: EnvoyNode): void {
  const { yaml } = merging;
  const name = "local_reply_config";
  const found = yaml.map(manager, name);
  const part = () => formatField(wanted, name, { isMarked: true });
  if (found === null) return yaml.replaceField(manager, name, part());
  if (isSame(found.node, wanted[name] ?? null)) return;
  if (yaml.isFieldMarked(manager, name)) return yaml.replaceField(manager, name, part(), true);
  const ours = (wanted[name] as EnvoyNode)["mappers"] as readonly EnvoyNode[];
  const theirs = yaml.items(found, "mappers");
  if (theirs.length === 0) {
    yaml.replaceField(found, "mappers", formatField({ mappers: ours }, "mappers"));
    return;
  }
  const known = new Set(theirs.map(({ node }) => meaningOf(node.toJSON())));
  for (const [index, mapper] of ours.entries()) {
    if (known.has(meaningOf(plain(mapper)))) continue;
    yaml.insertItem(found, "mappers", index === 0 ? 0 : theirs.length, formatItem(mapper, {}));
  }
}

/** Merges `layered_runtime`: adds the flag to an existing static layer, or to a new one. */
export function mergeRuntime(merging: Merging, wanted: EnvoyNode): void {
  const { yaml } = merging;
  const runtime = yaml.map(yaml.root, "layered_runtime");
  const layers = runtime === null ? [] : yaml.items(runtime, "layers");
  if (runtime === null || layers.length === 0) {
    if (runtime === null) {
      yaml.replaceField(yaml.root, "layered_runtime", formatField(wanted, "layered_runtime"));
    } else {
      yaml.replaceField(runtime, "layers", formatField(wanted["layered_runtime"] as EnvoyNode, "layers"));
    }
    return;
  }
  const ours = ((wanted["layered_runtime"] as EnvoyNode)["layers"] as readonly EnvoyNode[])[0] ?? {};
  const layer = layers.map((one) => yaml.map(one, "static_layer")).find((one) => one !== null);
  if (layer === undefined || layer === null) {
    yaml.insertItem(runtime, "layers", layers.length, formatItem({ ...ours, name: "inference-gateway" }));
  } else if (!hasFlag(layer)) mergeFields(merging, layer, ours["static_layer"] as EnvoyNode);
}

/** Any other value conflicts; `isWrong` does not recognize a flag with dots in its name. */
function hasFlag(layer: Place<YAMLMap>): boolean {
  const fields = layer.node.toJSON() as Readonly<Record<string, EnvoyValue>>;
  if (fields[GRACEFUL_CLOSE_FLAG] === false) {
    throw refuse(pathOf(layer), `${GRACEFUL_CLOSE_FLAG} is false, but the gateway needs true.`);
  }
  return GRACEFUL_CLOSE_FLAG in fields;
}
