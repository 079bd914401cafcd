/**
 * What carries Envoy's calls, and what is carried, as plain types: handlers, calls, servers. Every transport makes an
 * `EnvoyServer` of the same options, and knows the handlers by these types alone.
 */
import type {
  AccessLogMessage,
  CheckRequest,
  CheckResponse,
  ProcessingRequest,
  ProcessingResponse,
} from "../messages/codec.ts";
import type { SidecarTlsOptions } from "./sidecar-tls.ts";

/** What a server does with Envoy's calls. */
export interface EnvoyHandlers {
  /** ext_authz. Never rejects. */
  check(request: CheckRequest, call: CheckCall): Promise<CheckResponse>;
  /** One call per ext_proc stream. Never throws. */
  openProcess(call: ProcessCall): ProcessListener;
  /** Entries of Envoy's access log. Never throws. */
  log(message: AccessLogMessage): void;
  /** gRPC health: SERVING or NOT_SERVING. */
  isServing(): boolean;
}

/** Our side of an ext_authz call. */
export interface CheckCall {
  /** Nobody waits for the reply any more: Envoy has taken the call back, or its time is over. */
  readonly isOver: boolean;
}

/** Our side of an ext_proc stream. Its methods do nothing once the stream is over. */
export interface ProcessCall {
  /**
   * Answers all that has come of the request, or of the response, so far; an `immediate_response` answers both and is the
   * last one. Once a reply to a response's headers leaves its body out, replies are free, up to the one with its end.
   */
  reply(response: ProcessingResponse): void;
  /** Ends with an error status: never OK while a reply is owed. The reason reaches Envoy's log. */
  fail(reason: string): void;
  /** The listener is behind: it gets no message, and Envoy soon no leave to send more, until `resume`. */
  pause(): void;
  resume(): void;
}

/** Envoy's side of an ext_proc stream. */
export interface ProcessListener {
  /** Not called any more after an `immediate_response`, `fail` or `onEnd`. Never throws. */
  onMessage(request: ProcessingRequest): void;
  /** Exactly once, after `fail` too: Envoy half-closed, cancelled, or the connection broke. Never throws. */
  onEnd(): void;
}

/** Where the server listens. */
export type EnvoyServerAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number };

export interface EnvoyServerOptions {
  readonly transport: "wire" | "grpc-js";
  readonly address: EnvoyServerAddress;
  readonly handlers: EnvoyHandlers;
  /** Limit of one message in either direction; larger ones end the call with an error. */
  readonly maxMessageBytes: number;
  /** Calls under way over all connections of the transport `wire`; more fail. 65,536 if left out. */
  readonly maxCalls?: number;
  /** Mutual TLS; in the clear when left out, for Unix sockets and what the operator has allowed. */
  readonly tls?: SidecarTlsOptions | null;
  /** Renewed certificates that cannot be used; the old ones stay. */
  readonly onCertificateProblem?: (error: unknown) => void;
}

export interface EnvoyServer {
  /**
   * Resolves once listening. A socket file that nobody listens on any more is replaced.
   * @throws when the address is taken, or when the path is not a socket.
   */
  listen(): Promise<void>;
  /**
   * Health goes NOT_SERVING at once. When Envoy has had the time to see that, no connection is accepted any more and
   * GOAWAY tells it to send new calls elsewhere; open ones run on. Resolves when none is open or after `boundMs`; never
   * rejects.
   */
  drain(boundMs: number): Promise<void>;
  /** Breaks what is still open and stops listening. */
  close(): Promise<void>;
  /** Calls under way, health watches not counted. */
  readonly openStreams: number;
}
