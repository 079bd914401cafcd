/**
 * Transport on node:net: HTTP/2 and gRPC framing for one kind of client, Envoy. A no-op takes about a third
 * of the CPU time of grpc-js; see docs/benchmarks.md.
 */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket } from "node:tls";
import { waitAtMost } from "../../../shared/event-loop/wait.ts";
import type { EnvoyServer, EnvoyServerOptions } from "../contract.ts";
import { DrainNotice } from "../drain-notice.ts";
import { createHealthService } from "../health-service.ts";
import { LASTING_CALLS } from "../lasting-calls.ts";
import { isNamedClient, readSidecarCertificates, renewSidecarCertificates } from "../sidecar-tls.ts";
import { listenAt } from "../socket-file.ts";
import { type ConnectionOptions, WireConnection } from "./connection.ts";
import { GRPC_STATUS } from "./grpc-status.ts";
import { MAX_CALLS, PEER_ANSWER_WITHIN_MS, TICK_MS } from "./limits.ts";
import { Services } from "./services.ts";
import type { GrpcCall } from "./grpc-call.ts";

const ALPN = "h2";

export class WireServer implements EnvoyServer {
  readonly #options: EnvoyServerOptions;
  readonly #server: Server;
  readonly #services: Services;
  readonly #connections = new Set<WireConnection>();
  readonly #notice = new DrainNotice();
  #openStreams = 0;
  #isDraining = false;
  #whenIdle: (() => void)[] = [];
  #ticks: NodeJS.Timeout | undefined;

  constructor(options: EnvoyServerOptions) {
    this.#options = options;
    const { handlers } = options;
    const health = createHealthService(() => !this.#isDraining && handlers.isServing());
    this.#services = new Services(handlers, health);
    this.#server = this.#createServer();
  }

  get openStreams(): number {
    return this.#openStreams;
  }

  async listen(): Promise<void> {
    await listenAt(this.#server, this.#options.address);
    this.#ticks = setInterval(() => {
      const nowMs = performance.now();
      for (const connection of this.#connections) connection.tick(nowMs);
    }, TICK_MS);
    this.#ticks.unref();
  }

  async drain(boundMs: number): Promise<void> {
    this.#isDraining = true;
    await waitAtMost(this.#empty(boundMs), boundMs);
  }

  async close(): Promise<void> {
    this.#isDraining = true;
    const closed = [...this.#connections].map(async (connection) => await connection.close());
    if (this.#server.listening) await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all(closed);
    clearInterval(this.#ticks);
  }

  async #empty(boundMs: number): Promise<void> {
    if (this.#connections.size > 0) await this.#notice.wait(boundMs / 2);
    this.#server.close();
    await Promise.all([...this.#connections].map(async (connection) => await connection.drain()));
    if (this.#openStreams > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  #createServer(): Server {
    const { tls = null, onCertificateProblem } = this.#options;
    // Keep-alive probes detect a peer that disappeared, as after a power failure.
    const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 };
    if (tls === null) return createServer(socketOptions, (socket) => this.#accept(socket));
    const server = createTlsServer(
      {
        ...socketOptions,
        ...readSidecarCertificates(tls),
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: "TLSv1.2",
        ALPNProtocols: [ALPN],
        handshakeTimeout: PEER_ANSWER_WITHIN_MS,
      },
      (socket) => {
        if (isOurClient(socket, tls.clientName)) this.#accept(socket);
        else socket.destroy();
      },
    );
    renewSidecarCertificates(server, tls, (error) => onCertificateProblem?.(error));
    return server;
  }

  #accept(socket: Socket): void {
    const options: ConnectionOptions = {
      maxMessageBytes: this.#options.maxMessageBytes,
      onCall: (call) => {
        if (isCounted(call)) this.#openStreams += 1;
        this.#notice.onCall(call.headers.path);
        const { maxCalls = MAX_CALLS } = this.#options;
        if (this.#openStreams > maxCalls) {
          call.fail(GRPC_STATUS.resourceExhausted, "too many calls are under way");
        } else this.#services.serve(call);
      },
      onCallClosed: (call) => this.#onCallClosed(call),
      onClosed: () => this.#connections.delete(connection),
    };
    const connection: WireConnection = new WireConnection(socket, options, performance.now());
    this.#connections.add(connection);
  }

  #onCallClosed(call: GrpcCall): void {
    if (!isCounted(call)) return;
    this.#openStreams -= 1;
    if (this.#openStreams > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

/** Returns whether draining waits for the call. */
function isCounted({ headers }: GrpcCall): boolean {
  return !LASTING_CALLS.has(headers.path);
}

/** Returns whether the client speaks HTTP/2 and has a certificate with the required name. */
function isOurClient(socket: TLSSocket, clientName: string | null): boolean {
  return socket.alpnProtocol === ALPN && isNamedClient(socket, clientName);
}
