/** What Envoy's stream of one admitted request with a body is told and answers, phase by phase. */
import type { GatewayError } from "../contract/errors.ts";
import type { Admission } from "../limits/admission.ts";
import type { Settled } from "../settlement/settled.ts";
import type { Header, Reply } from "./reply.ts";

/** Where a request goes and with which body. */
export interface Route {
  /** Envoy cluster. */
  readonly upstream: string;
  readonly path: string;
  readonly body: Uint8Array;
  /** Request headers that go along though they are of a client's protocol. */
  readonly forwardedHeaders: readonly string[];
  /** The model's, in tokens: what asks for a larger one does not go along. */
  readonly contextWindow: number;
  /** The call from here on. */
  readonly call: RoutedCall;
}

export interface ResponseStart {
  readonly status: number;
  /** Of the response's headers what decides anything. Undefined: there is none. */
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly retryAfter: string | undefined;
  /** Envoy's `response.code_details`. */
  readonly codeDetails: string;
  /** What Envoy says of a connection that the upstream has broken, as in `LOST_CONNECTION_HEADER`; undefined: nothing. */
  readonly lostConnection: string | undefined;
  /** Envoy's `upstream.request_attempt_count`: how many of the upstream's servers were tried. */
  readonly attempts: number;
  readonly endOfStream: boolean;
}

/** A request before it is routed, and what is known of it throughout. Where a method throws, the client is told that error. */
export interface UpstreamCall {
  readonly admission: Admission;
  /** The catalog model, once it is known: for the access log. */
  readonly modelId: string | null;
  /** What the request cost, once it is settled. */
  readonly settled: Settled | null;
  /** What a whole answer's header tells of its cost; null: nothing. */
  readonly formattedCost: string | null;
  /**
   * The client's whole body. A reply where no upstream has to be asked.
   * @param query Of the client's path, without the question mark.
   * @throws GatewayError when the request is refused.
   */
  onRequestBody(body: Uint8Array, query: string): Promise<Route | Reply>;
  /** The client was told an error. */
  onRefused(error: GatewayError): void;
  /** The stream has ended before the body had come. Never throws. */
  onEnd(): Promise<void>;
  /** The stream has ended, and what the client is told was decided before. Never throws. */
  onEndAnswered(): Promise<void>;
}

/** A request that has its route. */
export interface RoutedCall {
  /** It goes upstream now. */
  onSent(): void;
  /** The stream has ended while it was being routed: nothing is sent. Never throws. */
  onEndUnsent(): Promise<void>;
  /**
   * The upstream's response has begun: what is to come of it, at once; or a reply that the client gets in its place, once
   * that is there.
   * @throws GatewayError in the promise, once the request is settled.
   */
  onResponseStart(start: ResponseStart): UpstreamResponse | Promise<Reply>;
  /** The stream has ended before the response, or in the midst of an answer. Never throws. */
  onEnd(): Promise<void>;
}

/** An upstream's response by how its body is read: all of it, piece by piece, or as much as says what went wrong. */
export type UpstreamResponse = WholeResponse | StreamedResponse | ErrorResponse;

interface ClientHeaders {
  /** Content type of the answer that the client gets. */
  readonly contentType: string;
  /** What a successful answer's headers say of how the caps have changed its request; most often nothing. */
  readonly budgetHeaders: readonly Header[];
}

/** An answer that is not streamed. */
export interface WholeResponse extends ClientHeaders {
  readonly kind: "whole";
  /**
   * The whole of it; the client's bytes, once it is charged.
   * @throws GatewayError once the request is settled.
   */
  onBody(body: Uint8Array): Promise<Uint8Array>;
  /** The rest of it is not read. Throws the error once it is settled. */
  onBodyRefused(error: GatewayError): Promise<never>;
}

/** A streamed answer. It never throws: what goes wrong in a stream is an event in it. */
export interface StreamedResponse extends ClientHeaders {
  readonly kind: "stream";
  /** What tells the client that its answer goes on. */
  readonly keepAlive: string;
  /** The client's bytes in reply to the upstream's. A promise of the last ones, which wait for their charge. */
  onChunk(chunk: Uint8Array, endOfStream: boolean): Uint8Array | Promise<Uint8Array>;
  /** The upstream has been silent for too long: the last bytes. */
  onSilence(): Promise<Uint8Array>;
}

/** An error, which the client is told in the gateway's words. */
export interface ErrorResponse {
  readonly kind: "error";
  /** The beginning of its body. Throws the error once it is settled. */
  onBody(body: Uint8Array): Promise<never>;
  /** The stream has ended before that. Never throws. */
  onEnd(): Promise<void>;
}
