/** The edge under test: a rendered bootstrap on the real Envoy, a sidecar stand-in and one upstream. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingHttpHeaders, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseConfig } from "../../../src/shared/config/load.ts";
import type { Config } from "../../../src/shared/config/schema.ts";
import { renderBootstrap } from "../../../src/envoy/bootstrap/render-bootstrap.ts";
import { WORKER_CLUSTERS } from "../../../src/envoy/names.ts";
import type { RenderOptions } from "../../../src/envoy/bootstrap/render-options.ts";
import { writeUpstreamSecrets } from "../../../src/envoy/bootstrap/upstream-secrets.ts";
import { EnvoyProcess, waitFor } from "./envoy-process.ts";
import { SidecarStandIn } from "./sidecar-stand-in.ts";

export interface UpstreamRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}
type UpstreamHandler = (request: UpstreamRequest, response: ServerResponse) => void;

const answerOk: UpstreamHandler = (_request, response) => {
  response.setHeader("content-type", "application/json");
  response.end('{"from":"upstream"}');
};

/** A model server that records what reaches it. */
export class UpstreamStandIn {
  onRequest: UpstreamHandler = answerOk;
  readonly requests: UpstreamRequest[] = [];
  readonly #server: Server;

  constructor() {
    this.#server = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const { method = "", url = "", headers } = incoming;
        const request = { method, path: url, headers, body: Buffer.concat(chunks).toString() };
        this.requests.push(request);
        this.onRequest(request, response);
      });
    });
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  reset(): void {
    this.onRequest = answerOk;
    this.requests.length = 0;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export interface EdgeOptions extends RenderOptions {
  readonly maxBodyBytes?: number;
  /** Further upstreams as YAML lines of the list; UPSTREAM_PORT stands for the stand-in's port. */
  readonly upstreams?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** `jwt` of the configuration. */
  readonly jwt?: object;
  /** Environment of Envoy's process, beside the test's own. */
  readonly envoyEnv?: Readonly<Record<string, string>>;
  /** What an operator changes in the rendered bootstrap. */
  readonly editBootstrap?: (bootstrap: string) => string;
  /** Runs when everything is written and before Envoy starts. */
  readonly beforeStart?: (folder: string) => void;
}

export interface Edge {
  readonly port: number;
  readonly folder: string;
  readonly config: Config;
  readonly envoy: EnvoyProcess;
  readonly sidecar: SidecarStandIn;
  readonly upstream: UpstreamStandIn;
  /** Waits until Envoy takes the sidecar for healthy, or for gone. */
  waitForSidecar(state: "healthy" | "gone"): Promise<void>;
  /** Lines of the access log so far. */
  accessLog(): Record<string, unknown>[];
  stop(): Promise<void>;
}

/** Starts everything; the upstream `main` is the stand-in, `refusing` a port that nobody listens on. */
export async function startEdge(options: EdgeOptions = {}): Promise<Edge> {
  const folder = mkdtempSync(join(tmpdir(), "igw-edge-"));
  const sockets = join(folder, "run");
  mkdirSync(sockets);
  const upstream = new UpstreamStandIn();
  const upstreamPort = await upstream.start();
  const gatewayYaml = createGatewayYaml(sockets, upstreamPort, options);
  writeFileSync(join(folder, "gateway.yaml"), gatewayYaml);
  const config = parseConfig(gatewayYaml, {
    baseDir: folder,
    env: { MAIN_KEY: "upstream-secret", ...options.env },
  });
  await writeUpstreamSecrets(config, join(sockets, "secrets"));
  const sidecar = new SidecarStandIn(join(sockets, "gateway-0.sock"));
  await sidecar.start();
  const accessLogFile = join(folder, "access.log");
  const rendered = renderBootstrap(config, { accessLogFile, ...options });
  const bootstrap = options.editBootstrap?.(rendered) ?? rendered;
  options.beforeStart?.(folder);
  const envoy = new EnvoyProcess(folder, bootstrap, join(sockets, "envoy-admin.sock"), options.envoyEnv);
  const port = await envoy.waitUntilReady();
  const waitForSidecar = async (state: "healthy" | "gone"): Promise<void> => {
    const expected = state === "healthy" ? 1 : 0;
    await waitFor(`sidecar is ${state}`, async () => {
      const names = WORKER_CLUSTERS.map((cluster) => `cluster.${cluster}.membership_healthy`);
      const counts = await Promise.all(names.map((name) => envoy.stat(name)));
      return counts.every((count) => count === expected);
    });
  };
  await waitForSidecar("healthy");
  return {
    port,
    folder,
    config,
    envoy,
    sidecar,
    upstream,
    waitForSidecar,
    accessLog: () => readJsonLines(accessLogFile),
    stop: async () => {
      await envoy.stop();
      sidecar.stop();
      upstream.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function readJsonLines(file: string): Record<string, unknown>[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Port 9 (discard) is never listened on here. */
function createGatewayYaml(sockets: string, upstreamPort: number, options: EdgeOptions): string {
  return `
listen: {host: 127.0.0.1, port: 0}
sidecar: {workers: 1, sockets: ${sockets}}
limits: {max_body_bytes: ${options.maxBodyBytes ?? 1_048_576}}
jwt: ${JSON.stringify(options.jwt ?? {})}
upstreams:
  - {name: main, url: "http://127.0.0.1:${upstreamPort}", credential: {env: MAIN_KEY}}
  - {name: refusing, url: "http://127.0.0.1:9"}
${(options.upstreams ?? []).map((line) => `  - ${line.replace("UPSTREAM_PORT", String(upstreamPort))}`).join("\n")}
catalog:
  - id: acme/echo
    upstream: main
    upstream_model: echo
    context_window: 128000
    max_output_tokens: 8192
    prices: {USD: {input: "1", output: "1"}}
`;
}
