/**
 * Envoy's bootstrap for a `gateway.yaml`: listener, filters, routes, clusters. Operators read, own and edit
 * the output, so every setting that is not obvious has a comment with its reason.
 * Must never contain a secret (credentials are in the files of `writeUpstreamSecrets`), and must never let a
 * request reach an upstream without ext_authz and ext_proc: a missing sidecar gives 503, a failing one 500.
 * @see docs/envoy.md for the reason of each protection.
 */
import { join } from "node:path";
import { pinsSessions } from "../../shared/config/affinity.ts";
import type { Config } from "../../shared/config/schema.ts";
import { ENVOY_ADMIN_SOCKET_NAME, GRACEFUL_CLOSE_FLAG } from "../names.ts";
import { createBodyLimits } from "./body-limits.ts";
import { createConnectionManager } from "./connection-manager.ts";
import { createJwksClusters } from "./jwt-providers.ts";
import { createListenerTls } from "./listener-tls.ts";
import { createOverloadManager } from "./overload.ts";
import {
  type EdgeTimeouts,
  formatSeconds,
  type RenderOptions,
  type ResolvedOptions,
  resolveOptions,
} from "./render-options.ts";
import { createSidecarClusterTls } from "./sidecar-cluster-tls.ts";
import { createSidecarClusters } from "./sidecar-cluster.ts";
import { checkSocketPath, listSidecarEndpoints } from "./sidecar-endpoints.ts";
import { createTracingClusters } from "./tracing.ts";
import { createUpstreamCluster } from "./upstream-cluster.ts";
import { listCredentialFiles } from "./upstream-secrets.ts";
import { type AuthorityPlaces, findSystemCaFile } from "./upstream-tls.ts";
import { type EnvoyNode, formatEnvoyYaml, oneLine, typed } from "./yaml-document.ts";

const HEADING =
  "Envoy for the inference gateway, made by `inference-gateway envoy render --config gateway.yaml`.\n" +
  "Start Envoy with --disable-hot-restart. What each part is for: docs/envoy.md.";

/** Structure of the bootstrap, as `render-snippets.ts` needs it. */
export interface Bootstrap extends EnvoyNode {
  readonly static_resources: {
    readonly listeners: readonly [ListenerNode];
    readonly clusters: readonly EnvoyNode[];
  };
}

interface ListenerNode extends EnvoyNode {
  readonly filter_chains: readonly [EnvoyNode & { readonly filters: readonly [EnvoyNode] }];
}

/** Top-level fields that every bootstrap with the gateway needs, in addition to listeners and clusters. */
export const TOP_LEVEL = ["layered_runtime", "grpc_async_client_manager_config"];

/** Envoy's own protection of a downstream connection: half this number of early resets closes it. */
const RESET_LIMIT = "overload.premature_reset_total_stream_count";
/** High enough for an agent that cancels dozens of requests at once. */
const MAX_EARLY_RESETS = 200;

/** File mode 0600. */
const OWNER_ONLY = 0o600;

/**
 * Renders the bootstrap as YAML. Equal configuration and options always give the same text.
 * @throws Error if a socket's path is too long or an upstream's URL is invalid.
 */
export function renderBootstrap(config: Config, options: RenderOptions = {}): string {
  return formatEnvoyYaml(createBootstrap(config, options), HEADING);
}

/**
 * Returns the bootstrap as a value.
 * @throws like `renderBootstrap`.
 */
export function createBootstrap(config: Config, options: RenderOptions): Bootstrap {
  const resolved = resolveOptions(options);
  const places = {
    systemCaFile: options.systemCaFile ?? findSystemCaFile(),
    secretsDirectory: secretsFolder(config, options.secretsDirectory),
  };
  return {
    "#node": "Needed to read secrets from files.",
    node: oneLine({ id: "inference-gateway", cluster: "inference-gateway" }),
    "#admin": "Whoever reaches it can stop Envoy: a socket that only the owner can open.",
    admin: { address: oneLine(createAdminAddress(config)) },
    layered_runtime: createRuntime(),
    "#grpc_async_client_manager_config":
      "By default Envoy drops its client of the sidecar after 50 s without a new call, and crashes (1.40) when a call " +
      "that began before, of an answer that took longer, ends after that. A day is longer than any answer.",
    grpc_async_client_manager_config: oneLine({ max_cached_entry_idle_duration: "86400s" }),
    overload_manager: createOverloadManager(resolved.maxHeapBytes),
    static_resources: {
      listeners: [createListener(config, resolved, places.secretsDirectory)],
      clusters: [
        ...createWorkerClusters(config, options, places.secretsDirectory, resolved.timeouts),
        ...createUpstreamClusters(config, places),
        ...createJwksClusters(config.jwt.providers, places),
        ...createTracingClusters(config.telemetry.otlp, places),
      ],
    },
  };
}

function createAdminAddress(config: Config): EnvoyNode {
  const path = join(config.sidecar.sockets, ENVOY_ADMIN_SOCKET_NAME);
  checkSocketPath(path);
  return { pipe: { path, mode: OWNER_ONLY } };
}

function createRuntime(): EnvoyNode {
  return {
    layers: [
      {
        name: "static",
        static_layer: {
          [`#${GRACEFUL_CLOSE_FLAG}`]:
            "Without it Envoy resets each finished ext_proc stream, and after about 1,000 resets Node closes the " +
            "connection under the requests in flight.",
          [GRACEFUL_CLOSE_FLAG]: true,
          [`#${RESET_LIMIT}`]:
            "A connection ends with whoever takes half of so many requests back within a second of their begin (rapid " +
            "resets); by default of 500.",
          [RESET_LIMIT]: MAX_EARLY_RESETS,
        },
      },
    ],
  };
}

/** Returns the directory of the SDS files that a bootstrap names. */
function secretsFolder({ sidecar }: Pick<Config, "sidecar">, given?: string): string {
  return given ?? join(sidecar.sockets, "secrets");
}

function createListener(config: Config, options: ResolvedOptions, secrets: string): ListenerNode {
  const { host, port, tls } = config.listen;
  const limits = createBodyLimits(config.limits.maxBodyBytes);
  const first = formatSeconds(options.timeouts.requestHeadersSeconds);
  return {
    name: "gateway",
    address: { socket_address: oneLine({ address: host, port_value: port }) },
    "#per_connection_buffer_limit_bytes": "What is read while ext_authz decides, before the key is admitted.",
    per_connection_buffer_limit_bytes: limits.connectionBufferBytes,
    ...createFirstBytesWait(first),
    filter_chains: [
      {
        ...createListenerTls(tls, secrets),
        "#transport_socket_connect_timeout": "A TLS handshake that does not come to its end.",
        transport_socket_connect_timeout: first,
        filters: [createConnectionManager(limits, options, config)],
      },
    ],
  };
}

function createFirstBytesWait(wait: string): EnvoyNode {
  return {
    "#listener_filters":
      "Waits for a connection's first bytes, before anything is made for it; one that stays silent is closed.",
    listener_filters: [
      {
        name: "envoy.filters.listener.http_inspector",
        typed_config: typed("envoy.extensions.filters.listener.http_inspector.v3.HttpInspector"),
      },
    ],
    listener_filters_timeout: wait,
  };
}

function createWorkerClusters(
  config: Config,
  options: RenderOptions,
  secrets: string,
  timeouts: EdgeTimeouts,
): readonly EnvoyNode[] {
  const { tcp, tls, transport } = config.sidecar;
  const host = options.sidecarHost ?? tcp?.host ?? "";
  return createSidecarClusters({
    server: transport,
    endpoints: listSidecarEndpoints(config, options),
    transportSocket: createSidecarClusterTls(tls, host, secrets),
    timeouts,
  });
}

function createUpstreamClusters(config: Config, places: AuthorityPlaces): EnvoyNode[] {
  return config.upstreams.map((upstream) => {
    const models = config.catalog.filter((model) => model.upstream === upstream.name);
    return createUpstreamCluster(upstream, {
      credentials: listCredentialFiles(upstream, places.secretsDirectory),
      // The upstream counts as well: its first model may come with a reload, when Envoy already has the cluster.
      speaksMessages: [upstream, ...models].some(({ protocols }) => protocols?.includes("messages")),
      pinsSessions: models.some((model) => pinsSessions(model, upstream)),
      ...places,
    });
  });
}
