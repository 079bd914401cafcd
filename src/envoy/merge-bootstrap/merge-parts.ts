/** Merges fields and members of lists: adds missing ones; an operator's differing value stays unless it conflicts. */
import { isMap, type YAMLMap } from "yaml";
import { formatPath } from "../../shared/config/config-error.ts";
import { type EnvoyNode, type EnvoyValue, OneLine, plain } from "../bootstrap/yaml-document.ts";
import { END_REPORTS_LOG, GRACEFUL_CLOSE_FLAG } from "../names.ts";
import {
  findField,
  findMap,
  isFieldMarked,
  List,
  meaningOf,
  type Place,
  refuse,
  setField,
  textOf,
} from "./bootstrap-file.ts";

/** Returns whether the value at a path breaks a promise of the gateway, as `config check --envoy` decides. */
export type IsWrong = (path: string) => boolean;

/** Adds each field that `target` lacks, down to the innermost; replaces wrong ones. */
export function mergeFields(target: Place<YAMLMap>, wanted: EnvoyNode, isWrong: IsWrong): void {
  for (const [name, value] of Object.entries(wanted)) {
    if (name.startsWith("#")) continue;
    const found = findField(target, name);
    if (found === null) {
      setField(target, wanted, name);
      continue;
    }
    const inner = value instanceof OneLine ? value.value : value;
    if (isSame(found, value)) continue;
    if (isMap(found.node) && isFields(inner)) {
      mergeFields({ node: found.node, path: found.path }, inner, isWrong);
    } else if (isWrong(formatPath(found.path))) setField(target, wanted, name);
  }
}

/** Returns whether a node has the meaning of a part of ours, in any spelling and order of fields. */
export function isSame({ node }: Place, value: EnvoyValue): boolean {
  return meaningOf(node.toJSON()) === meaningOf(plain(value));
}

function isFields(value: EnvoyValue): value is EnvoyNode {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof OneLine);
}

/**
 * Merges clusters by name: ours are rewritten; an operator's cluster with such a name stays if it keeps the
 * promises.
 */
export function mergeClusters(
  resources: Place<YAMLMap>,
  wanted: readonly EnvoyNode[],
  isWrong: IsWrong,
): void {
  const list = new List(resources, "clusters");
  const first = list.items.length;
  for (const [place, cluster] of wanted.entries()) {
    const { name } = plain(cluster) as { readonly name: string };
    const index = list.items.findIndex((one) => textOf(one, "name") === name);
    const found = list.items[index];
    if (found === undefined) list.insert(first + place, cluster);
    else if (isSame(found, cluster)) continue;
    else if (list.isMarked(index)) list.replace(index, cluster);
    else if (isWrong(formatPath(found.path))) {
      throw refuse(
        found,
        `your own cluster \`${name}\` differs from the one that the gateway needs: rename the upstream in gateway.yaml, or remove the cluster.`,
      );
    }
  }
}

/** Merges `early_header_mutation_extensions`: adds ours. */
export function mergeExtensions(manager: Place<YAMLMap>, wanted: EnvoyNode): void {
  const name = "early_header_mutation_extensions";
  mergeMember(manager, { wanted, name, ours: (wanted[name] as readonly EnvoyNode[])[0] });
}

/** Merges `access_log`: the operator's own log is sufficient, except for the reports to the sidecar. */
export function mergeAccessLogs(manager: Place<YAMLMap>, wanted: EnvoyNode): void {
  const name = "access_log";
  const logs = wanted[name] as readonly EnvoyNode[];
  mergeMember(manager, { wanted, name, ours: logs.find((log) => log["name"] === END_REPORTS_LOG) });
}

/** Adds our member to a list; writes the whole list if it is missing. */
function mergeMember(
  manager: Place<YAMLMap>,
  { wanted, name, ours = {} }: { wanted: EnvoyNode; name: string; ours: EnvoyNode | undefined },
): void {
  const list = new List(manager, name);
  if (list.items.length === 0) return setField(manager, wanted, name);
  if (list.items.some((one) => isSame(one, ours))) return;
  const index = list.items.findIndex((_, place) => list.isMarked(place));
  if (index === -1) list.insert(list.items.length, ours);
  else list.replace(index, ours);
}

/**
 * Merges `local_reply_config`: first the mapper that passes the sidecar's replies, then the operator's, then
 * Envoy's errors.
 */
export function mergeLocalReplies(manager: Place<YAMLMap>, wanted: EnvoyNode): void {
  const name = "local_reply_config";
  const found = findMap(manager, name);
  if (found !== null && isSame(found, wanted[name] ?? null)) return;
  if (found === null || isFieldMarked(manager, name)) return setField(manager, wanted, name, true);
  const ours = (wanted[name] as EnvoyNode)["mappers"] as readonly EnvoyNode[];
  const list = new List(found, "mappers");
  const known = new Set(list.items.map(({ node }) => meaningOf(node.toJSON())));
  const missing = ours.filter((mapper) => !known.has(meaningOf(plain(mapper))));
  for (const mapper of missing) {
    list.insert(mapper === ours[0] ? 0 : Infinity, mapper, { isMarked: false });
  }
}

/** Merges `layered_runtime`: adds the flag to an existing static layer, or to a new one. */
export function mergeRuntime(root: Place<YAMLMap>, wanted: EnvoyNode, isWrong: IsWrong): void {
  const runtime = findMap(root, "layered_runtime");
  if (runtime === null) return setField(root, wanted, "layered_runtime");
  const ours = ((wanted["layered_runtime"] as EnvoyNode)["layers"] as readonly EnvoyNode[])[0] ?? {};
  const layers = new List(runtime, "layers");
  const layer = layers.items.map((one) => findMap(one, "static_layer")).find((one) => one !== null);
  if (layer === undefined || layer === null) {
    layers.insert(Infinity, { ...ours, name: "inference-gateway" });
  } else if (!hasFlag(layer)) mergeFields(layer, ours["static_layer"] as EnvoyNode, isWrong);
}

/** Any other value conflicts; `isWrong` does not recognize a flag with dots in its name. */
function hasFlag(layer: Place<YAMLMap>): boolean {
  const fields = layer.node.toJSON() as Readonly<Record<string, EnvoyValue>>;
  if (fields[GRACEFUL_CLOSE_FLAG] === false) {
    throw refuse(layer, `${GRACEFUL_CLOSE_FLAG} is false, but the gateway needs true.`);
  }
  return GRACEFUL_CLOSE_FLAG in fields;
}
