/**
 * ext_proc: one stream per admitted request. Envoy sends the request's headers and then its body, without
 * waiting in between, and the same for the response. One reply answers the whole request, one the whole
 * response; a streamed response is answered by its headers, by any number of pieces for the client, and by
 * its end.
 * The stream's state is its `Phase`. Two things must never happen: a request without an admission continues
 * (if a filter chain skipped ext_authz, the gateway would be open), or a call with an outstanding reply ends
 * with OK (Envoy would let the request pass unprocessed).
 */
import { GatewayError } from "../shared/contract/errors.ts";
import { INCLUDE_COST_HEADER } from "../shared/contract/header-names.ts";
import { CollectedBody } from "../data-path/exchange/bodies/collected-body.ts";
import { BodyDecoder, isDecodable, readableResponse } from "../data-path/exchange/upstream/content-coding.ts";
import { METERED_ENDPOINTS } from "../data-path/exchange/admission/endpoints.ts";
import { ErrorBody } from "../data-path/exchange/bodies/error-body.ts";
import { changesForUpstream, namesToRemoveDownstream } from "../data-path/exchange/upstream/header-policy.ts";
import { type Header, type Reply, createErrorReply, formatCostHeader } from "../data-path/exchange/reply.ts";
import type { Route, UpstreamCall, UpstreamResponse } from "../data-path/exchange/upstream/upstream-call.ts";
import type { Admission } from "../data-path/limits/admission.ts";
import { withoutByteOrderMark } from "../shared/text/byte-order-mark.ts";
import { type Handled, MessageTurns } from "./message-turns.ts";
import {
  createChunkReply,
  createImmediateReply,
  createLastChunkReply,
  createRouteReply,
  createStreamStartReply,
  createWholeReply,
  NOTHING_IN,
} from "./messages/format-replies.ts";
import { findHeader, queryOf } from "./messages/headers.ts";
import { formatMetadata } from "./messages/metadata.ts";
import {
  AWAIT_HEADERS,
  type AwaitBody,
  type AdmittedRequest,
  DECIDING,
  ENDED,
  endIn,
  follow,
  handlingOf,
  kindOf,
  release,
  type MessageKind,
  PASSING,
  type Phase,
  type PhaseName,
  type PhaseOf,
  type Upstream,
} from "./phase.ts";
import { readAdmission, type ReadAdmission } from "./read-admission.ts";
import { readRequestHeaders } from "./request-start.ts";
import { readResponseStart, type ReceivedStart } from "./response-start.ts";
import type { StreamServices } from "./stream-services.ts";
import type { ProcessCall, ProcessListener } from "./transport/contract.ts";
import { TurnPieces } from "./turn-pieces.ts";
import type { Message } from "./messages/messages.ts";

/** The only mode in which Envoy sends the body without waiting for a reply to the headers. */
const REQUEST_BODY_MODE = "FULL_DUPLEX_STREAMED";
const EMPTY = Buffer.alloc(0);

export class RequestStream implements ProcessListener {
  readonly #call: ProcessCall;
  readonly #services: StreamServices;
  readonly #turns: MessageTurns;
  readonly #pieces = new TurnPieces((bytes) => this.#sendPiece(bytes));
  #phase: Phase = AWAIT_HEADERS;
  /** Decodes the upstream's content coding; null if there is none. */
  #decoder: BodyDecoder | null = null;

  constructor(call: ProcessCall, services: StreamServices) {
    this.#call = call;
    this.#services = services;
    this.#turns = new MessageTurns(call, (error) => this.#breakOff(error));
  }

  onMessage(message: Message<"ProcessingRequest">): void {
    this.#turns.take(() => this.#handle(message));
  }

  onEnd(): void {
    const phase = this.#phase;
    this.#enter(ENDED);
    this.#decoder?.close();
    endIn(phase).catch((err: unknown) => this.#services.logger.error({ err }, "exchange not settled"));
  }

  #handle(message: Message<"ProcessingRequest">): Handled {
    const kind = kindOf(message);
    try {
      switch (handlingOf(this.#phase.name, kind)) {
        case "take":
          return this.#take(message);
        case "pass":
          return this.#pass(kind);
        case "refuse":
          return this.#refuseResponse();
        case "ignore":
          return undefined;
        case "break off":
          throw new Error(
            `Envoy sent ${kind ?? "a message of no known kind"} in phase "${this.#phase.name}"`,
          );
      }
    } catch (error) {
      this.#breakOff(error);
    }
    return undefined;
  }

  #take(message: Message<"ProcessingRequest">): Handled {
    const { response_body, request_headers, request_body, response_headers } = message;
    if (response_body !== undefined) return this.#onResponseBody(response_body);
    if (request_body !== undefined) return this.#onRequestBody(request_body);
    if (request_headers !== undefined) return this.#onRequestHeaders(request_headers, message);
    if (response_headers !== undefined) return this.#onResponseHeaders(message);
    // With trailers, the last piece of the body was not marked as the last.
    if (message.request_trailers !== undefined) return this.#onRequestBody({ end_of_stream: true });
    return this.#onResponseBody({ end_of_stream: true });
  }

  /** Passes on another filter's response, or the trailers of a complete request, unchanged. */
  #pass(kind: MessageKind | null): undefined {
    if (this.#phase.name === "awaitHeaders") this.#enter(PASSING);
    const isPassable = kind !== null && kind !== "request_headers" && kind !== "request_body";
    if (isPassable) this.#call.reply(NOTHING_IN[kind]);
  }

  #refuseResponse(): Handled {
    const { request } = this.#in("awaitBody");
    return this.#refuse(request, new Error("a response began before a request was routed"), request);
  }

  #onRequestHeaders(received: Message<"HttpHeaders">, message: Message<"ProcessingRequest">): Handled {
    const mode = message.protocol_config?.request_body_mode;
    // In any other mode, Envoy and the sidecar would wait for each other.
    if (mode !== REQUEST_BODY_MODE) {
      this.#services.logger.error(
        { mode, expected: REQUEST_BODY_MODE },
        "envoy sends request bodies in another mode; render its bootstrap again (`inference-gateway envoy render`)",
      );
      this.#call.fail("internal error");
      return undefined;
    }
    const read = readAdmission(received.headers, this.#services);
    if (!(read instanceof Promise)) return this.#onAdmission(received, read);
    this.#enter(DECIDING);
    return read.then((late) => this.#onAdmission(received, late));
  }

  #onAdmission(received: Message<"HttpHeaders">, read: ReadAdmission): Handled {
    if (read.kind === "refused") return this.#answer(null, read.reply);
    const { admission, lateHeaders } = read;
    const call = this.#createCall(admission, received);
    // The stream ended before its request was known.
    if (this.#phase.name === "ended") return call.onEnd();
    const phase: AwaitBody = {
      name: "awaitBody",
      request: { admission, lateHeaders, call },
      headers: readRequestHeaders(received.headers),
      query: queryOf(findHeader(received.headers, ":path")),
      body: new CollectedBody(this.#services.collecting, admission.caller),
    };
    this.#enter(phase);
    // Envoy sends no body message for a request without a body.
    if (received.end_of_stream === true) return this.#onWholeRequest(phase);
    const declared = findHeader(received.headers, "content-length");
    return declared === undefined ? undefined : this.#reserveBody(phase, Number(declared));
  }

  #reserveBody({ request, body }: AwaitBody, bytes?: number): Handled {
    const refuse = (thrown: unknown): Handled => this.#refuse(request, thrown, request);
    try {
      return body.expect(bytes)?.catch(refuse);
    } catch (thrown) {
      return refuse(thrown);
    }
  }

  #createCall(admission: Admission, { headers }: Message<"HttpHeaders">): UpstreamCall {
    const { createExchange, createCount, protocols } = this.#services;
    if (METERED_ENDPOINTS.has(admission.endpoint)) {
      const wantsCost = findHeader(headers, INCLUDE_COST_HEADER)?.trim().toLowerCase() === "true";
      return createExchange({ admission, protocol: protocols[admission.protocol], wantsCost });
    }
    if (admission.endpoint === "count_tokens") return createCount(admission);
    throw new Error(`ext_authz answers requests of the endpoint "${admission.endpoint}", not ext_proc`);
  }

  #onRequestBody({ body, end_of_stream }: Partial<Message<"HttpBody">>): Handled {
    const phase = this.#in("awaitBody");
    const problem = phase.body.add(body, "request_too_large") ?? phase.body.refusalOfRequest();
    if (problem !== null) return this.#refuse(phase.request, problem, phase.request);
    if (end_of_stream === true) return this.#onWholeRequest(phase);
    return phase.body.isUnexpected ? this.#reserveBody(phase) : undefined;
  }

  #onWholeRequest(phase: AwaitBody): Promise<void> {
    const { request, query, headers } = phase;
    const body = phase.body.take();
    this.#enter({ name: "routing", request });
    return request.call.onRequestBody(body, query, headers).then(
      (route) => this.#onRouted(phase, route),
      (thrown: unknown) => this.#refuse(request, thrown, request),
    );
  }

  #onRouted({ request, headers }: AwaitBody, route: Route | Reply): Handled {
    if ("status" in route) {
      if (this.#phase.name === "ended") return request.call.onEndAnswered();
      return this.#answer(request, createImmediateReply(route));
    }
    if (this.#phase.name === "ended") return route.call.onEndUnsent();
    this.#enter({ name: "upstream", request, routed: route.call });
    route.call.onSent();
    const routed = { ...route, ...changesForUpstream(headers, route) };
    this.#call.reply(createRouteReply(routed, formatMetadata(request, request.call)));
    return undefined;
  }

  #onResponseHeaders(message: Message<"ProcessingRequest">): Handled {
    const phase = this.#in("upstream");
    const { request, routed } = phase;
    const start = readResponseStart(message);
    let response: UpstreamResponse | Promise<Reply>;
    try {
      response = routed.onResponseStart(start);
    } catch (thrown) {
      return this.#refuse(request, thrown, null);
    }
    if (response instanceof Promise) return this.#close(request, response, createImmediateReply);
    const { coding } = start;
    if (coding !== null && isDecodable(coding)) this.#decoder = new BodyDecoder(coding);
    this.#startResponse(phase, readableResponse(response, coding), start);
    return undefined;
  }

  #startResponse(
    { request, routed }: Upstream,
    response: UpstreamResponse,
    { status, names }: ReceivedStart,
  ): void {
    const { collecting, silence } = this.#services;
    if (response.kind === "error") {
      const body = new ErrorBody({
        budget: collecting.budget,
        owner: request.admission.caller,
        onRead: (bytes) =>
          this.#close(request, response.onBody(withoutByteOrderMark(bytes)), createImmediateReply),
        onLate: (replied) => this.#turns.waitFor(replied),
      });
      this.#enter({ name: "failing", request, body, onEnd: () => response.onEnd() });
      return;
    }
    // Always 200: with 201, 206 or 299 a client would expect something that it did not request.
    const set: Header[] = status > 200 && status < 300 ? [[":status", "200"]] : [];
    set.push(["content-type", response.contentType]);
    const remove = namesToRemoveDownstream(names);
    const ofRequest = [...request.lateHeaders, ...response.budgetHeaders];
    if (response.kind === "whole") {
      set.push(...ofRequest);
      const body = new CollectedBody(collecting, request.admission.caller);
      this.#enter({ name: "collecting", request, routed, response, changed: { set, remove }, body });
      return;
    }
    set.push(["cache-control", "no-cache"]);
    const watched = silence.watch({
      sendKeepAlive: () => this.#pieces.add(Buffer.from(response.keepAlive)),
      giveUp: () => this.#turns.waitFor(this.#onLastPiece(request, response.onSilence())),
    });
    this.#enter({ name: "streaming", request, routed, response, silence: watched });
    this.#call.reply(createStreamStartReply({ set, remove }, ofRequest));
  }

  #onResponseBody({ body = EMPTY, end_of_stream }: Partial<Message<"HttpBody">>): Handled {
    const isLast = end_of_stream === true;
    const decoder = this.#decoder;
    return decoder === null ? this.#onBodyPiece(body, isLast) : this.#onCodedBody(decoder, body, isLast);
  }

  /** A body with broken coding ends there; its beginning is used. */
  async #onCodedBody(decoder: BodyDecoder, coded: Uint8Array, isLast: boolean): Promise<void> {
    let handled: Handled;
    const take = (piece: Uint8Array, isEnd: boolean): void => {
      if (handlingOf(this.#phase.name, "response_body") !== "take") return;
      handled = this.#onBodyPiece(piece, isEnd);
    };
    const problem = await decoder.push(coded, (piece) => take(piece, false));
    if (problem !== null) {
      this.#services.logger.warn({ err: problem }, "upstream body doesn't match its content-encoding");
    }
    if (isLast || problem !== null) take(EMPTY, true);
    await handled;
  }

  #onBodyPiece(body: Uint8Array, isLast: boolean): Handled {
    const phase = this.#phase;
    if (phase.name === "streaming") {
      phase.silence.onReceived();
      const piece = phase.response.onChunk(body, isLast);
      if (piece instanceof Promise) return this.#onLastPiece(phase.request, piece);
      this.#pieces.add(piece);
      return undefined;
    }
    if (phase.name === "failing") return phase.body.add(body, isLast);
    const { request, response, changed, body: collected } = this.#in("collecting");
    const problem = collected.add(body, "upstream_error");
    if (problem !== null) return this.#close(request, response.onBodyRefused(problem), createImmediateReply);
    if (!isLast) return undefined;
    const answer = collected.takeFor((whole) => response.onBody(withoutByteOrderMark(whole)));
    return this.#close(request, answer, (bytes) => {
      const set = [...changed.set, ...formatCostHeader(request.call.formattedCost)];
      const metadata = formatMetadata(null, request.call);
      return createWholeReply({ set, remove: changed.remove }, bytes, metadata);
    });
  }

  async #onLastPiece(request: AdmittedRequest, last: Promise<Uint8Array>): Promise<void> {
    this.#enter({ name: "closing", request });
    const bytes = await last;
    this.#answer(request, createLastChunkReply(bytes, formatMetadata(null, request.call)));
  }

  /** Closes the stream once the response is made, or has failed. */
  #close<Made>(
    request: AdmittedRequest,
    answer: Promise<Made>,
    format: (made: Made) => Message<"ProcessingResponse">,
  ): Promise<void> {
    this.#enter({ name: "closing", request });
    return answer.then(
      (made) => this.#answer(request, format(made)),
      (thrown: unknown) => this.#refuse(request, thrown, null),
    );
  }

  /** @param unlogged The request if the access log does not know its owner yet, otherwise null. */
  #refuse(request: AdmittedRequest, thrown: unknown, unlogged: AdmittedRequest | null): Handled {
    const { admission, call } = request;
    const error = GatewayError.from(thrown);
    if (error.code === "internal_error") {
      this.#services.logger.error(
        { request_id: admission.identity.requestId, err: error.cause ?? error },
        "request failed",
      );
    }
    call.onRefused(error);
    if (this.#phase.name === "ended") return call.onEndAnswered();
    const metadata = formatMetadata(unlogged, call, error.publicCode);
    return this.#answer(request, createImmediateReply(this.#errorReply(request, error), metadata));
  }

  /** Returns the error reply. Errors without a charge have no cost header. */
  #errorReply({ admission, call }: AdmittedRequest, error: GatewayError): Reply {
    const reply = createErrorReply(error, this.#services.protocols[admission.protocol], admission);
    if (!call.settled?.costMicrocents) return reply;
    return { ...reply, headers: [...reply.headers, ...formatCostHeader(call.formattedCost)] };
  }

  /** Sends the client's last message, after all earlier pieces. */
  #answer(request: AdmittedRequest | null, response: Message<"ProcessingResponse">): undefined {
    if (this.#phase.name === "ended") return;
    this.#pieces.flush();
    this.#enter({ name: "answered", request });
    this.#call.reply(response);
  }

  /** Earlier pieces of the same tick are sent before the last one, while that waits for its charge. */
  #sendPiece(bytes: Uint8Array): void {
    const phase = this.#phase;
    if (phase.name === "ended") return;
    if (phase.name === "streaming") phase.silence.onSent();
    this.#call.reply(createChunkReply(bytes));
  }

  #in<Name extends PhaseName>(name: Name): PhaseOf<Name> {
    const phase = this.#phase;
    if (phase.name === name) return phase as PhaseOf<Name>;
    throw new Error(`a stream is in phase "${phase.name}", not "${name}"`);
  }

  /** The only place that changes the phase. */
  #enter(next: Phase): void {
    const before = this.#phase;
    this.#phase = follow(before, next);
    release(before);
  }

  /** Aborts the stream. The phase stays: the transport delivers no more messages and reports the end. */
  #breakOff(error: unknown): void {
    const phase = this.#phase;
    const requestId = "request" in phase ? phase.request?.admission.identity.requestId : undefined;
    this.#services.logger.error({ request_id: requestId, err: error }, "exchange interrupted");
    if (phase.name !== "ended") this.#call.fail("internal error");
  }
}
