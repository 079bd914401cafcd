/**
 * Admin server: health, management API and the dashboard, on a separate port next to the data path. It makes
 * no decisions about requests to models; it shows and changes data in Redis, which the data path reads with
 * each request. Without Redis its calls fail with 503 and the data path continues by its own rules. It must
 * never reveal a secret twice, and never serve other hosts unencrypted unless the operator has allowed it.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener } from "@hono/node-server";
import { formatHost, isLoopback } from "../../shared/host/local-url.ts";
import { watchFiles } from "../../shared/config/reload/watch-files.ts";
import { AdminError } from "./admin-error.ts";
import type { AdminAppOptions } from "./app-options.ts";
import { createAdminApp } from "./app.ts";
import { SECURITY_HEADERS } from "./http/security-headers.ts";

export interface AdminServerOptions extends AdminAppOptions {
  readonly host: string;
  /** Port; 0 picks a free one. */
  readonly port: number;
  /** PEM files; null: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Plain HTTP is intended, also off loopback: a proxy in front encrypts. */
  readonly allowPlainHttp: boolean;
  /** Idle time after which a connection is closed. Default: `IDLE_TIMEOUT_MS`. */
  readonly idleTimeoutMs?: number;
}

export interface AdminServer {
  /** Without a final slash. */
  readonly url: string;
  /** Closes the server, after a moment for calls in flight. */
  close(): Promise<void>;
}

/** Calls are small: one that takes longer to arrive is delayed on purpose. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 15_000;
/** For a reader of an export that has stopped reading; longer than any call takes for its response. */
const IDLE_TIMEOUT_MS = 120_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 1_000;
/** Half of all connections, so that one address always leaves as many for others. */
const MAX_CONNECTIONS_PER_ADDRESS = 500;
const CLOSE_BOUND_MS = 2_000;

/**
 * Starts listening.
 * @throws Error if the port is taken, a TLS file is unreadable, or plain HTTP off loopback was not allowed.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  requirePrivacy(options);
  const server = createHttpServer(options);
  server.maxConnections = MAX_CONNECTIONS;
  boundConnections(server, options.idleTimeoutMs ?? IDLE_TIMEOUT_MS);
  server.on("clientError", answerBrokenRequest);
  // Node would answer 417 by itself, without our headers; expectations have no meaning here.
  server.on("checkExpectation", (incoming, outgoing) => server.emit("request", incoming, outgoing));
  server.listen(options.port, options.host);
  await once(server, "listening");
  return { url: urlOf(server, options), close: () => close(server) };
}

/** Bounds connections per address, and closes those that send no request, or stall within one. */
function boundConnections(server: Server, idleTimeoutMs: number): void {
  const perAddress = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const count = (perAddress.get(address) ?? 0) + 1;
    perAddress.set(address, count);
    socket.once("close", () => {
      const remaining = (perAddress.get(address) ?? 1) - 1;
      if (remaining === 0) perAddress.delete(address);
      else perAddress.set(address, remaining);
    });
    if (count > MAX_CONNECTIONS_PER_ADDRESS) socket.destroy();
  });
  server.setTimeout(HEADERS_TIMEOUT_MS);
  server.prependListener("request", ({ socket }: IncomingMessage) => void socket.setTimeout(idleTimeoutMs));
}

/** The configuration checks it as well; this covers other ways of starting the server. */
function requirePrivacy({ host, tls, allowPlainHttp }: AdminServerOptions): void {
  if (tls !== null || allowPlainHttp || isLoopback(host)) return;
  throw new Error(
    `The admin server would accept tokens without encryption on ${host}, which other machines can reach. ` +
      "Set `admin.tls`, or `admin.allow_plain_http: true` if a proxy in front of it encrypts.",
  );
}

function createHttpServer(options: AdminServerOptions): Server {
  const limits = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Answered below, with an explanation in the body.
    requireHostHeader: false,
  };
  const answer = getRequestListener(createAdminApp(options).fetch, { errorHandler: answerUnreadable });
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // Set here instead of in the app, so that earlier responses have them as well.
    for (const [name, value] of SECURITY_HEADERS) outgoing.setHeader(name, value);
    void answer(incoming, outgoing);
  };
  if (options.tls === null) return createServer(limits, listener);
  const { certFile, keyFile } = options.tls;
  const read = () => ({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  const secure = { minVersion: "TLSv1.2", handshakeTimeout: HEADERS_TIMEOUT_MS } as const;
  const server = createTlsServer({ ...limits, ...read(), ...secure }, listener);
  const watcher = watchFiles([certFile, keyFile], () => renew(server, read, options.logger));
  server.once("close", () => watcher.close());
  return server;
}

/** Uses renewed files for new connections; if files do not match, the old ones stay in force. */
function renew(
  server: TlsServer,
  read: () => { readonly cert: Buffer; readonly key: Buffer },
  logger: AdminServerOptions["logger"],
): void {
  try {
    server.setSecureContext(read());
  } catch (err) {
    logger.warn({ err }, "renewed admin certificate unusable, previous one stays");
  }
}

/** Handles requests without Host, with an unreadable URL, or with a method that the Fetch standard forbids. */
function answerUnreadable(): Response {
  const error = new AdminError("invalid_request");
  return Response.json(error.toBody(null), { status: error.status });
}

/** Handles requests that Node's parser rejects: there is only a connection. */
function answerBrokenRequest(thrown: NodeJS.ErrnoException, socket: Duplex): void {
  if (thrown.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const error = new AdminError(codeOfBrokenRequest(thrown.code));
  const body = JSON.stringify(error.toBody(null));
  const head = [
    `HTTP/1.1 ${error.status} Refused`,
    ...SECURITY_HEADERS.map(([name, value]) => `${name}: ${value}`),
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

function codeOfBrokenRequest(code: string | undefined) {
  if (code === "HPE_HEADER_OVERFLOW") return "request_header_fields_too_large";
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "request_timeout" : "invalid_request";
}

function urlOf(server: Server, { host, port, tls }: AdminServerOptions): string {
  const address = server.address();
  const actual = typeof address === "object" && address !== null ? address.port : port;
  return `${tls === null ? "http" : "https"}://${formatHost(host)}:${actual}`;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_BOUND_MS);
  await closed;
  clearTimeout(timer);
}
