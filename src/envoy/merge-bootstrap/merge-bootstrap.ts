/**
 * Merges the gateway into an operator's own bootstrap: the output of `envoy render --snippets`, each part in
 * its place, without other changes. Missing parts are added; an operator's setting stays unless it breaks a
 * promise of the gateway (`config check --envoy` decides). Parts that cannot be merged are reported by name,
 * and then nothing is changed. Merging again changes nothing; after a change of `gateway.yaml`, the marked
 * parts are rewritten.
 */
import type { YAMLMap } from "yaml";
import type { Config } from "../../shared/config/schema.ts";
import { type Bootstrap, createBootstrap } from "../bootstrap/render-bootstrap.ts";
import type { RenderOptions } from "../bootstrap/render-options.ts";
import { type EnvoyNode, omit, pick } from "../bootstrap/yaml-document.ts";
import { checkBootstrap } from "../check-bootstrap/check-bootstrap.ts";
import { formatFinding } from "../check-bootstrap/finding.ts";
import {
  findMap,
  findField,
  MergeRefusal,
  parseBootstrap,
  type Place,
  printChanged,
} from "./bootstrap-file.ts";
import { findEdge } from "./find-edge.ts";
import { mergeFilters } from "./merge-filters.ts";
import {
  type IsWrong,
  mergeAccessLogs,
  mergeClusters,
  mergeExtensions,
  mergeFields,
  mergeLocalReplies,
  mergeRuntime,
} from "./merge-parts.ts";
import { mergeRoutes } from "./merge-routes.ts";

export interface MergeOptions extends RenderOptions {
  /** Listener, such as "edge", or one of its filter chains, "edge/public"; null: the only one. */
  readonly listener: string | null;
  /** Host names for the gateway, if a virtual host of the operator matches all others; empty: all. */
  readonly domains: readonly string[];
}

/** Fields of the connection manager that have their own merge rules, or belong to the operator. */
const APART = [
  "@type",
  "stat_prefix",
  "codec_type",
  "server_name",
  "access_log",
  "tracing",
  "local_reply_config",
  "early_header_mutation_extensions",
  "http_filters",
  "route_config",
];

/**
 * Returns the bootstrap with the gateway in it.
 * @throws MergeRefusal naming each place that cannot be merged, and why.
 */
export function mergeBootstrap(text: string, config: Config, options: MergeOptions): string {
  const file = parseBootstrap(text);
  const rendered = createBootstrap(config, options);
  const hasFiles =
    config.upstreams.some(({ credentials }) => credentials.length > 0) || config.sidecar.tls !== null;
  const parts = { rendered, hasFiles, ...options };
  mergeParts(file.root, parts, () => false);
  const added = printChanged(file);
  const wrong = listWrong(added, config);
  if (wrong.length === 0) return added;
  mergeParts(file.root, parts, (path) => wrong.some((one) => one.path.startsWith(path)));
  const merged = printChanged(file);
  const remaining = listWrong(merged, config);
  if (remaining.length === 0) return merged;
  throw new MergeRefusal(remaining.map(({ line: _line, ...finding }) => formatFinding(finding)));
}

function listWrong(text: string, config: Config) {
  return checkBootstrap(text, config).filter(({ level }) => level === "problem");
}

interface Parts extends Pick<MergeOptions, "listener" | "domains"> {
  readonly rendered: Bootstrap;
  /** True if Envoy reads files that it finds by its node's name. */
  readonly hasFiles: boolean;
}

function mergeParts(root: Place<YAMLMap>, parts: Parts, isWrong: IsWrong): void {
  const { rendered, hasFiles, domains } = parts;
  const names = [...(hasFiles ? ["node"] : []), "grpc_async_client_manager_config"];
  mergeFields(root, pick(rendered, names), isWrong);
  mergeRuntime(root, rendered, isWrong);
  const edge = findEdge(root, parts.listener);
  const [listener] = rendered.static_resources.listeners;
  const manager = listener.filter_chains[0].filters[0]["typed_config"] as EnvoyNode;
  mergeFields(edge.listener, pick(listener, ["per_connection_buffer_limit_bytes"]), isWrong);
  mergeManager(edge.manager, manager, isWrong);
  mergeRoutes(edge.manager, { routes: manager["route_config"] as EnvoyNode, domains }, isWrong);
  const resources = findMap(root, "static_resources");
  if (resources !== null) mergeClusters(resources, rendered.static_resources.clusters, isWrong);
}

function mergeManager(manager: Place<YAMLMap>, wanted: EnvoyNode, isWrong: IsWrong): void {
  mergeFields(manager, omit(wanted, APART), isWrong);
  mergeExtensions(manager, wanted);
  mergeAccessLogs(manager, wanted);
  // The operator's own tracing is sufficient.
  if (findField(manager, "tracing") === null) mergeFields(manager, pick(wanted, ["tracing"]), isWrong);
  mergeLocalReplies(manager, wanted);
  mergeFilters(manager, wanted["http_filters"] as readonly EnvoyNode[], isWrong);
}
