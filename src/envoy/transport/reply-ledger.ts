import type { ProcessingRequest, ProcessingResponse } from "../messages/codec.ts";
import type { EnvoyHandlers, ProcessCall, ProcessListener } from "./contract.ts";

/** What a transport can do with an ext_proc call. */
export interface ProcessTransport {
  send(response: ProcessingResponse): void;
  /** Ends the call with OK after everything sent. */
  endOk(): void;
  /** Ends the call with an error status. */
  endWithError(reason: string): void;
  /** Reads no message until `resume`. */
  pause(): void;
  resume(): void;
}

/**
 * How far our side of the call is:
 * - `in turn`: each reply answers what has come.
 * - `streaming`: both sides send as they like, since a response is streamed.
 * - `answered`: the client's answer is complete. Nothing is sent or handed on any more, and Envoy ends the call.
 * - `ended`: OK is sent.
 * - `failed`: an error status is sent.
 * - `closed`: the listener has heard of the end.
 */
type CallState = "in turn" | "streaming" | "answered" | "ended" | "failed" | "closed";

/**
 * The rules of an ext_proc call that hold on every transport: who owes a reply, when our side may end with OK, and
 * that the listener hears of the end exactly once. While a response is streamed nobody owes anything: Envoy lets nothing
 * of it pass that we have not sent.
 */
export class ReplyLedger implements ProcessCall {
  readonly #transport: ProcessTransport;
  readonly #listener: ProcessListener;
  #state: CallState = "in turn";
  /** Request and response are answered separately: a reply to one does not answer the other. */
  #owesRequest = false;
  #owesResponse = false;
  /** Envoy has sent the whole response and has no further message. */
  #isResponseComplete = false;

  constructor(transport: ProcessTransport, handlers: EnvoyHandlers) {
    this.#transport = transport;
    this.#listener = handlers.openProcess(this);
  }

  reply(response: ProcessingResponse): void {
    if (!this.#isOpen) return;
    if (this.#state === "streaming") {
      if (isLast(response)) this.#state = "answered";
    } else if (!this.#takeDebt(response)) {
      // Envoy breaks the client's connection on a reply that it did not ask for: the same, with a reason in its log.
      this.fail("a reply without a message");
      return;
    } else if (response.immediate_response !== undefined) {
      this.#state = "answered";
    } else if (beginsStream(response)) {
      this.#state = "streaming";
    }
    this.#transport.send(response);
    this.#endIfComplete();
  }

  fail(reason: string): void {
    if (!this.#isOpen) return;
    this.#state = "failed";
    this.#transport.endWithError(reason);
  }

  pause(): void {
    if (this.#state !== "closed") this.#transport.pause();
  }

  resume(): void {
    if (this.#state !== "closed") this.#transport.resume();
  }

  /** Handles a message from Envoy. */
  receive(request: ProcessingRequest): void {
    if (!this.#isOpen) return;
    if (isOfRequest(request)) this.#owesRequest = true;
    else if (this.#state === "in turn") this.#owesResponse = true;
    this.#isResponseComplete ||= isEndOfResponse(request);
    this.#listener.onMessage(request);
  }

  /** Envoy has half-closed: the stream is complete, or the client disconnected. */
  halfClose(): void {
    if (this.#isOpen && this.#owesReply) this.fail("the stream was closed before its last reply");
    else if (this.#isOpen || this.#state === "answered") this.#endOk();
    this.close();
  }

  /** The stream is over: completed, canceled or broken. */
  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#listener.onEnd();
  }

  /** Messages are handed on, and replies are sent. */
  get #isOpen(): boolean {
    return this.#state === "in turn" || this.#state === "streaming";
  }

  get #owesReply(): boolean {
    return this.#owesRequest || this.#owesResponse;
  }

  /** Marks everything received of the request or the response as answered. Returns false if nothing was received. */
  #takeDebt(response: ProcessingResponse): boolean {
    if (response.immediate_response !== undefined) {
      const owes = this.#owesReply;
      this.#owesRequest = false;
      this.#owesResponse = false;
      return owes;
    }
    if (isOfRequest(response)) {
      const owes = this.#owesRequest;
      this.#owesRequest = false;
      return owes;
    }
    const owes = this.#owesResponse;
    this.#owesResponse = false;
    return owes;
  }

  /**
   * The end of the call leaves together with its last reply, not a turn later when Envoy has half-closed: a system call
   * and a wake-up less for each request. That is possible only where no message can follow.
   */
  #endIfComplete(): void {
    const isLastReply = this.#state === "answered" || (this.#state === "in turn" && !this.#owesReply);
    if (isLastReply && this.#isResponseComplete) this.#endOk();
  }

  #endOk(): void {
    this.#state = "ended";
    this.#transport.endOk();
  }
}

/** Returns whether a message or reply concerns the request. */
function isOfRequest(message: ProcessingRequest | ProcessingResponse): boolean {
  return (
    message.request_headers !== undefined ||
    message.request_body !== undefined ||
    message.request_trailers !== undefined
  );
}

/** Returns whether this message ends Envoy's side of the response. */
function isEndOfResponse({ response_headers, response_body, response_trailers }: ProcessingRequest): boolean {
  if (response_body !== undefined) return response_body.end_of_stream === true;
  return response_headers?.end_of_stream === true || response_trailers !== undefined;
}

/** Returns whether pieces of the response follow this reply, so that it answers only the headers. */
function beginsStream({ response_headers }: ProcessingResponse): boolean {
  return response_headers !== undefined && response_headers?.response?.status !== "CONTINUE_AND_REPLACE";
}

/** Returns whether this reply completes the client's response. */
function isLast({ immediate_response, response_body, response_trailers }: ProcessingResponse): boolean {
  if (immediate_response !== undefined || response_trailers !== undefined) return true;
  return response_body?.response?.body_mutation?.streamed_response?.end_of_stream === true;
}
