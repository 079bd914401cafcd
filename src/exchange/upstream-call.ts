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
}

/** How the body of an upstream's response is to be read: piece by piece, all of it, or as much as says what went wrong. */
export type ResponseMode = "stream" | "whole" | "error";

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

/** Bytes for the client, in reply to bytes of the upstream. */
export interface ResponsePiece {
  readonly bytes: Uint8Array;
  /** Not null: the stream ended with this error's event. */
  readonly failed: GatewayError | null;
}

/** Where a method throws a GatewayError, it is what the client is told instead. */
export interface UpstreamCall {
  readonly admission: Admission;
  /** The catalog model, once it is known: for the access log. */
  readonly modelId: string | null;
  /** What the request cost, once it is settled. */
  readonly settled: Settled | null;
  /** The client asked for what its request cost. */
  wantsCost: boolean;
  /** What a whole answer's header tells of it; null: nothing. */
  readonly formattedCost: string | null;
  /** What a successful answer's headers say of how the caps have changed its request; most often nothing. */
  readonly budgetHeaders: readonly Header[];
  /** Content type of the answer that the client gets. */
  readonly contentType: string;
  /**
   * The client's whole body. A reply where no upstream has to be asked.
   * @param query Of the client's path, without the question mark.
   */
  onRequestBody(body: Uint8Array, query: string): Promise<Route | Reply>;
  /**
   * The upstream's response has begun. A reply that the client gets in its place, or how its body is to be read: at once,
   * unless it takes another look.
   */
  onResponseStart(start: ResponseStart): ResponseMode | Promise<ResponseMode | Reply>;
  onWholeBody(body: Uint8Array): Promise<Uint8Array>;
  /** The beginning of an error response's body. Throws the error once it is settled. */
  onErrorBody(body: Uint8Array): Promise<never>;
  /** The rest of a whole body is not read. Throws the error once it is settled. */
  onBodyRefused(error: GatewayError): Promise<never>;
  /** Never throws: what goes wrong in a stream is an event in it. */
  onChunk(chunk: Uint8Array, endOfStream: boolean): ResponsePiece | Promise<ResponsePiece>;
  /** What tells the client of a stream that it goes on; "" while nothing is streamed. */
  readonly keepAlive: string;
  /** The upstream of a stream has been silent for too long: its last piece, as `onChunk`. */
  onSilence(): Promise<ResponsePiece>;
  /** The client was told an error. */
  onRefused(error: GatewayError): void;
  /** It is over, whichever way. Never throws. */
  onEnd(): Promise<void>;
}
