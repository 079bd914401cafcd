/**
 * The admin server: health, management API and the dashboard, beside the data path and on a port of its own.
 * It decides nothing about requests to models; it shows and changes what Redis holds, which the data path reads with
 * each request. Without Redis its calls fail with 503 and the data path goes on by its own rules. It must never say a
 * secret twice, and never answer from off this machine in the clear unless the operator has allowed it.
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
  /** 0: a free one. */
  readonly port: number;
  /** PEM files; null: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
  /** Plain HTTP is meant, also off loopback: something in front of it encrypts. */
  readonly allowPlainHttp: boolean;
  /** After so long without a byte either way a connection is cut; `IDLE_TIMEOUT_MS` when left out. */
  readonly idleTimeoutMs?: number;
}

export interface AdminServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** Lets calls in flight end, for a moment. */
  close(): Promise<void>;
}

/** A call is small: what takes longer than this to arrive is held back on purpose. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 15_000;
/** A reader of an export that has stopped reading; longer than any call takes for its answer. */
const IDLE_TIMEOUT_MS = 120_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_CONNECTIONS = 1_000;
/** Half: whoever takes all that one address may have leaves as many for all others. */
const MAX_CONNECTIONS_PER_ADDRESS = 500;
const CLOSE_BOUND_MS = 2_000;

/**
 * Listens.
 * @throws Error when the port is taken, a TLS file cannot be read, or plain HTTP off loopback was not allowed.
 */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  requirePrivacy(options);
  const server = createHttpServer(options);
  server.maxConnections = MAX_CONNECTIONS;
  boundConnections(server, options.idleTimeoutMs ?? IDLE_TIMEOUT_MS);
  server.on("clientError", answerBrokenRequest);
  // Node would answer 417 by itself, without our headers; what is expected changes nothing here.
  server.on("checkExpectation", (incoming, outgoing) => server.emit("request", incoming, outgoing));
  server.listen(options.port, options.host);
  await once(server, "listening");
  return { url: urlOf(server, options), close: () => close(server) };
}

/** So many of one address, and none for long that does not ask: neither before its first request nor within one. */
function boundConnections(server: Server, idleTimeoutMs: number): void {
  const perAddress = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const count = (perAddress.get(address) ?? 0) + 1;
    perAddress.set(address, count);
    socket.once("close", () => {
      const left = (perAddress.get(address) ?? 1) - 1;
      if (left === 0) perAddress.delete(address);
      else perAddress.set(address, left);
    });
    if (count > MAX_CONNECTIONS_PER_ADDRESS) socket.destroy();
  });
  server.setTimeout(HEADERS_TIMEOUT_MS);
  server.prependListener("request", ({ socket }: IncomingMessage) => void socket.setTimeout(idleTimeoutMs));
}

/** The configuration says so too; this holds for whoever starts the server in another way. */
function requirePrivacy({ host, tls, allowPlainHttp }: AdminServerOptions): void {
  if (tls !== null || allowPlainHttp || isLoopback(host)) return;
  throw new Error(
    `The admin server would take tokens in the clear on ${host}, which is reached from outside this machine: ` +
      "set `admin.tls`, or `admin.allow_plain_http: true` where something in front of it encrypts.",
  );
}

function createHttpServer(options: AdminServerOptions): Server {
  const limits = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    // Answered below, with a body that says so.
    requireHostHeader: false,
  };
  const answer = getRequestListener(createAdminApp(options).fetch, { errorHandler: answerUnreadable });
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    // Here and not in the app, so that what answers before the app has them too.
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

/** Renewed files count for new connections; files that do not fit each other leave the old ones in force. */
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

/** No Host, a URL that cannot be read, a method that the Fetch standard forbids. */
function answerUnreadable(): Response {
  const error = new AdminError("invalid_request");
  return Response.json(error.toBody(null), { status: error.status });
}

/** What Node's parser refuses: there is a connection, and no request. */
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
