import { GrpcFrameError, GrpcFrameReader } from "./grpc-frames.ts";
import { GRPC_STATUS, type GrpcStatusCode } from "./grpc-status.ts";
import type { CallHeaders } from "./call-headers.ts";
import { ReceiveWindow } from "./flow-control.ts";
import { ERROR, type ErrorCode, formatWindowUpdate } from "./frames.ts";
import type { IncompleteBytes, IncompleteCall } from "./incomplete-bytes.ts";
import { encodeHeaderBlock } from "./hpack.ts";
import { QUEUED_SHARE_BYTES, STREAM_WINDOW_BYTES } from "./limits.ts";
import { CallSender, type SendHost } from "./call-sender.ts";

/** Events of a call for its service. */
export interface GrpcCallListener {
  /** One complete message has arrived; the view stays valid. */
  onMessage?(bytes: Buffer): void;
  /** The client has ended its side. */
  onHalfClose?(): void;
  /** The stream has ended in any way. Always the last call, exactly once. */
  onClose?(): void;
}

/** Connection as seen by its streams. */
export interface CallHost extends SendHost {
  readonly maxMessageBytes: number;
  /** Counter of the bytes of incomplete messages over all streams. */
  readonly incomplete: IncompleteBytes;
  /** True if the unread replies of all streams together exceed the limit. */
  readonly isFull: boolean;
  /** Call when our side has ended; resets the stream if the peer does not end its side soon. */
  expectEnd(stream: GrpcCall): void;
  reset(stream: GrpcCall, code: ErrorCode): void;
  /** Call when both sides have ended. */
  remove(stream: GrpcCall): void;
}

/** Maximum length of an error's text, so that it fits into one frame. */
const MAX_REASON_LENGTH = 1_000;
const OK_TRAILERS = encodeHeaderBlock([["grpc-status", "0"]]);

/** State of a stream (RFC 9113, 5.1): open on both sides, ended by the peer, or ended by both. */
type StreamState = "open" | "remote end" | "closed";

/** HTTP/2 stream with its gRPC call: messages in both directions, and one status at the end. */
export class GrpcCall implements IncompleteCall {
  readonly id: number;
  readonly headers: CallHeaders;
  readonly sender: CallSender;
  /** Deadline of the call by the server's clock, checked by `CallTable`. */
  expiresAtMs = Number.POSITIVE_INFINITY;
  /** Time by which the peer should have ended the stream. */
  endsAtMs = Number.POSITIVE_INFINITY;
  /** Called if the peer resets the stream without having read its end. */
  onUnread: (() => void) | null = null;
  readonly #host: CallHost;
  readonly #receiveWindow = new ReceiveWindow(STREAM_WINDOW_BYTES);
  readonly #reader: GrpcFrameReader;
  #listener: GrpcCallListener | null = null;
  #receivedBytes = 0;
  #incompleteBytes = 0;
  /** Messages that wait while the listener is paused. */
  #buffered: Buffer[] = [];
  /** Part of the window that is withheld while the listener is paused, or other streams come first. */
  #withheldBytes = 0;
  /** True while the listener wants no messages; independent of the state. */
  #isPaused = false;
  #state: StreamState = "open";

  constructor(id: number, headers: CallHeaders, host: CallHost, initialWindowBytes: number) {
    this.id = id;
    this.headers = headers;
    this.#host = host;
    this.#reader = new GrpcFrameReader(host.maxMessageBytes);
    this.sender = new CallSender(id, host, initialWindowBytes, () => {
      if (this.#state === "remote end") host.remove(this);
      else host.expectEnd(this);
    });
  }

  /** True after the end of the call: nothing that is sent reaches the peer. */
  get isOver(): boolean {
    return this.#state === "closed" || this.sender.isEnded;
  }

  /** True after the peer has ended its side. */
  get isRemoteClosed(): boolean {
    return this.#state !== "open";
  }

  get incompleteBytes(): number {
    return this.#incompleteBytes;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Starts delivery to the listener. */
  start(listener: GrpcCallListener): void {
    this.#listener = listener;
  }

  /** Sends one message, given in immutable parts. Does nothing after the end of the call. */
  send(parts: readonly Buffer[]): void {
    const { maxMessageBytes } = this.#host;
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    if (bytes > maxMessageBytes) {
      this.fail(GRPC_STATUS.resourceExhausted, `a reply of ${bytes} bytes is over the limit`);
    } else if (this.sender.queuedBytes > 2 * maxMessageBytes || this.#isOverShare(bytes)) {
      // Envoy stops sending when its own buffers are full, so this much unread data means that it hangs.
      this.fail(GRPC_STATUS.resourceExhausted, "replies are not read");
    } else {
      this.sender.sendMessage(parts, bytes);
    }
  }

  #isOverShare(bytes: number): boolean {
    return this.#host.isFull && this.sender.queuedBytes + bytes > QUEUED_SHARE_BYTES;
  }

  /** Ends with OK after everything sent, however slowly that is read. */
  end(): void {
    this.#end(OK_TRAILERS);
  }

  /** Ends with an error status after everything sent; data that is not read soon is discarded. */
  fail(status: Exclude<GrpcStatusCode, 0>, reason: string): void {
    if (this.sender.isEnded) return;
    const message = encodeURIComponent(reason.slice(0, MAX_REASON_LENGTH));
    this.#end(
      encodeHeaderBlock([
        ["grpc-status", String(status)],
        ["grpc-message", message],
      ]),
    );
    if (this.#state !== "closed") this.#host.expectEnd(this);
  }

  /** Answers a request that is not a gRPC call. */
  refuse(status: number, text: string): void {
    const fields = [
      [":status", String(status)],
      ["content-type", "text/plain"],
    ] as const;
    this.#host.expectEnd(this);
    this.sender.sendPlain(encodeHeaderBlock(fields), Buffer.from(text));
  }

  /** Pauses delivery until `resume`, and gives the peer no more window. */
  pause(): void {
    this.#isPaused = true;
    if (this.#incompleteBytes > 0) this.#host.incomplete.wake();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.releaseWithheld();
    this.#handOver(this.#buffered.splice(0));
  }

  releaseWithheld(): void {
    const withheld = this.#withheldBytes;
    this.#withheldBytes = 0;
    this.#release(withheld);
  }

  /** Receives the payload of a DATA frame, a part of `bytes`; `frameBytes` includes its padding. */
  receive(bytes: Buffer, start: number, end: number, frameBytes: number): void {
    if (!this.#receiveWindow.take(frameBytes)) {
      this.#host.reset(this, ERROR.flowControlError);
      return;
    }
    this.#receivedBytes += end - start;
    // Nothing is read after our own end: further data may use up the window, but no more.
    if (this.sender.isEnded) return;
    let messages: Buffer[];
    try {
      messages = this.#reader.read(bytes, start, end);
    } catch (error) {
      if (!(error instanceof GrpcFrameError)) throw error;
      this.fail(GRPC_STATUS.resourceExhausted, error.message);
      return;
    }
    if (!this.#countIncomplete(this.#reader.pendingBytes)) return;
    this.#release(frameBytes);
    this.#handOver(messages);
  }

  /** Call when the peer has ended its side of the stream. */
  receiveEnd(): void {
    const { contentLength } = this.headers;
    if (contentLength !== null && contentLength !== this.#receivedBytes) {
      this.#host.reset(this, ERROR.protocolError);
      return;
    }
    this.#state = "remote end";
    this.#buffered = [];
    if (this.#reader.isWithinMessage) this.fail(GRPC_STATUS.internal, "the stream ended within a message");
    if (this.#state === "remote end") this.#listener?.onHalfClose?.();
    if (this.sender.isClosed) this.#host.remove(this);
  }

  /** Ends the stream: complete, reset, or its connection broke. */
  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.sender.drop();
    this.#discard();
    this.#listener?.onClose?.();
  }

  #end(trailers: Buffer): void {
    if (this.sender.isEnded) return;
    this.#discard();
    this.sender.end(trailers);
  }

  /** Discards received data. */
  #discard(): void {
    this.#buffered = [];
    this.#reader.drop();
    this.#countIncomplete(0);
  }

  /** Counts the bytes of an incomplete message. Returns false if there are too many, and then fails the call. */
  #countIncomplete(bytes: number): boolean {
    const { incomplete } = this.#host;
    const before = this.#incompleteBytes;
    if (bytes === before) return true;
    this.#incompleteBytes = bytes;
    if (bytes < before) incomplete.release(this, before);
    if (bytes === 0) return true;
    incomplete.add(this, bytes < before ? bytes : bytes - before);
    if (!incomplete.isFull) return true;
    this.fail(GRPC_STATUS.resourceExhausted, "too many messages have begun and none is whole");
    return false;
  }

  #handOver(messages: readonly Buffer[]): void {
    for (const message of messages) {
      if (this.sender.isEnded) return;
      if (this.#isPaused) this.#buffered.push(message);
      else this.#listener?.onMessage?.(message);
    }
  }

  #release(bytes: number): void {
    if (this.#isPaused || (this.#incompleteBytes > 0 && !this.#host.incomplete.canGrow(this))) {
      this.#withheldBytes += bytes;
      return;
    }
    const increment = this.#receiveWindow.release(bytes);
    if (increment > 0 && this.#state === "open") {
      this.#host.writer.write(formatWindowUpdate(this.id, increment));
    }
  }
}
