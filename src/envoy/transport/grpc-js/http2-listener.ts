import type {
  Http2SecureServer,
  Http2Server,
  Http2Session,
  ServerHttp2Session,
  ServerHttp2Stream,
  IncomingHttpHeaders,
} from "node:http2";
import type { TLSSocket } from "node:tls";
import { waitAtMost } from "../../../shared/event-loop/wait.ts";
import type { EnvoyServerAddress, EnvoyServerOptions } from "../contract.ts";
import { DrainNotice } from "../drain-notice.ts";
import { LASTING_CALLS } from "../lasting-calls.ts";
import { isNamedClient } from "../sidecar-tls.ts";
import { listenAt } from "../socket-file.ts";
import { CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES } from "../wire/limits.ts";

const MAX_FRAME_BYTES = 1024 * 1024;
/** Every request in flight is one stream, on few connections. */
const MAX_CONCURRENT_STREAMS = 1_000_000;
/** Largest stream id: a GOAWAY with it rejects nothing and only asks for new calls to go elsewhere. */
const MAX_STREAM_ID = 2 ** 31 - 1;
/** Timeout for Envoy to read the first GOAWAY. */
const GOAWAY_ACKNOWLEDGED_WITHIN_MS = 1_000;

/** Lifecycle of the HTTP/2 server inside grpc-js: windows, listening, draining. */
export class Http2Listener {
  readonly #server: Http2Server | Http2SecureServer;
  readonly #address: EnvoyServerAddress;
  readonly #clientName: string | null;
  /** Connections with their number of open calls. */
  readonly #sessions = new Map<Http2Session, number>();
  readonly #notice = new DrainNotice();
  #openStreams = 0;
  #isDraining = false;
  #whenIdle: (() => void)[] = [];

  constructor(server: Http2Server | Http2SecureServer, options: Pick<EnvoyServerOptions, "address" | "tls">) {
    this.#server = server;
    this.#address = options.address;
    this.#clientName = options.tls?.clientName ?? null;
    server.updateSettings({
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxFrameSize: MAX_FRAME_BYTES,
      maxConcurrentStreams: MAX_CONCURRENT_STREAMS,
    });
    server.on("session", (session) => this.#addSession(session));
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      // Draining does not wait for lasting calls, so they are not counted.
      if (!LASTING_CALLS.has(headers[":path"])) this.#countStream(stream);
      this.#notice.onCall(headers[":path"]);
    });
  }

  /** Number of open calls. */
  get openStreams(): number {
    return this.#openStreams;
  }

  /** True from the start of `drain` or `close`. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** See `EnvoyServer.listen`. */
  async listen(): Promise<void> {
    await listenAt(this.#server, this.#address);
  }

  /** See `EnvoyServer.drain`. */
  async drain(boundMs: number): Promise<void> {
    this.#isDraining = true;
    await waitAtMost(this.#empty(boundMs), boundMs);
  }

  async #empty(boundMs: number): Promise<void> {
    if (this.#sessions.size > 0) await this.#notice.wait(boundMs / 2);
    this.#server.close();
    await Promise.all([...this.#sessions].map(([session, calls]) => drainSession(session, calls > 0)));
    if (this.#openStreams > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** See `EnvoyServer.close`. */
  async close(): Promise<void> {
    this.#isDraining = true;
    const sessionsClosed = [...this.#sessions.keys()].map(
      (session) => new Promise<void>((resolve) => session.once("close", resolve).destroy()),
    );
    if (this.#server.listening) await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all(sessionsClosed);
  }

  #addSession(session: ServerHttp2Session): void {
    if (!isNamedClient(session.socket as TLSSocket, this.#clientName)) {
      session.destroy();
      return;
    }
    session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    this.#sessions.set(session, 0);
    session.once("close", () => this.#sessions.delete(session));
  }

  #countStream(stream: ServerHttp2Stream): void {
    // The type of a server's stream does not say that its session is a server's.
    const session = stream.session as ServerHttp2Session | undefined;
    this.#openStreams += 1;
    this.#countCall(session, 1);
    stream.once("close", () => {
      this.#openStreams -= 1;
      this.#countCall(session, -1);
      if (this.#openStreams > 0) return;
      for (const resolve of this.#whenIdle.splice(0)) resolve();
    });
  }

  #countCall(session: Http2Session | undefined, change: 1 | -1): void {
    const calls = session === undefined ? undefined : this.#sessions.get(session);
    if (session !== undefined && calls !== undefined) this.#sessions.set(session, calls + change);
  }
}

/**
 * Asks a client to send new calls elsewhere. Two steps as in gRPC: a GOAWAY that rejects nothing, then, after
 * the client has read it, one with the last call that we accepted. With only the second, calls that are on
 * their way would fail. Not on an idle connection: Node stops reading from one after its first GOAWAY.
 */
async function drainSession(session: Http2Session, isBusy: boolean): Promise<void> {
  if (session.closed || session.destroyed) return;
  if (!isBusy) {
    session.close();
    return;
  }
  session.goaway(0, MAX_STREAM_ID);
  const acknowledged = new Promise<void>((resolve) => {
    session.once("close", resolve);
    if (session.destroyed || !session.ping(() => resolve())) resolve();
  });
  await waitAtMost(acknowledged, GOAWAY_ACKNOWLEDGED_WITHIN_MS);
  session.close();
}
