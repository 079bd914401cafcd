import { GrpcFrameError, GrpcFrameReader } from "./grpc-frames.ts";
import { GRPC_STATUS, type GrpcStatusCode } from "./grpc-status.ts";
import type { CallHeaders } from "./call-headers.ts";
import { ReceiveWindow } from "./flow-control.ts";
import { ERROR, type ErrorCode, formatWindowUpdate } from "./frames.ts";
import type { HeldBytes, Holder } from "./held-bytes.ts";
import { encodeHeaderBlock } from "./hpack.ts";
import { QUEUED_SHARE_BYTES, STREAM_WINDOW_BYTES } from "./limits.ts";
import { CallSender, type SendHost } from "./call-sender.ts";

/** A call tells this to the service that it belongs to. */
export interface GrpcCallListener {
  /** One whole message has come; the view is good for as long as it is kept. */
  onMessage?(bytes: Buffer): void;
  /** The client has sent all that it will. */
  onHalfClose?(): void;
  /** The stream is over, however it came to that. This is always the last call, and comes exactly once. */
  onClose?(): void;
}

/** A connection as its streams see it. */
export interface CallHost extends SendHost {
  readonly maxMessageBytes: number;
  /** They count what its streams have received of messages that are not whole. */
  readonly held: HeldBytes;
  /** All its streams together have too much that the peer does not read. */
  readonly isFull: boolean;
  /** Our side is done; reset the stream if the peer's is not soon. */
  expectEnd(stream: GrpcCall): void;
  reset(stream: GrpcCall, code: ErrorCode): void;
  /** Both sides are done. */
  remove(stream: GrpcCall): void;
}

/** An error's text may be that long: it goes into one frame. */
const MAX_REASON_LENGTH = 1_000;
const OK_TRAILERS = encodeHeaderBlock([["grpc-status", "0"]]);

/** How far a stream is (RFC 9113, 5.1): nobody has ended it, the peer has sent its end, or it is over for both. */
type StreamState = "open" | "remote end" | "closed";

/** One HTTP/2 stream, and the gRPC call on it: messages in both directions, and one status at the end. */
export class GrpcCall implements Holder {
  readonly id: number;
  readonly headers: CallHeaders;
  readonly sender: CallSender;
  /** The call's time is over then, by the server's clock: `CallTable` looks for it. */
  expiresAtMs = Number.POSITIVE_INFINITY;
  /** The peer should have ended the stream by then. */
  endsAtMs = Number.POSITIVE_INFINITY;
  readonly #host: CallHost;
  readonly #receiveWindow = new ReceiveWindow(STREAM_WINDOW_BYTES);
  readonly #reader: GrpcFrameReader;
  #listener: GrpcCallListener | null = null;
  #receivedBytes = 0;
  #heldBytes = 0;
  /** Messages wait here while the listener has paused. */
  #buffered: Buffer[] = [];
  /** So much of the window is not given back while the listener has paused, or others come first. */
  #withheldBytes = 0;
  /** The listener's wish: it may pause and resume in every state. */
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

  /** The call has had its end: nothing that is sent reaches the peer any more. */
  get isOver(): boolean {
    return this.#state === "closed" || this.sender.isEnded;
  }

  /** The peer sends nothing more. */
  get isRemoteClosed(): boolean {
    return this.#state !== "open";
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** It begins to read. */
  start(listener: GrpcCallListener): void {
    this.#listener = listener;
  }

  /** It sends one message, given in parts that do not change any more, and does nothing once the call is over. */
  send(parts: readonly Buffer[]): void {
    const { maxMessageBytes } = this.#host;
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    if (bytes > maxMessageBytes) {
      this.fail(GRPC_STATUS.resourceExhausted, `a reply of ${bytes} bytes is over the limit`);
    } else if (this.sender.queuedBytes > 2 * maxMessageBytes || this.#isOverShare(bytes)) {
      // Envoy stops sending when its own buffers are full, so this much unread means that it is stuck.
      this.fail(GRPC_STATUS.resourceExhausted, "replies are not read");
    } else {
      this.sender.sendMessage(parts, bytes);
    }
  }

  #isOverShare(bytes: number): boolean {
    return this.#host.isFull && this.sender.queuedBytes + bytes > QUEUED_SHARE_BYTES;
  }

  /** It ends with OK after what was sent, however slowly that is read. */
  end(): void {
    this.#end(OK_TRAILERS);
  }

  /** It ends with an error status after what was sent; what is not read soon is not sent any more. */
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

  /** It answers a request that is no gRPC call. */
  refuse(status: number, text: string): void {
    const fields = [
      [":status", String(status)],
      ["content-type", "text/plain"],
    ] as const;
    this.#host.expectEnd(this);
    this.sender.sendPlain(encodeHeaderBlock(fields), Buffer.from(text));
  }

  /** The listener is behind: it gets no message until `resume`, and the peer no more window. */
  pause(): void {
    this.#isPaused = true;
    if (this.#heldBytes > 0) this.#host.held.wake();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.giveBackHeld();
    this.#handOver(this.#buffered.splice(0));
  }

  giveBackHeld(): void {
    const withheld = this.#withheldBytes;
    this.#withheldBytes = 0;
    this.#giveBack(withheld);
  }

  /** The payload of a DATA frame has come, a part of `bytes`; `frameBytes` counts its padding too. */
  receive(bytes: Buffer, start: number, end: number, frameBytes: number): void {
    if (!this.#receiveWindow.take(frameBytes)) {
      this.#host.reset(this, ERROR.flowControlError);
      return;
    }
    this.#receivedBytes += end - start;
    // Nothing is read after our own end: what still comes may use up the window, not more.
    if (this.sender.isEnded) return;
    let messages: Buffer[];
    try {
      messages = this.#reader.read(bytes, start, end);
    } catch (error) {
      if (!(error instanceof GrpcFrameError)) throw error;
      this.fail(GRPC_STATUS.resourceExhausted, error.message);
      return;
    }
    if (!this.#hold(this.#reader.pendingBytes)) return;
    this.#giveBack(frameBytes);
    this.#handOver(messages);
  }

  /** The peer has ended its side of the stream. */
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

  /** The stream is over: complete, reset, or its connection broke. */
  close(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.sender.drop();
    this.#forget();
    this.#listener?.onClose?.();
  }

  #end(trailers: Buffer): void {
    if (this.sender.isEnded) return;
    this.#forget();
    this.sender.end(trailers);
  }

  /** What has come is nobody's any more. */
  #forget(): void {
    this.#buffered = [];
    this.#reader.drop();
    this.#hold(0);
  }

  /** So much of a message that is not whole is kept. It returns false where that is too much, and the call has failed. */
  #hold(bytes: number): boolean {
    const { held } = this.#host;
    const before = this.#heldBytes;
    if (bytes === before) return true;
    this.#heldBytes = bytes;
    if (bytes < before) held.release(this, before);
    if (bytes === 0) return true;
    held.add(this, bytes < before ? bytes : bytes - before);
    if (!held.isFull) return true;
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

  #giveBack(bytes: number): void {
    if (this.#isPaused || (this.#heldBytes > 0 && !this.#host.held.mayGrow(this))) {
      this.#withheldBytes += bytes;
      return;
    }
    const increment = this.#receiveWindow.giveBack(bytes);
    if (increment > 0 && this.#state === "open") {
      this.#host.writer.write(formatWindowUpdate(this.id, increment));
    }
  }
}
