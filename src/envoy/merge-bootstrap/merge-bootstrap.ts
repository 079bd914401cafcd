/**
 * Merges the gateway into an operator's own bootstrap: the parts of `envoy render --snippets`, each as a marked
 * block in its place. Only adds lines. Whatever this cannot do is reported by its place, and then nothing is
 * changed: a setting of the operator that breaks a promise of the gateway (`config check --envoy` decides), or
 * a part that is not written in lines of its own. Merging again renews the blocks.
 */
import type { YAMLMap, YAMLSeq } from "yaml";
import type { Config } from "../../shared/config/schema.ts";
import { createBootstrap } from "../bootstrap/render-bootstrap.ts";
import type { RenderOptions } from "../bootstrap/render-options.ts";
import { type EnvoyNode, omit, pick } from "../bootstrap/yaml-document.ts";
import { checkBootstrap } from "../check-bootstrap/check-bootstrap.ts";
import { formatFinding } from "../check-bootstrap/finding.ts";
import { FILTERS } from "../check-bootstrap/filter-types.ts";
import { END_REPORTS_LOG } from "../names.ts";
import {
  BootstrapFile,
  findField,
  findList,
  findMap,
  membersOf,
  MergeRefusal,
  type Place,
  refuse,
  textOf,
} from "./bootstrap-file.ts";
import { findEdge } from "./find-edge.ts";
import { mergeRoutes } from "./merge-routes.ts";

export interface MergeOptions extends RenderOptions {
  /** Listener, such as "edge", or one of its filter chains, "edge/public"; null: the only one. */
  readonly listener: string | null;
  /** Host names for the gateway, if a virtual host of the operator matches all others; empty: all. */
  readonly domains: readonly string[];
}

/** Fields of the connection manager that belong to the operator. */
const OWN = ["@type", "stat_prefix", "codec_type", "server_name"];
/** Fields of the connection manager that are added as a whole, or have their own rules. */
const WHOLE = ["access_log", "tracing", "local_reply_config", "early_header_mutation_extensions"];

/**
 * Returns the bootstrap with the gateway in it.
 * @throws MergeRefusal naming each place that cannot be merged, and why.
 */
export function mergeBootstrap(text: string, config: Config, options: MergeOptions): string {
  const file = new BootstrapFile(text);
  const rendered = createBootstrap(config, options);
  const hasFiles =
    config.upstreams.some(({ credentials }) => credentials.length > 0) || config.sidecar.tls !== null;
  const { listener, manager } = findEdge(file.root, options.listener);
  const [ours] = rendered.static_resources.listeners;
  const wanted = ours.filter_chains[0].filters[0]["typed_config"] as EnvoyNode;
  // Envoy finds the files by its node's name.
  const top = [...(hasFiles ? ["node"] : []), "grpc_async_client_manager_config"];
  mergeRuntime(file, pick(rendered, [...top, "layered_runtime"]));
  file.addFields(listener, pick(ours, ["per_connection_buffer_limit_bytes"]));
  mergeManager(file, manager, wanted);
  mergeFilters(file, manager, wanted["http_filters"] as readonly EnvoyNode[]);
  mergeRoutes(file, manager, { routes: wanted["route_config"] as EnvoyNode, domains: options.domains });
  const resources = findMap(file.root, "static_resources");
  if (resources !== null) mergeClusters(file, resources, rendered.static_resources.clusters);
  const merged = file.print();
  const problems = checkBootstrap(merged, config).filter(({ level }) => level === "problem");
  if (problems.length === 0) return merged;
  throw new MergeRefusal(problems.map(({ line: _line, ...finding }) => formatFinding(finding)));
}

/** Adds the runtime flag to an existing static layer, or to a new one. */
function mergeRuntime(file: BootstrapFile, wanted: EnvoyNode): void {
  const name = "layered_runtime";
  const runtime = findMap(file.root, name);
  const layers = runtime === null ? null : findList(runtime, "layers");
  if (layers === null) return file.addFields(file.root, wanted);
  file.addFields(file.root, omit(wanted, [name]));
  const [ours = {}] = (wanted[name] as EnvoyNode)["layers"] as readonly EnvoyNode[];
  const layer = membersOf(layers).flatMap((one) => findMap(one, "static_layer") ?? [])[0];
  if (layer !== undefined) return file.addFields(layer, ours["static_layer"] as EnvoyNode);
  file.addMembers(layers, [{ ...ours, name: "inference-gateway" }], { name: "layer" });
}

function mergeManager(file: BootstrapFile, manager: Place<YAMLMap>, wanted: EnvoyNode): void {
  const present = WHOLE.filter((name) => findField(manager, name) !== null);
  file.addFields(manager, omit(wanted, [...OWN, ...present, "http_filters", "route_config"]));
  const listOf = (map: EnvoyNode, name: string) => map[name] as readonly EnvoyNode[];
  // The operator's own log and tracing are sufficient, except for the reports to the sidecar.
  const logs = findList(manager, "access_log");
  const reports = listOf(wanted, "access_log").filter((log) => log["name"] === END_REPORTS_LOG);
  if (logs !== null) file.addMembers(logs, reports, { name: END_REPORTS_LOG });
  const early = "early_header_mutation_extensions";
  const extensions = findList(manager, early);
  if (extensions !== null) file.addMembers(extensions, listOf(wanted, early), { name: early });
  const replies = findMap(manager, "local_reply_config");
  if (replies === null) return;
  const ours = wanted["local_reply_config"] as EnvoyNode;
  file.addFields(replies, ours);
  const mappers = findList(replies, "mappers");
  if (mappers === null) return;
  // First the mapper that passes the sidecar's replies, then the operator's, then Envoy's errors.
  const [first = {}, ...errors] = listOf(ours, "mappers");
  file.addMembers(mappers, [first], { name: "replies of the sidecar", index: 0 });
  file.addMembers(mappers, errors, { name: "errors of Envoy" });
}

/** Adds our filters before the operator's router, or where they were before. */
function mergeFilters(file: BootstrapFile, manager: Place<YAMLMap>, wanted: readonly EnvoyNode[]): void {
  const list = findList(manager, "http_filters") ?? refuseAt(manager, "it has no `http_filters`.");
  const filters = membersOf(list);
  const router = filters.findLastIndex((filter) => isOf(filter, FILTERS.router));
  const [last] = wanted.slice(-1);
  if (router === -1 || last === undefined) refuseAt(list, "it has no router.");
  refuseOtherServices(file, list, filters);
  for (const filter of wanted.slice(0, -1)) {
    file.addMembers(list, [filter], { name: filter["name"] as string, index: router });
  }
  file.addFields(filters[router] as Place<YAMLMap>, omit(last, ["name"]));
}

/** Refuses filters that call another service before the key is checked; a guardrail may follow ext_authz. */
function refuseOtherServices(
  file: BootstrapFile,
  list: Place<YAMLSeq>,
  filters: readonly Place<YAMLMap>[],
): void {
  const admission = file.earlierIn(list, "envoy.filters.http.ext_authz") ?? Infinity;
  for (const filter of filters) {
    const isLate = file.lineOf(filter.node.range?.[0] ?? 0) >= admission;
    if (isOf(filter, FILTERS.admission) || (isOf(filter, FILTERS.processing) && !isLate)) {
      const filterName = isOf(filter, FILTERS.admission) ? "ext_authz" : "ext_proc";
      refuseAt(
        filter,
        `this ${filterName} filter conflicts with the gateway's: remove the filter, or use a separate listener for the gateway (\`envoy render\`).`,
      );
    }
  }
}

function isOf(filter: Place<YAMLMap>, type: string): boolean {
  const config = findMap(filter, "typed_config");
  return config !== null && textOf(config, "@type")?.endsWith(type) === true;
}

function mergeClusters(file: BootstrapFile, resources: Place<YAMLMap>, wanted: readonly EnvoyNode[]): void {
  const list = findList(resources, "clusters");
  if (list === null) return file.addFields(resources, { clusters: wanted });
  const names = new Set(wanted.map(({ name }) => name));
  for (const cluster of membersOf(list)) {
    const name = textOf(cluster, "name") ?? "";
    if (!names.has(name)) continue;
    refuseAt(
      cluster,
      `the gateway needs a cluster \`${name}\` of its own: rename the upstream in gateway.yaml, or remove the cluster.`,
    );
  }
  file.addMembers(list, wanted, { name: "clusters" });
}

function refuseAt(place: Place, reason: string): never {
  throw refuse(place, reason);
}
