/**
 * Bootstrap in parts for an existing Envoy: one YAML document per place in its configuration, with
 * instructions above it. Omits listener, TLS and admin interface, which belong to the operator. `config check
 * --envoy` checks the result.
 */
import type { Config } from "../../shared/config/schema.ts";
import { WORKER_CLUSTERS } from "../names.ts";
import { createBootstrap, TOP_LEVEL } from "./render-bootstrap.ts";
import type { RenderOptions } from "./render-options.ts";
import { type EnvoyNode, formatEnvoyYaml, omit, pick } from "./yaml-document.ts";

const SEPARATOR = "---\n";

/** Fields of the connection manager that belong to the operator. */
const OWN = ["@type", "stat_prefix", "codec_type", "server_name"];
/** Fields of the connection manager with separate documents. */
const SEPARATE_FIELDS = ["access_log", "tracing", "local_reply_config", "http_filters", "route_config"];

const TEXTS = {
  top:
    "Top level of the bootstrap. Where the runtime flag cannot be set, give the cluster `sidecar` " +
    "`max_requests_per_connection: 900` instead. With secrets in files, `node` needs an id and a cluster.",
  listener:
    "The listener that clients reach, beside its `address` and `filter_chains`. TLS and address are yours.",
  manager: "The HTTP connection manager of that listener: settings that are locks or bounds.",
  logs:
    "The HTTP connection manager: logs and traces. Yours will do as well, these never show a key or a body; but the last " +
    "log is for the sidecar, put it beside yours.",
  localReplies:
    "The HTTP connection manager: Envoy's own errors in the gateway's shape. The order counts, the first mapper that " +
    "fits is taken: put your own behind the first of these.",
  filters:
    "The HTTP connection manager: the filters, in this order, the router last. A filter of yours that answers by " +
    "itself (health check, IP lists) or compresses answers goes before `ext_authz`; none goes between `ext_authz` " +
    "and the router, none that rewrites paths goes behind `header_to_metadata`.",
  routes:
    "The HTTP connection manager: the routes. Services of yours get a virtual host of their own, or routes before " +
    "these, with ext_authz and ext_proc turned off. The last two of these stay the last of their virtual host: what " +
    "no route matches would pass by ext_authz. One virtual host must take every domain.",
  sidecar: "Members of `static_resources.clusters`: the sidecar, for ext_proc and for ext_authz.",
  upstreams:
    "Members of `static_resources.clusters`: the upstreams, by the names of gateway.yaml. Their files are written by " +
    "`inference-gateway envoy secrets` and must be there when Envoy starts.",
} as const;

interface Snippet {
  /** Instructions: where it goes, and what must be kept. */
  readonly text: string;
  readonly content: EnvoyNode;
}

/**
 * Renders YAML documents in the order of a bootstrap.
 * @throws like `renderBootstrap`.
 */
export function renderSnippets(config: Config, options: RenderOptions = {}): string {
  const snippets = listSnippets(config, options);
  return snippets
    .map(({ text, content }, index) =>
      formatEnvoyYaml(content, `${index + 1} of ${snippets.length}. ${text}`),
    )
    .join(SEPARATOR);
}

function listSnippets(config: Config, options: RenderOptions): Snippet[] {
  const bootstrap = createBootstrap(config, options);
  const { clusters, listeners } = bootstrap.static_resources;
  const [listener] = listeners;
  const manager = listener.filter_chains[0].filters[0]["typed_config"] as EnvoyNode;
  const isSidecar = ({ name }: EnvoyNode): boolean => WORKER_CLUSTERS.some((own) => own === name);
  return [
    { text: TEXTS.top, content: pick(bootstrap, TOP_LEVEL) },
    { text: TEXTS.listener, content: pick(listener, ["per_connection_buffer_limit_bytes"]) },
    { text: TEXTS.manager, content: omit(manager, [...OWN, ...SEPARATE_FIELDS]) },
    { text: TEXTS.logs, content: pick(manager, ["access_log", "tracing"]) },
    { text: TEXTS.localReplies, content: pick(manager, ["local_reply_config"]) },
    { text: TEXTS.filters, content: pick(manager, ["http_filters"]) },
    { text: TEXTS.routes, content: pick(manager, ["route_config"]) },
    { text: TEXTS.sidecar, content: { clusters: clusters.filter(isSidecar) } },
    { text: TEXTS.upstreams, content: { clusters: clusters.filter((cluster) => !isSidecar(cluster)) } },
  ];
}
