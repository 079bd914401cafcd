/**
 * Envoy AI Gateway's ext_proc server (github.com/envoyproxy/ai-gateway, v1.x) with one OpenAI backend: no keys, no limits, no
 * costs, no access log. Its two filters, at the listener and at the upstream, are as its own data-plane tests have them
 * (tests/data-plane/envoy.yaml); everything else of its Envoy is as in plain Envoy.
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HTTP_OPTIONS } from "../../src/envoy/bootstrap/cluster-parts.ts";
import { type Child, startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import type { EditableBootstrap } from "../support/side-envoy.ts";
import { waitFor } from "../support/wait.ts";
import { takeGatewayOut } from "./plain-envoy.ts";
import { type GatewayEnvoy, type ProcessorPair, startPair } from "./processor-pair.ts";
import { CHAT_PATH } from "./workloads.ts";

type Node = Record<string, unknown>;

const CLUSTER = "ai_gateway";
const LISTENER_FILTER = "envoy.filters.http.ext_proc";
const BACKEND = "mock";
const NAMESPACE = "io.envoy.ai_gateway";
const EXTENSIONS = "type.googleapis.com/envoy.extensions";

/** @param program Its `extproc`, which whoever measures has: nothing of another project is fetched or built here. */
export async function startAiGatewayPair(program: string, gateway: GatewayEnvoy): Promise<ProcessorPair> {
  const socketPath = join(gateway.dir, "ai-gateway-processor.sock");
  const processor = await startProcessor(program, gateway.dir, socketPath);
  return await startPair("ai-gateway", processor, gateway, (bootstrap) =>
    putAiGatewayIn(bootstrap, gateway.upstream, socketPath),
  );
}

async function startProcessor(program: string, dir: string, socketPath: string): Promise<Child> {
  const configFile = join(dir, "ai-gateway.json");
  // Of another version than the program's it would wait for one that fits: "dev" is that of a build without its make files.
  const backend = { name: BACKEND, schema: { name: "OpenAI", prefix: "v1" } };
  await writeFile(configFile, JSON.stringify({ version: "dev", backends: [backend] }));
  const options = {
    configPath: configFile,
    extProcAddr: `unix://${socketPath}`,
    adminPort: await findFreePort(),
    logLevel: "error",
  };
  const args = Object.entries(options).map(([name, value]) => `-${name}=${value}`);
  const child = startChild(program, args);
  const isUp = (): boolean => {
    if (child.ended !== null) throw new Error(`it ended: ${child.ended}\n${child.stderr}`);
    return existsSync(socketPath);
  };
  try {
    await waitFor(`Envoy AI Gateway's ext_proc server (${program})`, isUp);
  } catch (thrown) {
    await child.stop(5_000);
    throw thrown;
  }
  return child;
}

/** For `startSideEnvoy`. */
export function putAiGatewayIn(bootstrap: EditableBootstrap, upstream: string, socketPath: string): void {
  takeGatewayOut(bootstrap, upstream);
  const { manager, clusters } = bootstrap;
  const cluster = clusters.find(({ name }) => name === upstream);
  if (cluster === undefined) throw new Error(`the bootstrap has no cluster "${upstream}"`);
  (manager["http_filters"] as Node[]).unshift(listenerFilter());
  // It leaves without a reply what it does not know, and Envoy is asked for its root before it counts as up.
  passWhatIsUnknown(manager);
  const options = cluster["typed_extension_protocol_options"] as Record<string, Node>;
  cluster["typed_extension_protocol_options"] = {
    ...options,
    [HTTP_OPTIONS]: { ...options[HTTP_OPTIONS], http_filters: upstreamFilters() },
  };
  for (const { lb_endpoints: endpoints } of endpointGroups(cluster)) {
    for (const endpoint of endpoints) {
      endpoint["metadata"] = {
        filter_metadata: { "aigateway.envoy.io": { per_route_rule_backend_name: BACKEND } },
      };
    }
  }
  clusters.push(processorCluster(socketPath));
}

function passWhatIsUnknown(manager: Node): void {
  const [host] = (manager["route_config"] as { virtual_hosts: { routes: Node[] }[] }).virtual_hosts;
  const [everything] = host?.routes ?? [];
  if (host === undefined || everything === undefined) throw new Error("plain Envoy has no route");
  const disabled = { "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", disabled: true };
  host.routes = [
    { ...everything, match: { path: CHAT_PATH } },
    {
      match: { prefix: "/" },
      direct_response: { status: 404 },
      typed_per_filter_config: { [LISTENER_FILTER]: disabled },
    },
  ];
}

/** Reads and routes the request, and reads the answer. */
function listenerFilter(): Node {
  return processingFilter(LISTENER_FILTER, {
    allow_mode_override: true,
    processing_mode: {
      request_header_mode: "SEND",
      request_body_mode: "BUFFERED",
      response_header_mode: "SEND",
      response_body_mode: "BUFFERED",
    },
  });
}

/** Makes the request one for its backend; what was changed may have another length. */
function upstreamFilters(): Node[] {
  const contentLength = { key: "content-length", value: `%DYNAMIC_METADATA(${NAMESPACE}:content_length)%` };
  return [
    processingFilter("upstream_extproc", {
      request_attributes: [
        "xds.upstream_host_metadata.filter_metadata['aigateway.envoy.io']['per_route_rule_backend_name']",
      ],
      processing_mode: {
        request_header_mode: "SEND",
        request_body_mode: "NONE",
        response_header_mode: "SKIP",
        response_body_mode: "NONE",
      },
    }),
    {
      name: "envoy.filters.http.header_mutation",
      typed_config: {
        "@type": `${EXTENSIONS}.filters.http.header_mutation.v3.HeaderMutation`,
        mutations: {
          request_mutations: [{ append: { append_action: "ADD_IF_ABSENT", header: contentLength } }],
        },
      },
    },
    {
      name: "envoy.filters.http.upstream_codec",
      typed_config: { "@type": `${EXTENSIONS}.filters.http.upstream_codec.v3.UpstreamCodec` },
    },
  ];
}

function processingFilter(name: string, config: Node): Node {
  return {
    name,
    typed_config: {
      "@type": `${EXTENSIONS}.filters.http.ext_proc.v3.ExternalProcessor`,
      grpc_service: { envoy_grpc: { cluster_name: CLUSTER }, timeout: "30s" },
      message_timeout: "60s",
      metadata_options: { receiving_namespaces: { untyped: [NAMESPACE] } },
      ...config,
    },
  };
}

function processorCluster(socketPath: string): EditableBootstrap["clusters"][number] {
  const endpoint = { endpoint: { address: { pipe: { path: socketPath } } } };
  return {
    name: CLUSTER,
    type: "STATIC",
    connect_timeout: "5s",
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: {
        "@type": `${EXTENSIONS}.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: { cluster_name: CLUSTER, endpoints: [{ lb_endpoints: [endpoint] }] },
  };
}

function endpointGroups(cluster: Node): { lb_endpoints: Node[] }[] {
  return (cluster["load_assignment"] as { endpoints: { lb_endpoints: Node[] }[] }).endpoints;
}
