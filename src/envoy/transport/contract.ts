/**
 * Contract between transports and handlers of Envoy's calls, as plain types. Every transport creates an
 * `EnvoyServer` from the same options, and only knows the handlers by these types.
 */
import type {
  StreamAccessLogsMessage,
  CheckRequest,
  CheckResponse,
  ProcessingRequest,
  ProcessingResponse,
} from "../messages/codec.ts";
import type { SidecarTlsOptions } from "./sidecar-tls.ts";

/** Handlers of Envoy's calls. */
export interface EnvoyHandlers {
  /** ext_authz. Never rejects. */
  check(request: CheckRequest, call: CheckCall): Promise<CheckResponse>;
  /** One call per ext_proc stream. Never throws. */
  openProcess(call: ProcessCall): ProcessListener;
  /** Entries of Envoy's access log. Never throws. */
  log(message: StreamAccessLogsMessage): void;
  /** gRPC health: SERVING or NOT_SERVING. */
  isServing(): boolean;
}

/** Our side of an ext_authz call. */
export interface CheckCall {
  /** The reply is no longer needed: Envoy has canceled the call, or it timed out. */
  readonly isOver: boolean;
  /**
   * Called if Envoy cancels the call after its reply, without having read it. Only by the transport `wire`. Null:
   * nothing to undo.
   */
  onUnread: (() => void) | null;
}

/** Our side of an ext_proc stream. Its methods do nothing once the stream is over. */
export interface ProcessCall {
  /**
   * Answers everything received so far of the request or the response. An `immediate_response` answers both
   * and is the last reply. After a reply to response headers without a body, any number of replies may follow
   * until the one that ends the body.
   */
  reply(response: ProcessingResponse): void;
  /** Ends with an error status: never OK while a reply is outstanding. The reason appears in Envoy's log. */
  fail(reason: string): void;
  /** Pauses delivery to a busy listener, which soon makes Envoy stop sending, until `resume`. */
  pause(): void;
  resume(): void;
}

/** Envoy's side of an ext_proc stream. */
export interface ProcessListener {
  /** Not called after an `immediate_response`, `fail` or `onEnd`. Never throws. */
  onMessage(request: ProcessingRequest): void;
  /**
   * Called exactly once, also after `fail`: Envoy half-closed or canceled the stream, or the connection broke. Never
   * throws.
   */
  onEnd(): void;
}

export type EnvoyServerAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number };

export interface EnvoyServerOptions {
  readonly transport: "wire" | "grpc-js";
  readonly address: EnvoyServerAddress;
  readonly handlers: EnvoyHandlers;
  /** Limit of one message in either direction; larger ones end the call with an error. */
  readonly maxMessageBytes: number;
  /** Limit of concurrent calls over all connections of the transport `wire`; further calls fail. Default: 65,536. */
  readonly maxCalls?: number;
  /** Mutual TLS. Omitted for Unix sockets, and for plain text that the operator has allowed. */
  readonly tls?: SidecarTlsOptions | null;
  /** Called if renewed certificates cannot be used; the old ones stay in force. */
  readonly onCertificateProblem?: (error: unknown) => void;
}

export interface EnvoyServer {
  /**
   * Resolves once listening. Replaces a socket file without a listener.
   * @throws Error if the address is in use, or if the path is not a socket.
   */
  listen(): Promise<void>;
  /**
   * Reports NOT_SERVING at once. After Envoy has had time to notice, stops accepting connections and sends
   * GOAWAY, so that new calls go elsewhere; open calls continue. Resolves when no call is open or after
   * `boundMs`; never rejects.
   */
  drain(boundMs: number): Promise<void>;
  /** Breaks open calls and stops listening. */
  close(): Promise<void>;
  /** Concurrent calls, without health watches. */
  readonly openStreams: number;
}
