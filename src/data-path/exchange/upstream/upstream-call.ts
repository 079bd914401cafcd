/** Contract between Envoy's stream and the handling of one admitted request with a body, by phase. */
import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { Admission } from "../../limits/admission.ts";
import type { Settled } from "../../settlement/settled.ts";
import type { Header, Reply } from "../reply.ts";

/** Headers of a request that affect its route. */
export interface RequestHeaders {
  readonly names: readonly string[];
  /** The value of `anthropic-beta`. */
  readonly betas?: string | undefined;
  /** The value of `x-session-affinity`. */
  readonly affinity?: string | undefined;
}

export const NO_HEADERS: RequestHeaders = { names: [] };

/** Upstream and body of a routed request. */
export interface Route {
  /** Name of an Envoy cluster. */
  readonly upstream: string;
  readonly path: string;
  readonly body: Uint8Array;
  /** Protocol-specific request headers that are forwarded upstream. */
  readonly forwardedHeaders: readonly string[];
  /** Headers by which a server of the upstream is chosen; see server-headers.ts. */
  readonly serverHeaders: readonly Header[];
  /** Size of the model's context window in tokens. Headers that request a larger one are removed. */
  readonly contextWindow: number;
  /** Handles the call from here on. */
  readonly call: RoutedCall;
}

export interface ResponseStart {
  readonly status: number;
  /** Response headers that affect decisions; undefined if absent. */
  readonly contentType: string | undefined;
  /** `content-encoding`, as `readCoding` reads it. */
  readonly coding: string | null;
  readonly retryAfter: string | undefined;
  /** Envoy's `response.code_details`. */
  readonly codeDetails: string;
  /** Envoy's report of a connection that the upstream broke, see `LOST_CONNECTION_HEADER`; usually absent. */
  readonly lostConnection: string | undefined;
  /** Envoy's `upstream.request_attempt_count`: number of upstream servers tried. */
  readonly attempts: number;
  readonly endOfStream: boolean;
}

/** A request before it is routed, and its results. Errors that methods throw are sent to the client. */
export interface UpstreamCall {
  readonly admission: Admission;
  /** Id of the catalog's model for the access log, once known. */
  readonly modelId: string | null;
  /** The request's cost, once settled. */
  readonly settled: Settled | null;
  /** Value of the cost header of a whole response; null for no header. */
  readonly formattedCost: string | null;
  /**
   * Handles the client's complete body. Resolves with a reply if no upstream is needed.
   * @param query Query of the client's path, without the question mark.
   * @throws GatewayError if the request is rejected.
   */
  onRequestBody(body: Uint8Array, query: string, headers: RequestHeaders): Promise<Route | Reply>;
  /** The client got an error. */
  onRefused(error: GatewayError): void;
  /** The stream ended before the body was complete. Never throws. */
  onEnd(): Promise<void>;
  /** The stream ended after the client's response was decided. Never throws. */
  onEndAnswered(): Promise<void>;
}

/** A request once it is routed. */
export interface RoutedCall {
  /** The request is being sent upstream. */
  onSent(): void;
  /** The stream ended during routing, and nothing is sent. Never throws. */
  onEndUnsent(): Promise<void>;
  /**
   * Handles the beginning of the upstream's response. Returns the response at once, or a promise of the reply that
   * replaces it.
   * @throws GatewayError (as a rejection) once the request is settled.
   */
  onResponseStart(start: ResponseStart): UpstreamResponse | Promise<Reply>;
  /** The stream ended before the response, or in the middle of it. Never throws. */
  onEnd(): Promise<void>;
}

/** An upstream's response, by how its body is read: whole, piece by piece, or just enough to explain an error. */
export type UpstreamResponse = WholeResponse | StreamedResponse | ErrorResponse;

interface ClientHeaders {
  /** Content type of the client's response. */
  readonly contentType: string;
  /** Headers of a successful response that report how caps changed its request; usually empty. */
  readonly budgetHeaders: readonly Header[];
}

/** A response that is not streamed. */
export interface WholeResponse extends ClientHeaders {
  readonly kind: "whole";
  /**
   * Handles the complete body. Resolves with the client's bytes once the request is charged.
   * @throws GatewayError (as a rejection) once the request is settled.
   */
  onBody(body: Uint8Array): Promise<Uint8Array>;
  /** The rest of the body is not read. Throws the error once the request is settled. */
  onBodyRefused(error: GatewayError): Promise<never>;
}

/** A streamed response. Never throws: errors become events of the stream. */
export interface StreamedResponse extends ClientHeaders {
  readonly kind: "stream";
  /** Bytes that keep the client's connection alive. */
  readonly keepAlive: string;
  /**
   * Returns the client's bytes for the upstream's chunk, or a promise of the last ones, which wait for their charge.
   */
  onChunk(chunk: Uint8Array, endOfStream: boolean): Uint8Array | Promise<Uint8Array>;
  /** The upstream has been silent for too long. Resolves with the last bytes. */
  onSilence(): Promise<Uint8Array>;
}

/** An upstream's error, which the client gets in the gateway's words. */
export interface ErrorResponse {
  readonly kind: "error";
  /**
   * Handles the beginning of the body. Throws the error once the request is settled, or resolves with the reply that
   * replaces it.
   */
  onBody(body: Uint8Array): Promise<Reply>;
  /** The stream ended earlier. Never throws. */
  onEnd(): Promise<void>;
}
