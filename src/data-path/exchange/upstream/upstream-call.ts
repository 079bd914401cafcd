/** What Envoy's stream of one admitted request with a body is told and answers, phase by phase. */
import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { Admission } from "../../limits/admission.ts";
import type { Settled } from "../../settlement/settled.ts";
import type { Header, Reply } from "../reply.ts";

/** A request goes there, with this body. */
export interface Route {
  /** It is the name of an Envoy cluster. */
  readonly upstream: string;
  readonly path: string;
  readonly body: Uint8Array;
  /** These request headers go along though they are of a client's protocol. */
  readonly forwardedHeaders: readonly string[];
  /** It is the model's, in tokens: what asks for a larger one does not go along. */
  readonly contextWindow: number;
  /** It is the call from here on. */
  readonly call: RoutedCall;
}

export interface ResponseStart {
  readonly status: number;
  /** Of the response's headers these decide something. They are undefined where there are none. */
  readonly contentType: string | undefined;
  /** `content-encoding`, as `readCoding` reads it. */
  readonly coding: string | null;
  readonly retryAfter: string | undefined;
  /** It is Envoy's `response.code_details`. */
  readonly codeDetails: string;
  /**
   * Envoy says it of a connection that the upstream has broken, see `LOST_CONNECTION_HEADER`; most often it says
   * nothing.
   */
  readonly lostConnection: string | undefined;
  /** It is Envoy's `upstream.request_attempt_count`: so many of the upstream's servers were tried. */
  readonly attempts: number;
  readonly endOfStream: boolean;
}

/**
 * A request is this until it is routed, and what is known of it is kept here. Where a method throws, the client is told
 * that error.
 */
export interface UpstreamCall {
  readonly admission: Admission;
  /** The access log names this model of the catalog, once it is known. */
  readonly modelId: string | null;
  /** The request cost this, once it is settled. */
  readonly settled: Settled | null;
  /** A whole answer's header tells this of its cost; null stands for nothing. */
  readonly formattedCost: string | null;
  /**
   * The client's whole body has come. It resolves with a reply where no upstream has to be asked.
   * @param query It is that of the client's path, without the question mark.
   * @throws GatewayError when the request is refused.
   */
  onRequestBody(body: Uint8Array, query: string): Promise<Route | Reply>;
  /** The client was told an error. */
  onRefused(error: GatewayError): void;
  /** The stream has ended before the body had come. It never throws. */
  onEnd(): Promise<void>;
  /** The stream has ended, and what the client is told was decided before. It never throws. */
  onEndAnswered(): Promise<void>;
}

/** A request is this once it has its route. */
export interface RoutedCall {
  /** It goes upstream now. */
  onSent(): void;
  /** The stream has ended while it was being routed: nothing is sent. It never throws. */
  onEndUnsent(): Promise<void>;
  /**
   * The upstream's response has begun. It returns at once what that response is, or a promise of the reply that the client
   * gets in its place.
   * @throws GatewayError The promise rejects with it once the request is settled.
   */
  onResponseStart(start: ResponseStart): UpstreamResponse | Promise<Reply>;
  /** The stream has ended before the response, or in the midst of an answer. It never throws. */
  onEnd(): Promise<void>;
}

/**
 * An upstream's response is one of these by how its body is read: all of it, piece by piece, or as much as says what
 * went wrong.
 */
export type UpstreamResponse = WholeResponse | StreamedResponse | ErrorResponse;

interface ClientHeaders {
  /** The answer that the client gets has this content type. */
  readonly contentType: string;
  /** A successful answer's headers say with them how the caps have changed its request; most often there are none. */
  readonly budgetHeaders: readonly Header[];
}

/** This answer is not streamed. */
export interface WholeResponse extends ClientHeaders {
  readonly kind: "whole";
  /**
   * The whole of it has come. It resolves with the client's bytes once the request is charged.
   * @throws GatewayError The promise rejects with it once the request is settled.
   */
  onBody(body: Uint8Array): Promise<Uint8Array>;
  /** The rest of it is not read. It throws the error once the request is settled. */
  onBodyRefused(error: GatewayError): Promise<never>;
}

/** This answer is streamed. It never throws: what goes wrong in a stream is an event in it. */
export interface StreamedResponse extends ClientHeaders {
  readonly kind: "stream";
  /** It tells the client that its answer goes on. */
  readonly keepAlive: string;
  /**
   * It returns the client's bytes in reply to the upstream's, and a promise of the last ones, which wait for their
   * charge.
   */
  onChunk(chunk: Uint8Array, endOfStream: boolean): Uint8Array | Promise<Uint8Array>;
  /** The upstream has been silent for too long: these are the last bytes. */
  onSilence(): Promise<Uint8Array>;
}

/** This is an error, which the client is told in the gateway's words. */
export interface ErrorResponse {
  readonly kind: "error";
  /**
   * The beginning of its body has come. It throws the error once the request is settled, or resolves with what the client
   * gets in its place.
   */
  onBody(body: Uint8Array): Promise<Reply>;
  /** The stream has ended before that. It never throws. */
  onEnd(): Promise<void>;
}
