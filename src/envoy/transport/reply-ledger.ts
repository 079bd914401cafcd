import type { ProcessingRequest, ProcessingResponse } from "../messages/codec.ts";
import type { EnvoyHandlers, ProcessCall, ProcessListener } from "./contract.ts";

/** Operations of a transport on an ext_proc call. */
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
 * State of our side of the call:
 * - `in turn`: each reply answers the messages received.
 * - `streaming`: both sides send freely, since a response is streamed.
 * - `answered`: the client's response is complete. No messages pass in either direction, and Envoy ends the
 *   call.
 * - `ended`: OK was sent.
 * - `failed`: an error status was sent.
 * - `closed`: the listener was notified of the end.
 */
type CallState = "in turn" | "streaming" | "answered" | "ended" | "failed" | "closed";

/**
 * Rules of an ext_proc call on every transport: who has to reply, when our side may end with OK, and that the
 * listener is notified of the end exactly once. While a response is streamed, no reply is outstanding: Envoy
 * only passes what we have sent.
 */
export class ReplyLedger implements ProcessCall {
  readonly #transport: ProcessTransport;
  readonly #listener: ProcessListener;
  #state: CallState = "in turn";
  /** Request and response are answered separately: a reply to one does not answer the other. */
  #isRequestUnanswered = false;
  #isResponseUnanswered = false;
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
    } else if (!this.#markAnswered(response)) {
      // Envoy breaks the client's connection on an unexpected reply; failing does the same, with a reason in
      // its log.
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
    if (isOfRequest(request)) this.#isRequestUnanswered = true;
    else if (this.#state === "in turn") this.#isResponseUnanswered = true;
    this.#isResponseComplete ||= isEndOfResponse(request);
    this.#listener.onMessage(request);
  }

  /** Envoy has half-closed: the stream is complete, or the client disconnected. */
  halfClose(): void {
    if (this.#isOpen && this.#isUnanswered) this.fail("the stream was closed before its last reply");
    else if (this.#isOpen || this.#state === "answered") this.#endOk();
    this.close();
  }

  /** The stream is over: completed, canceled or broken. */
  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#listener.onEnd();
  }

  /** True while messages are delivered and replies are sent. */
  get #isOpen(): boolean {
    return this.#state === "in turn" || this.#state === "streaming";
  }

  get #isUnanswered(): boolean {
    return this.#isRequestUnanswered || this.#isResponseUnanswered;
  }

  /** Marks everything received of the request or the response as answered. Returns false if nothing was received. */
  #markAnswered(response: ProcessingResponse): boolean {
    if (response.immediate_response !== undefined) {
      const wasUnanswered = this.#isUnanswered;
      this.#isRequestUnanswered = false;
      this.#isResponseUnanswered = false;
      return wasUnanswered;
    }
    if (isOfRequest(response)) {
      const wasUnanswered = this.#isRequestUnanswered;
      this.#isRequestUnanswered = false;
      return wasUnanswered;
    }
    const wasUnanswered = this.#isResponseUnanswered;
    this.#isResponseUnanswered = false;
    return wasUnanswered;
  }

  /**
   * Ends the call together with its last reply, instead of a turn later when Envoy has half-closed: saves a
   * system call and a wake-up per request. Only possible if no message can follow.
   */
  #endIfComplete(): void {
    const isLastReply = this.#state === "answered" || (this.#state === "in turn" && !this.#isUnanswered);
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
