/**
 * Health server on a separate port, so that probes get an answer whatever happens on the admin port. It has
 * two paths, reveals no secret and accepts no body; each connection gets one response, and with too many
 * connections the oldest is closed, so that nobody can block probes by staying connected.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { SECURITY_HEADERS } from "./http/security-headers.ts";
import type { AdminAppOptions } from "./app-options.ts";

export interface HealthServerOptions {
  readonly host: string;
  /** Port; 0 picks a free one. */
  readonly port: number;
  /** Returns whether requests would be served. Never rejects. */
  readonly isReady: () => Promise<boolean>;
}

export interface HealthServer {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 256;
/** Probes send small requests at once. */
const TIMEOUT_MS = 5_000;

/** Starts listening. @throws Error if the port is taken. */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const connections = new Set<Socket>();
  const server = createServer(
    { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, maxHeaderSize: 4_096 },
    (request, response) => void answer(request, response, options),
  );
  server.setTimeout(TIMEOUT_MS);
  server.on("connection", (socket) => {
    connections.add(socket);
    socket.once("close", () => connections.delete(socket));
    const [oldest] = connections;
    if (connections.size > MAX_CONNECTIONS) oldest?.destroy();
  });
  server.listen(options.port, options.host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { isReady }: HealthServerOptions,
): Promise<void> {
  const path = request.url?.split("?", 1)[0];
  for (const [name, value] of SECURITY_HEADERS) response.setHeader(name, value);
  response.setHeader("connection", "close");
  response.setHeader("content-type", "application/json");
  const send = (code: number, status: string): void => {
    response.statusCode = code;
    response.end(JSON.stringify({ status }));
  };
  if (path === "/healthz") return send(200, "ok");
  if (path !== "/readyz") return send(404, "not_found");
  return (await isReady()) ? send(200, "ready") : send(503, "not_ready");
}

/** Returns whether workers and Redis are ready. Never rejects. */
export function isReady({
  store,
  areWorkersReady = () => true,
}: Pick<AdminAppOptions, "store" | "areWorkersReady">): Promise<boolean> {
  return Promise.all([store.timeMs(), areWorkersReady()]).then(
    ([, areReady]) => areReady,
    () => false,
  );
}
