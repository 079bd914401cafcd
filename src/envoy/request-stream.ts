/**
 * ext_proc: one stream per request that was admitted. Envoy sends the request's headers and its body behind them, without
 * waiting in between, and so the response. One reply answers the whole request, one the whole response; a streamed response
 * is answered by its headers, by the pieces that the client gets, however many, and by the end of its response.
 *
 * What must never happen here: a request that carries no admission goes on (a filter chain in which ext_authz was
 * skipped would otherwise be an open door), or a call that owes a reply ends with OK (Envoy would let the request pass
 * unprocessed).
 */
import { GatewayError } from "../contract/errors.ts";
import type { ResponseMode, ResponsePiece, UpstreamCall } from "../exchange/upstream-call.ts";
import { CollectedBody } from "../exchange/collected-body.ts";
import { ErrorBody } from "../exchange/error-body.ts";
import { METERED_ENDPOINTS } from "../exchange/endpoints.ts";
import { INCLUDE_COST_HEADER } from "../contract/header-names.ts";
import {
  BETA_HEADER,
  changesForUpstream,
  namesToRemoveDownstream,
  type RequestHeaders,
} from "../exchange/header-policy.ts";
import { type Header, type Reply, createErrorReply, formatCostHeader } from "../exchange/reply.ts";
import type { Admission } from "../limits/admission.ts";
import type { HttpBody__Output } from "./messages/generated/envoy/service/ext_proc/v3/HttpBody.ts";
import type { HttpHeaders__Output } from "./messages/generated/envoy/service/ext_proc/v3/HttpHeaders.ts";
import type { ProcessingRequest__Output } from "./messages/generated/envoy/service/ext_proc/v3/ProcessingRequest.ts";
import type { ProcessingResponse } from "./messages/generated/envoy/service/ext_proc/v3/ProcessingResponse.ts";
import type { Struct } from "./messages/generated/google/protobuf/Struct.ts";
import { findHeader, namesOf, queryOf } from "./messages/headers.ts";
import { formatMetadata } from "./messages/metadata.ts";
import { MessageTurns } from "./message-turns.ts";
import { LOST_CONNECTION_HEADER, PROCESSING_FILTER } from "./names.ts";
import { readAdmission, type ReadAdmission } from "./read-admission.ts";
import {
  AWAIT_BODY,
  type ChangedHeaders,
  NOTHING_IN_BODY,
  NOTHING_IN_HEADERS,
  NOTHING_IN_REQUEST_TRAILERS,
  NOTHING_IN_TRAILERS,
  createBodyRouteReply,
  createChunkReply,
  createLastChunkReply,
  createImmediateReply,
  createRouteReply,
  createStreamStartReply,
  createWholeReply,
} from "./messages/format-replies.ts";
import type { StreamServices } from "./stream-services.ts";
import type { ProcessCall, ProcessListener } from "./transport/contract.ts";
import type { Watched } from "./silence-watch.ts";
import { TurnPieces } from "./turn-pieces.ts";

/** What `protocol_config` says where the body comes behind the headers, unasked. */
const BEHIND_HEADERS = "FULL_DUPLEX_STREAMED";
const EMPTY = new Uint8Array(0);

type BodyMode = NonNullable<ProcessingRequest__Output["protocol_config"]>["request_body_mode"];
/** Null: nothing is replied yet. */
type Made = ProcessingResponse | null;

export class RequestStream implements ProcessListener {
  readonly #call: ProcessCall;
  readonly #services: StreamServices;
  readonly #turns: MessageTurns;
  #admission: Admission | null = null;
  #exchange: UpstreamCall | null = null;
  #requestHeaders: RequestHeaders = { names: [] };
  #query = "";
  /** Headers of the response that ext_authz could not know yet. */
  #lateHeaders: readonly Header[] = [];
  /** Envoy waits for the reply to the headers, and then sends the whole body in one message. */
  #isBodyAskedFor = false;
  #isRequestWhole = false;
  /** Of the request, then of a response that is not streamed. */
  readonly #body: CollectedBody;
  /** What to change in the headers of a response that is collected; null: it is streamed, or has not begun. */
  #collecting: ChangedHeaders | null = null;
  /** Of a response that is an error. */
  #errorBody: ErrorBody | null = null;
  /** The access log knows whose request it is. */
  #isIdentityTold = false;
  readonly #pieces = new TurnPieces((bytes) => {
    this.#silence?.told();
    if (!this.#ended) this.#call.reply(createChunkReply(bytes));
  });
  /** Of a response that is streamed. */
  #silence: Watched | null = null;
  /** The client has an answer of ours: what Envoy has sent besides is nobody's any more. */
  #isAnswered = false;
  #ended = false;

  constructor(call: ProcessCall, services: StreamServices) {
    this.#call = call;
    this.#services = services;
    this.#turns = new MessageTurns(call, (error) => this.#breakOff(error));
    this.#body = new CollectedBody(services.collecting, () => this.#admitted());
  }

  onMessage(message: ProcessingRequest__Output): void {
    this.#turns.take(() => this.#handle(message));
  }

  onEnd(): void {
    this.#ended = true;
    this.#silence?.end();
    this.#body.take();
    this.#errorBody?.drop();
    if (!this.#isRequestWhole) this.#endUpload();
    const settle = this.#exchange?.onEnd();
    settle?.catch((error: unknown) =>
      this.#services.logger.error({ err: error }, "an exchange could not be settled"),
    );
  }

  /** A promise only where the reply has to wait for something: chunks of a stream are answered at once. */
  #handle(message: ProcessingRequest__Output): Promise<void> | undefined {
    if (this.#ended || this.#isAnswered) return undefined;
    try {
      if (message.response_body !== undefined) return this.#onResponseBody(message.response_body);
      if (message.request_headers !== undefined) {
        return this.#onRequestHeaders(message.request_headers, message.protocol_config?.request_body_mode);
      }
      if (message.request_body !== undefined) return this.#onRequestBody(message.request_body);
      if (message.response_headers !== undefined) return this.#onResponseHeaders(message);
      if (message.response_trailers !== undefined) return this.#onResponseTrailers();
      if (message.request_trailers !== undefined) return this.#onRequestTrailers();
      this.#breakOff(new Error("Envoy sent a message of a kind that nobody asked for"));
    } catch (error) {
      this.#breakOff(error);
    }
    return undefined;
  }

  #onRequestHeaders(
    received: HttpHeaders__Output,
    bodyMode: BodyMode | undefined,
  ): Promise<void> | undefined {
    // A second exchange would leave the first one's hold open for ever.
    if (this.#admission !== null) throw new Error("Envoy sent a request's headers twice");
    const read = readAdmission(received.headers, this.#services);
    if (!(read instanceof Promise)) return this.#onAdmission(received, bodyMode, read);
    return read.then((late) => {
      const replied = this.#onAdmission(received, bodyMode, late);
      // It was over before it was anybody's.
      if (this.#ended) this.onEnd();
      return replied;
    });
  }

  #onAdmission(
    received: HttpHeaders__Output,
    bodyMode: BodyMode | undefined,
    read: ReadAdmission,
  ): Promise<void> | undefined {
    if (read.kind === "refused") {
      this.#reply(read.reply);
      return undefined;
    }
    const { admission } = read;
    this.#lateHeaders = read.lateHeaders;
    this.#admission = admission;
    this.#requestHeaders = {
      names: namesOf(received.headers),
      betas: findHeader(received.headers, BETA_HEADER),
    };
    this.#query = queryOf(findHeader(received.headers, ":path"));
    const { localEndpoints, createExchange, createCount, protocols } = this.#services;
    if (METERED_ENDPOINTS.has(admission.endpoint)) {
      this.#exchange = createExchange(admission, protocols[admission.protocol]);
      const wish = findHeader(received.headers, INCLUDE_COST_HEADER);
      this.#exchange.wantsCost = wish?.trim().toLowerCase() === "true";
    } else if (admission.endpoint === "count_tokens") {
      this.#exchange = createCount(admission);
    }
    if (this.#exchange !== null) {
      this.#isBodyAskedFor = bodyMode !== BEHIND_HEADERS;
      // Envoy sends no body message for a request without a body.
      if (received.end_of_stream === true) return this.#onWholeRequest(this.#exchange);
      if (this.#isBodyAskedFor) this.#reply(AWAIT_BODY);
      return undefined;
    }
    // From a worker of an older version, whose ext_authz leaves them to ext_proc.
    const answer = localEndpoints.answer(admission, findHeader(received.headers, ":path") ?? "");
    return this.#replyOrRefuse(() => answer.then(createImmediateReply));
  }

  #onRequestBody(message: HttpBody__Output): Promise<void> | undefined {
    const exchange = this.#exchange;
    if (exchange === null) throw new Error("Envoy sent a body that nobody asked for");
    const problem = this.#body.add(message.body, "request_too_large");
    if (problem !== null) return this.#replyOrRefuse(() => Promise.reject(problem));
    // One that was asked for is whole, whether it says so or not: trailers may follow it.
    if (!this.#isBodyAskedFor && message.end_of_stream !== true) return undefined;
    return this.#onWholeRequest(exchange);
  }

  /** They are the end of a body that came behind its headers. */
  #onRequestTrailers(): Promise<void> | undefined {
    if (this.#exchange !== null && !this.#isRequestWhole) return this.#onWholeRequest(this.#exchange);
    this.#call.reply(NOTHING_IN_REQUEST_TRAILERS);
    return undefined;
  }

  #onWholeRequest(exchange: UpstreamCall): Promise<void> | undefined {
    // A second one would leave the first one's hold open for ever.
    if (this.#isRequestWhole) throw new Error("Envoy sent more than a whole request");
    this.#isRequestWhole = true;
    this.#endUpload();
    return this.#replyOrRefuse(async () => {
      const route = await exchange.onRequestBody(this.#body.take(), this.#query);
      if ("status" in route) return createImmediateReply(route);
      const create = this.#isBodyAskedFor ? createBodyRouteReply : createRouteReply;
      const headers = changesForUpstream(this.#requestHeaders, route);
      return create({ ...route, ...headers }, this.#nextMetadata());
    });
  }

  /** The body is counted here from now on, or nobody sends it any more. */
  #endUpload(): void {
    if (this.#admission !== null) this.#services.uploads.end(this.#admission);
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
    return this.#replyOrRefuse(() => {
      const attributes = message.attributes?.[PROCESSING_FILTER]?.fields;
      const mode = exchange.onResponseStart({
        status,
        contentType: find("content-type"),
        contentEncoding: find("content-encoding"),
        retryAfter: find("retry-after"),
        codeDetails: attributes?.["response.code_details"]?.stringValue ?? "",
        lostConnection: find(LOST_CONNECTION_HEADER),
        attempts: attributes?.["upstream.request_attempt_count"]?.numberValue ?? 1,
        endOfStream: received?.end_of_stream === true,
      });
      const start = (decided: ResponseMode | Reply): ProcessingResponse | null =>
        this.#startResponse(exchange, decided, status, namesOf(received?.headers));
      return mode instanceof Promise ? mode.then(start) : start(mode);
    });
  }

  /** Null: the reply comes with the end of the body. */
  #startResponse(
    exchange: UpstreamCall,
    mode: ResponseMode | Reply,
    status: number,
    names: string[],
  ): ProcessingResponse | null {
    if (typeof mode !== "string") return createImmediateReply(mode);
    if (mode === "error") {
      this.#errorBody = new ErrorBody({
        budget: this.#services.collecting.budget,
        owner: this.#admitted(),
        onRead: (body) => this.#replyOrRefuse(() => exchange.onErrorBody(body)),
        onLate: (replied) => this.#turns.waitFor(replied),
      });
      return null;
    }
    // An answer is an answer: 201, 206 or 299 would tell a client of what it did not ask for.
    const set: Header[] = status > 200 && status < 300 ? [[":status", "200"]] : [];
    set.push(["content-type", exchange.contentType]);
    const remove = namesToRemoveDownstream(names);
    if (mode === "stream") {
      set.push(["cache-control", "no-cache"]);
      this.#silence = this.#services.silence.watch({
        tellAlive: () => this.#pieces.add(Buffer.from(exchange.keepAlive)),
        giveUp: () => this.#turns.waitFor(this.#onLastPiece(exchange.onSilence())),
      });
      return createStreamStartReply({ set, remove }, [...this.#lateHeaders, ...exchange.budgetHeaders]);
    }
    set.push(...this.#lateHeaders, ...exchange.budgetHeaders);
    this.#collecting = { set, remove };
    return null;
  }

  #onResponseBody(message: HttpBody__Output): Promise<void> | undefined {
    const exchange = this.#exchange;
    if (exchange === null) {
      this.#call.reply(NOTHING_IN_BODY);
      return undefined;
    }
    const isLast = message.end_of_stream === true;
    if (this.#errorBody !== null) return this.#errorBody.add(message.body ?? EMPTY, isLast);
    if (this.#collecting !== null) {
      const problem = this.#body.add(message.body, "upstream_error");
      if (problem !== null) return this.#replyOrRefuse(() => exchange.onBodyRefused(problem));
      return isLast ? this.#onWholeResponse(exchange, this.#collecting) : undefined;
    }
    this.#silence?.heard();
    const piece = exchange.onChunk(message.body ?? EMPTY, isLast);
    if (piece instanceof Promise) return this.#onLastPiece(piece);
    this.#pieces.add(piece.bytes);
    return undefined;
  }

  /** Where there are trailers, the piece before them was not marked as the last one. */
  #onResponseTrailers(): Promise<void> | undefined {
    const exchange = this.#exchange;
    if (exchange !== null) {
      if (this.#errorBody !== null) return this.#errorBody.end();
      if (this.#collecting !== null) return this.#onWholeResponse(exchange, this.#collecting);
      const piece = exchange.onChunk(EMPTY, true);
      if (piece instanceof Promise) return this.#onLastPiece(piece);
    }
    this.#reply(NOTHING_IN_TRAILERS);
    return undefined;
  }

  async #onLastPiece(last: Promise<ResponsePiece>): Promise<void> {
    const { bytes } = await last;
    this.#reply(createLastChunkReply(bytes, this.#nextMetadata()));
  }

  #onWholeResponse(exchange: UpstreamCall, { set, remove }: ChangedHeaders): Promise<void> | undefined {
    const answer = async (body: Uint8Array): Promise<ProcessingResponse> => {
      const bytes = await exchange.onWholeBody(body);
      const headers = { set: [...set, ...formatCostHeader(exchange.formattedCost)], remove };
      return createWholeReply(headers, bytes, this.#nextMetadata());
    };
    return this.#replyOrRefuse(() => this.#body.takeFor(answer));
  }

  /** Sends what is made, if anything, or the error that it ends in as the client's answer: at once, unless it has to wait. */
  #replyOrRefuse(make: () => Made | Promise<Made>): Promise<void> | undefined {
    let response: Made;
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
    const isTold = this.#isIdentityTold;
    this.#isIdentityTold = true;
    const told = isTold ? null : { admission: this.#admitted(), lateHeaders: this.#lateHeaders };
    return formatMetadata(told, this.#exchange, errorCode);
  }

  /** An error that nothing was charged for says nothing of a cost. */
  #errorReply(admission: Admission, error: GatewayError): Reply {
    const reply = createErrorReply(error, this.#services.protocols[admission.protocol], admission);
    const exchange = this.#exchange;
    if (exchange === null || !exchange.settled?.costMicrocents) return reply;
    return { ...reply, headers: [...reply.headers, ...formatCostHeader(exchange.formattedCost)] };
  }

  #admitted(): Admission {
    if (this.#admission === null) throw new Error("Envoy sent a body before the request's headers");
    return this.#admission;
  }

  #reply(response: Made): void {
    if (response === null) return;
    this.#isAnswered ||= response.immediate_response !== undefined;
    this.#pieces.flush();
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
