/**
 * ext_proc: one stream per request that was admitted. Envoy sends the request's headers, its whole body, the response's
 * headers and the response's body. Each message gets exactly one reply, in order; pieces of a streamed response are
 * answered by those that the client gets, however many, and by the end of its response.
 *
 * What must never happen here: a request that carries no admission goes on (a filter chain in which ext_authz was
 * skipped would otherwise be an open door), or a call that owes a reply ends with OK (Envoy would let the request pass
 * unprocessed).
 */
import { GatewayError } from "../errors.ts";
import { parseAdmissionHeader } from "../exchange/admission-header.ts";
import type { LocalEndpoints } from "../exchange/local-endpoints.ts";
import type { ResponseMode, ResponsePiece, UpstreamCall } from "../exchange/upstream-call.ts";
import { METERED_ENDPOINTS } from "../exchange/endpoints.ts";
import { namesToRemoveDownstream, namesToRemoveUpstream } from "../exchange/header-policy.ts";
import { type Header, type Reply, createErrorReply } from "../exchange/reply.ts";
import type { Admission } from "../limits/admission.ts";
import type { Logger } from "../logger.ts";
import type { Protocol, ProtocolName } from "../translation/client-protocol.ts";
import type { HttpBody__Output } from "./messages/generated/envoy/service/ext_proc/v3/HttpBody.ts";
import type { HttpHeaders__Output } from "./messages/generated/envoy/service/ext_proc/v3/HttpHeaders.ts";
import type { ProcessingRequest__Output } from "./messages/generated/envoy/service/ext_proc/v3/ProcessingRequest.ts";
import type { ProcessingResponse } from "./messages/generated/envoy/service/ext_proc/v3/ProcessingResponse.ts";
import type { Struct } from "./messages/generated/google/protobuf/Struct.ts";
import { findHeader, type Headers, namesOf, parseHeaderMap } from "./messages/headers.ts";
import { formatMetadata } from "./messages/metadata.ts";
import { ADMISSION_HEADER } from "./names.ts";
import {
  AWAIT_BODY,
  NOTHING_IN_BODY,
  NOTHING_IN_HEADERS,
  NOTHING_IN_REQUEST_TRAILERS,
  NOTHING_IN_TRAILERS,
  createChunkReply,
  createLastChunkReply,
  createImmediateReply,
  createResponseStartReply,
  createRouteReply,
  createWholeBodyReply,
} from "./messages/format-replies.ts";
import type { ProcessCall, ProcessListener } from "./transport/contract.ts";

export interface StreamServices {
  readonly createExchange: (admission: Admission, protocol: Protocol) => UpstreamCall;
  /** For endpoints that count the tokens of a request. */
  readonly createCount: (admission: Admission) => UpstreamCall;
  readonly localEndpoints: LocalEndpoints;
  readonly protocols: Readonly<Record<ProtocolName, Protocol>>;
  /** A request came without an admission; for an alarm. */
  readonly onUnadmitted?: () => void;
  readonly logger: Logger<"warn" | "error">;
}

/** Under which name Envoy sends the attributes that this filter has asked for. */
const ATTRIBUTES = "envoy.filters.http.ext_proc";
const EMPTY = new Uint8Array(0);
const COST_HEADER = "x-request-cost";
/** A client's wish for the cost in the usage of its answer. */
const INCLUDE_COST_HEADER = "x-include-cost";

export class RequestStream implements ProcessListener {
  readonly #call: ProcessCall;
  readonly #services: StreamServices;
  /** The reply that is being worked on; messages that come meanwhile wait for it. */
  #pending: Promise<void> | null = null;
  #admission: Admission | null = null;
  #exchange: UpstreamCall | null = null;
  #requestHeaderNames: string[] = [];
  #query = "";
  #streams = false;
  /** The access log knows whose request it is. */
  #isIdentityTold = false;
  /** Pieces for the client of this turn of the event loop. */
  #chunks: Uint8Array[] = [];
  #ended = false;

  constructor(call: ProcessCall, services: StreamServices) {
    this.#call = call;
    this.#services = services;
  }

  onMessage(message: ProcessingRequest__Output): void {
    const before = this.#pending;
    // One may wait here, since it is read already; more of them stay with Envoy.
    if (before !== null) this.#call.pause();
    const started = before === null ? this.#handle(message) : before.then(() => this.#handle(message));
    if (started === undefined) return;
    const finish = (): void => {
      if (this.#pending !== pending) return;
      this.#pending = null;
      this.#call.resume();
    };
    const pending: Promise<void> = started.then(finish, (error: unknown) => {
      this.#breakOff(error);
      finish();
    });
    this.#pending = pending;
  }

  onEnd(): void {
    this.#ended = true;
    const settle = this.#exchange?.onEnd();
    settle?.catch((error: unknown) =>
      this.#services.logger.error({ err: error }, "an exchange could not be settled"),
    );
  }

  /** A promise only where the reply has to wait for something: chunks of a stream are answered at once. */
  #handle(message: ProcessingRequest__Output): Promise<void> | undefined {
    if (this.#ended) return undefined;
    try {
      if (message.response_body !== undefined) return this.#onResponseBody(message.response_body);
      if (message.request_headers !== undefined) return this.#onRequestHeaders(message.request_headers);
      if (message.request_body !== undefined) return this.#onRequestBody(message.request_body);
      if (message.response_headers !== undefined) return this.#onResponseHeaders(message);
      if (message.response_trailers !== undefined) return this.#onResponseTrailers();
      if (message.request_trailers !== undefined) this.#call.reply(NOTHING_IN_REQUEST_TRAILERS);
      else this.#breakOff(new Error("Envoy sent a message of a kind that nobody asked for"));
    } catch (error) {
      this.#breakOff(error);
    }
    return undefined;
  }

  #onRequestHeaders(message: HttpHeaders__Output): Promise<void> | undefined {
    // A second exchange would leave the first one's hold open for ever.
    if (this.#admission !== null) throw new Error("Envoy sent a request's headers twice");
    const admissionHeader = findHeader(message.headers, ADMISSION_HEADER);
    if (admissionHeader === undefined) {
      this.#refuseUnadmitted(parseHeaderMap(message.headers));
      return undefined;
    }
    const admission = parseAdmissionHeader(admissionHeader);
    this.#admission = admission;
    this.#requestHeaderNames = namesOf(message.headers);
    this.#query = queryOf(findHeader(message.headers, ":path") ?? "");
    const { localEndpoints, createExchange, createCount, protocols } = this.#services;
    if (METERED_ENDPOINTS.has(admission.endpoint)) {
      this.#exchange = createExchange(admission, protocols[admission.protocol]);
      const wish = findHeader(message.headers, INCLUDE_COST_HEADER);
      this.#exchange.wantsCost = wish?.trim().toLowerCase() === "true";
    } else if (admission.endpoint === "count_tokens") {
      this.#exchange = createCount(admission);
    }
    if (this.#exchange !== null) {
      // Envoy sends no body message for a request without a body.
      if (message.end_of_stream === true) return this.#onWholeRequest(this.#exchange, EMPTY);
      this.#reply(AWAIT_BODY);
      return undefined;
    }
    return this.#replyOrRefuse(async () =>
      createImmediateReply(await localEndpoints.answer(admission, parseHeaderMap(message.headers))),
    );
  }

  #onRequestBody(message: HttpBody__Output): Promise<void> | undefined {
    if (this.#exchange === null) throw new Error("Envoy sent a body that nobody asked for");
    return this.#onWholeRequest(this.#exchange, message.body ?? EMPTY);
  }

  #onWholeRequest(exchange: UpstreamCall, body: Uint8Array): Promise<void> | undefined {
    return this.#replyOrRefuse(async () => {
      const route = await exchange.onRequestBody(body, this.#query);
      if ("status" in route) return createImmediateReply(route);
      const remove = namesToRemoveUpstream(this.#requestHeaderNames, route.forwardedHeaders);
      return createRouteReply(route, remove, this.#nextMetadata());
    });
  }

  #onResponseHeaders(message: ProcessingRequest__Output): Promise<void> | undefined {
    const exchange = this.#exchange;
    // A response to a request that never reached us: another filter's local reply. There is nothing to change in it.
    if (exchange === null) {
      this.#reply(NOTHING_IN_HEADERS);
      return undefined;
    }
    const received = message.response_headers;
    const find = (name: string): string | undefined => findHeader(received?.headers, name);
    const status = Number(find(":status"));
    const names = namesOf(received?.headers);
    return this.#replyOrRefuse(() => {
      const attributes = message.attributes?.[ATTRIBUTES]?.fields;
      const mode = exchange.onResponseStart({
        status,
        contentType: find("content-type"),
        contentEncoding: find("content-encoding"),
        retryAfter: find("retry-after"),
        codeDetails: attributes?.["response.code_details"]?.stringValue ?? "",
        attempts: attributes?.["upstream.request_attempt_count"]?.numberValue ?? 1,
        endOfStream: received?.end_of_stream === true,
      });
      const start = (decided: ResponseMode | Reply): ProcessingResponse =>
        this.#startResponse(exchange, decided, status, names);
      return mode instanceof Promise ? mode.then(start) : start(mode);
    });
  }

  #startResponse(
    exchange: UpstreamCall,
    mode: ResponseMode | Reply,
    status: number,
    names: string[],
  ): ProcessingResponse {
    if (typeof mode !== "string") return createImmediateReply(mode);
    this.#streams = mode === "stream";
    const set: Header[] = [];
    // An answer is an answer: 201, 206 or 299 would tell a client of what it did not ask for.
    if (status > 200 && status < 300) set.push([":status", "200"]);
    if (this.#streams) set.push(["content-type", exchange.contentType], ["cache-control", "no-cache"]);
    return createResponseStartReply(mode, set, namesToRemoveDownstream(names));
  }

  #onResponseBody(message: HttpBody__Output): Promise<void> | undefined {
    const exchange = this.#exchange;
    if (exchange === null) {
      this.#call.reply(NOTHING_IN_BODY);
      return undefined;
    }
    const body = message.body ?? EMPTY;
    if (!this.#streams) return this.#onWholeResponse(exchange, body);
    const piece = exchange.onChunk(body, message.end_of_stream === true);
    if (piece instanceof Promise) return this.#onLastPiece(piece);
    if (piece.bytes.byteLength > 0) this.#addChunk(piece.bytes);
    return undefined;
  }

  /** Pieces of one turn of the event loop leave as one message; none waits longer than its turn. */
  #addChunk(bytes: Uint8Array): void {
    if (this.#chunks.push(bytes) === 1) queueMicrotask(() => this.#sendChunks());
  }

  #sendChunks(): void {
    const [first] = this.#chunks;
    if (first === undefined) return;
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    this.#chunks = [];
    if (!this.#ended) this.#call.reply(createChunkReply(bytes));
  }

  /** Where there are trailers, the piece before them was not marked as the last one. */
  #onResponseTrailers(): Promise<void> | undefined {
    const exchange = this.#exchange;
    const piece = exchange !== null && this.#streams ? exchange.onChunk(EMPTY, true) : null;
    if (exchange !== null && piece instanceof Promise) return this.#onLastPiece(piece);
    this.#reply(NOTHING_IN_TRAILERS);
    return undefined;
  }

  async #onLastPiece(last: Promise<ResponsePiece>): Promise<void> {
    const { bytes } = await last;
    this.#reply(createLastChunkReply(bytes, this.#nextMetadata()));
  }

  #onWholeResponse(exchange: UpstreamCall, body: Uint8Array): Promise<void> | undefined {
    return this.#replyOrRefuse(async () => {
      const bytes = await exchange.onWholeBody(body);
      const headers: Header[] = [["content-type", exchange.contentType], ...formatCostHeader(exchange)];
      return createWholeBodyReply(bytes, headers, this.#nextMetadata());
    });
  }

  /** Sends what is made, or the error that it ends in as the client's answer: at once, unless it has to wait. */
  #replyOrRefuse(make: () => ProcessingResponse | Promise<ProcessingResponse>): Promise<void> | undefined {
    let response: ProcessingResponse;
    try {
      const made = make();
      if (made instanceof Promise) {
        return made.then(
          (reply) => this.#reply(reply),
          (thrown: unknown) => this.#reply(this.#refuse(thrown)),
        );
      }
      response = made;
    } catch (thrown) {
      response = this.#refuse(thrown);
    }
    this.#reply(response);
    return undefined;
  }

  #refuse(thrown: unknown): ProcessingResponse {
    const admission = this.#admitted();
    const error = GatewayError.from(thrown);
    if (error.code === "internal_error") {
      this.#services.logger.error(
        { request_id: admission.requestId, err: error.cause ?? error },
        "a request failed",
      );
    }
    this.#exchange?.onRefused(error);
    return createImmediateReply(this.#errorReply(admission, error), this.#nextMetadata(error.publicCode));
  }

  /** What the access log has not been told yet. */
  #nextMetadata(errorCode: string | null = null): Struct {
    const identity = this.#isIdentityTold ? null : this.#admitted();
    this.#isIdentityTold = true;
    return formatMetadata(identity, this.#exchange, errorCode);
  }

  /** An error that nothing was charged for says nothing of a cost. */
  #errorReply(admission: Admission, error: GatewayError): Reply {
    const reply = createErrorReply(error, this.#services.protocols[admission.protocol], admission);
    const exchange = this.#exchange;
    if (exchange === null || !exchange.settled?.costMicrocents) return reply;
    return { ...reply, headers: [...reply.headers, ...formatCostHeader(exchange)] };
  }

  #refuseUnadmitted(headers: Headers): void {
    this.#services.onUnadmitted?.();
    this.#services.logger.error(
      { path: headers[":path"]?.split("?")[0] },
      "a request without an admission was refused: ext_authz did not run before ext_proc; check the filter chain",
    );
    const context = { requestId: headers["x-request-id"] ?? "", protocol: "chat", rate: null } as const;
    const reply = createErrorReply(
      new GatewayError("internal_error"),
      this.#services.protocols.chat,
      context,
    );
    this.#reply(createImmediateReply(reply));
  }

  #admitted(): Admission {
    if (this.#admission === null) throw new Error("Envoy sent a body before the request's headers");
    return this.#admission;
  }

  #reply(response: ProcessingResponse): void {
    this.#sendChunks();
    if (!this.#ended) this.#call.reply(response);
  }

  #breakOff(error: unknown): void {
    this.#services.logger.error(
      { request_id: this.#admission?.requestId, err: error },
      "an exchange was broken off",
    );
    if (!this.#ended) this.#call.fail("internal error");
  }
}

function formatCostHeader({ formattedCost }: UpstreamCall): Header[] {
  return formattedCost === null ? [] : [[COST_HEADER, formattedCost]];
}

/** What stands between a path's first question mark and its second one, or its end. */
function queryOf(path: string): string {
  const start = path.indexOf("?");
  if (start === -1) return "";
  const end = path.indexOf("?", start + 1);
  return end === -1 ? path.slice(start + 1) : path.slice(start + 1, end);
}
