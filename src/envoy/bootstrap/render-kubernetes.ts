/**
 * Bootstrap as Kubernetes resources for a control plane that owns Envoy's configuration: an EnvoyFilter for
 * Istio, an EnvoyPatchPolicy for Envoy Gateway. Both give Envoy exactly the content of the bootstrap; names,
 * namespace and labels are meant to be changed (kustomize). The sidecar runs in Envoy's pod, on Unix sockets.
 */
import type { Config } from "../../shared/config/schema.ts";
import { createBootstrap, TOP_LEVEL } from "./render-bootstrap.ts";
import type { RenderOptions } from "./render-options.ts";
import { type EnvoyNode, type EnvoyValue, formatEnvoyYaml, pick } from "./yaml-document.ts";

const NAME = "inference-gateway";
const WHERE =
  "What goes around it: deploy/examples in the repository. Made by `inference-gateway envoy render --as";

/**
 * Renders an EnvoyFilter: a separate listener on `listen.port`, the clusters, and the bootstrap's top-level
 * fields.
 * @throws like `renderBootstrap`.
 */
export function renderEnvoyFilter(config: Config, options: RenderOptions = {}): string {
  const bootstrap = createBootstrap(config, options);
  const { clusters, listeners } = bootstrap.static_resources;
  const add = (applyTo: string, value: EnvoyNode): EnvoyNode => ({
    applyTo,
    match: { context: "GATEWAY" },
    patch: { operation: "ADD", value },
  });
  const resource: EnvoyNode = {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: NAME },
    spec: {
      workloadSelector: { labels: { "app.kubernetes.io/name": NAME } },
      configPatches: [
        {
          "#": "Read when the proxy starts: restart it after a change here.",
          applyTo: "BOOTSTRAP",
          patch: { operation: "MERGE", value: pick(bootstrap, TOP_LEVEL) },
        },
        ...clusters.map((cluster) => add("CLUSTER", cluster)),
        add("LISTENER", listeners[0]),
      ],
    },
  };
  return formatEnvoyYaml(resource, `For the proxy of an Istio gateway. ${WHERE} EnvoyFilter\`.`);
}

/**
 * Renders an EnvoyPatchPolicy: replaces the filters of the Gateway's listener `http` and adds the clusters.
 * The bootstrap's top-level fields belong into the Gateway's EnvoyProxy resource.
 * @throws like `renderBootstrap`.
 */
export function renderEnvoyPatchPolicy(config: Config, options: RenderOptions = {}): string {
  const { clusters, listeners } = createBootstrap(config, options).static_resources;
  const [listener] = listeners;
  const buffer = "per_connection_buffer_limit_bytes";
  const listenerPatch = (path: string, value: EnvoyValue): EnvoyNode => ({
    type: "type.googleapis.com/envoy.config.listener.v3.Listener",
    "#name": "<namespace>/<Gateway>/<listener>",
    name: `${NAME}/${NAME}/http`,
    operation: { op: "replace", path, value },
  });
  const resource: EnvoyNode = {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyPatchPolicy",
    metadata: { name: NAME, namespace: NAME },
    spec: {
      targetRef: { group: "gateway.networking.k8s.io", kind: "Gateway", name: NAME },
      type: "JSONPatch",
      jsonPatches: [
        ...clusters.map((cluster) => ({
          type: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
          name: cluster["name"] ?? "",
          operation: { op: "add", path: "", value: cluster },
        })),
        listenerPatch(`/${buffer}`, listener[buffer] ?? null),
        {
          "#": "A listener with TLS has `/filter_chains/0/filters` instead.",
          ...listenerPatch("/default_filter_chain/filters", listener.filter_chains[0].filters),
        },
      ],
    },
  };
  return formatEnvoyYaml(resource, `For Envoy Gateway. ${WHERE} EnvoyPatchPolicy\`.`);
}
