/** A gateway's transport behind the real Envoy: handlers that let everything pass, and an upstream in this process. */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import type {
  StreamAccessLogsMessage,
  CheckRequest,
  CheckResponse,
  ProcessingRequest,
} from "../../src/envoy/messages/codec.ts";
import { createEnvoyServer } from "../../src/envoy/server.ts";
import type {
  EnvoyHandlers,
  EnvoyServer,
  EnvoyServerOptions,
  ProcessCall,
  ProcessListener,
} from "../../src/envoy/transport/contract.ts";
import { startChild } from "../support/child.ts";
import { findFreePort } from "../support/free-port.ts";
import { waitFor } from "../support/wait.ts";

/** What the handlers do with a request, by its header `x-test`. */
export type Misbehaviour = "deny" | "fail" | "fail-body" | "silent" | "busy";

export type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Lets everything pass, and marks what it saw: an upstream that gets a request without the mark was fooled. */
export class PassingHandlers implements EnvoyHandlers {
  readonly ends: ProcessingStreamEnd[] = [];
  readonly logged: StreamAccessLogsMessage[] = [];
  opened = 0;
  /** Messages without a reply, of requests with `x-test: silent`. */
  unanswered = 0;

  async check({ attributes }: CheckRequest): Promise<CheckResponse> {
    const http = attributes?.request?.http;
    if (http?.headers?.["x-test"] === "deny") {
      return { status: { code: 7 }, denied_response: { status: { code: 403 }, body: "denied" } };
    }
    const mark = { header: { key: "x-checked", value: http?.path ?? "" } };
    return {
      status: { code: 0 },
      ok_response: { headers: [{ ...mark, append_action: "OVERWRITE_IF_EXISTS_OR_ADD" }] },
    };
  }

  openProcess(call: ProcessCall): ProcessListener {
    this.opened += 1;
    return new PassingListener(this, call);
  }

  log(message: StreamAccessLogsMessage): void {
    this.logged.push(message);
  }

  isServing(): boolean {
    return true;
  }
}

export interface ProcessingStreamEnd {
  /** Oneof members of the messages that came, in order. */
  readonly messages: string[];
  ends: number;
}

class PassingListener implements ProcessListener {
  readonly #handlers: PassingHandlers;
  readonly #call: ProcessCall;
  readonly #record: ProcessingStreamEnd = { messages: [], ends: 0 };
  #misbehaviour = "";

  constructor(handlers: PassingHandlers, call: ProcessCall) {
    this.#handlers = handlers;
    this.#call = call;
    handlers.ends.push(this.#record);
  }

  onMessage(request: ProcessingRequest): void {
    this.#record.messages.push(request.request ?? "none");
    switch (request.request) {
      case "request_headers": {
        const { headers = [] } = request.request_headers?.headers ?? {};
        const test = headers.find(({ key }) => key === "x-test")?.raw_value;
        this.#misbehaviour = test?.toString() ?? "";
        this.#answerHeaders();
        break;
      }
      case "request_body":
        if (this.#misbehaviour === "fail-body") this.#call.fail("as the test says");
        else this.#call.reply({ request_body: { response: {} } });
        break;
      case "response_headers":
        this.#call.reply({ response_headers: { response: {} } });
        break;
      case "response_body":
        this.#call.reply({ response_body: { response: {} } });
        break;
      case "request_trailers":
      case "response_trailers":
      case undefined:
        throw new Error("Envoy was not asked for trailers");
    }
  }

  onEnd(): void {
    this.#record.ends += 1;
  }

  #answerHeaders(): void {
    if (this.#misbehaviour === "silent") {
      this.#handlers.unanswered += 1;
    } else if (this.#misbehaviour === "fail") {
      this.#call.fail("as the test says");
    } else if (this.#misbehaviour === "busy") {
      // 529 is not in Envoy's enum of statuses.
      const body = Buffer.from("busy");
      this.#call.reply({ immediate_response: { status: { code: 529 }, body, details: "gateway" } });
    } else {
      const header = { key: "x-processed", raw_value: Buffer.from("yes") };
      this.#call.reply({
        request_headers: { response: { header_mutation: { set_headers: [{ header }] } } },
        mode_override: {
          request_body_mode: "BUFFERED",
          response_header_mode: "SEND",
          response_body_mode: "STREAMED",
        },
      });
    }
  }
}

/** Envoy with two gateway servers, A and B, that share their handlers. */
export interface TransportStack {
  readonly port: number;
  readonly handlers: PassingHandlers;
  readonly servers: readonly [EnvoyServer, EnvoyServer];
  readonly sockets: readonly [string, string];
  /** Requests that reached the upstream without having been processed. */
  readonly unprocessed: number;
  /** How the upstream answers from now on; by default 200 with the number of bytes that it got. */
  respond: Respond;
  /** Counters of Envoy whose names contain this. */
  readCounters(name: string): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

export async function startTransportStack(
  transport: EnvoyServerOptions["transport"],
): Promise<TransportStack> {
  const folder = await mkdtemp(path.join(tmpdir(), "transport-"));
  const handlers = new PassingHandlers();
  const sockets = [path.join(folder, "a.sock"), path.join(folder, "b.sock")] as const;
  const create = (socketPath: string) =>
    createEnvoyServer({ transport, handlers, address: { socketPath }, maxMessageBytes: 40 * 1024 * 1024 });
  const servers = [await create(sockets[0]), await create(sockets[1])] as const;
  await Promise.all(servers.map(async (server) => await server.listen()));
  const state = { unprocessed: 0, respond: countBytes };
  const upstream = createServer((request, response) => {
    if (request.headers["x-processed"] !== "yes") state.unprocessed += 1;
    state.respond(request, response);
  });
  upstream.keepAliveTimeout = 600_000;
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  const port = await findFreePort();
  const adminPort = await findFreePort();
  const file = path.join(folder, "envoy.yaml");
  await writeFile(
    file,
    formatEnvoyConfig(port, adminPort, sockets, (upstream.address() as AddressInfo).port),
  );
  const envoy = startChild(findEnvoy(), [
    "-c",
    file,
    "--disable-hot-restart",
    "--concurrency",
    "2",
    "-l",
    "warn",
  ]);
  const readCounters = async (name: string) => await fetchCounters(adminPort, name);
  await waitFor("Envoy sees both servers as healthy", async () => {
    const membership = await readCounters("cluster.sidecar.membership_healthy");
    return membership["cluster.sidecar.membership_healthy"] === 2 || envoy.ended !== null;
  });
  if (envoy.ended !== null) throw new Error(envoy.stderr);
  return Object.assign(state, {
    port,
    handlers,
    servers,
    sockets,
    readCounters,
    async stop() {
      await envoy.stop();
      await Promise.all(servers.map(async (server) => await server.close()));
      upstream.closeAllConnections();
      upstream.close();
      await rm(folder, { recursive: true, force: true });
    },
  });
}

function countBytes(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
  });
  request.on("end", () => response.end(String(bytes)));
}

async function fetchCounters(adminPort: number, name: string): Promise<Record<string, number>> {
  const response = await fetch(`http://127.0.0.1:${adminPort}/stats?filter=${name}`);
  const lines = (await response.text()).trim().split("\n");
  return Object.fromEntries(
    lines.map((line) => line.split(": ")).map(([counter = "", value = ""]) => [counter, Number(value)]),
  );
}

function findEnvoy(): string {
  const tools = fileURLToPath(new URL("../../.tools/bin/envoy", import.meta.url));
  const onPath = (process.env["PATH"] ?? "")
    .split(path.delimiter)
    .map((folder) => path.join(folder, "envoy"));
  const found = [process.env["ENVOY_BIN"] ?? "", ...onPath, tools].find(
    (file) => file !== "" && existsSync(file),
  );
  if (found === undefined) throw new Error("no Envoy: set ENVOY_BIN, or put `envoy` on the PATH");
  return found;
}

function formatEnvoyConfig(
  port: number,
  adminPort: number,
  sockets: readonly string[],
  upstreamPort: number,
): string {
  const type = "type.googleapis.com/envoy.extensions";
  const endpoints = sockets.map((socket) => `{endpoint: {address: {pipe: {path: ${socket}}}}}`).join(", ");
  return `
node: {id: test, cluster: test}
admin: {address: {socket_address: {address: 127.0.0.1, port_value: ${adminPort}}}}
layered_runtime:
  layers:
  - {name: static, static_layer: {envoy.reloadable_features.ext_proc_graceful_grpc_close: true}}
static_resources:
  listeners:
  - address: {socket_address: {address: 127.0.0.1, port_value: ${port}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": ${type}.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: main
          access_log:
          - name: envoy.access_loggers.http_grpc
            typed_config:
              "@type": ${type}.access_loggers.grpc.v3.HttpGrpcAccessLogConfig
              common_config:
                log_name: test
                transport_api_version: V3
                grpc_service: {envoy_grpc: {cluster_name: sidecar}}
                buffer_size_bytes: 0
          route_config:
            virtual_hosts:
            - {name: all, domains: ["*"], routes: [{match: {prefix: "/"}, route: {cluster: upstream, timeout: 0s}}]}
          http_filters:
          - name: envoy.filters.http.ext_authz
            typed_config:
              "@type": ${type}.filters.http.ext_authz.v3.ExtAuthz
              transport_api_version: V3
              grpc_service: {envoy_grpc: {cluster_name: sidecar}, timeout: 2s}
              status_on_error: {code: 503}
          - name: envoy.filters.http.buffer
            typed_config: {"@type": ${type}.filters.http.buffer.v3.Buffer, max_request_bytes: 33554432}
          - name: envoy.filters.http.ext_proc
            typed_config:
              "@type": ${type}.filters.http.ext_proc.v3.ExternalProcessor
              grpc_service: {envoy_grpc: {cluster_name: sidecar}}
              processing_mode: {request_header_mode: SEND, response_header_mode: SKIP}
              message_timeout: 5s
              allow_mode_override: true
          - name: envoy.filters.http.router
            typed_config: {"@type": ${type}.filters.http.router.v3.Router}
  clusters:
  - name: sidecar
    type: STATIC
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": ${type}.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    health_checks:
    - {timeout: 1s, interval: 0.5s, no_traffic_interval: 0.5s, unhealthy_threshold: 1, healthy_threshold: 1,
       grpc_health_check: {}}
    load_assignment: {cluster_name: sidecar, endpoints: [{lb_endpoints: [${endpoints}]}]}
  - name: upstream
    type: STATIC
    load_assignment:
      cluster_name: upstream
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: ${upstreamPort}}}}}]}]
`;
}
