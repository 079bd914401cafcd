import { constants, type ServerHttp2Stream } from "node:http2";

import { GRPC_STATUS, type GrpcStatusCode } from "../grpc-status.ts";
import { formatPrefix, GrpcFrameError, GrpcFrameReader } from "../grpc-frames.ts";

/** What a call tells the service that it belongs to. */
export interface GrpcCallListener {
  /** One whole message. */
  onMessage?(bytes: Buffer): void;
  /** The client has sent all that it will. */
  onHalfClose?(): void;
  /** The stream is over, however it came to that. Always the last call, exactly once. */
  onClose?(): void;
}

/** Below this, copying a message behind its prefix is cheaper than writing two buffers. */
const COPY_LIMIT_BYTES = 16 * 1024;
/** Then a client that has not closed its side, or reads nothing, gets a reset: no call may stay half open for ever. */
const ERROR_DELIVERED_WITHIN_MS = 1_000;
const RESPONSE_HEADERS = { ":status": 200, "content-type": "application/grpc" } as const;

/** The server's side of one gRPC call on an HTTP/2 stream: messages in both directions, and one status at the end. */
export class GrpcCall {
  readonly #stream: ServerHttp2Stream;
  readonly #maxMessageBytes: number;
  #reader: GrpcFrameReader | null;
  #listener: GrpcCallListener | null = null;
  #status: GrpcStatusCode = GRPC_STATUS.ok;
  #reason = "";
  #isEnded = false;

  constructor(stream: ServerHttp2Stream, maxMessageBytes: number) {
    this.#stream = stream;
    this.#maxMessageBytes = maxMessageBytes;
    this.#reader = new GrpcFrameReader(maxMessageBytes);
  }

  /** Begins to read. */
  start(listener: GrpcCallListener): void {
    this.#listener = listener;
    const stream = this.#stream;
    // A "close" event follows each error; by then nothing can be sent any more.
    stream.on("error", () => {});
    stream.on("data", (chunk: Buffer) => this.#read(chunk));
    stream.on("end", () => this.#handleEnd());
    stream.once("wantTrailers", () => {
      stream.sendTrailers({ "grpc-status": this.#status, "grpc-message": encodeURIComponent(this.#reason) });
    });
    stream.once("close", () => {
      this.#isEnded = true;
      listener.onClose?.();
    });
  }

  /** Sends one message. Does nothing once the call is over. Several in one tick leave as one write. */
  send(bytes: Buffer): void {
    const stream = this.#stream;
    if (this.#isEnded || stream.destroyed || stream.closed) return;
    if (bytes.length > this.#maxMessageBytes) {
      this.fail(GRPC_STATUS.resourceExhausted, `a reply of ${bytes.length} bytes is over the limit`);
      return;
    }
    // Envoy stops sending when its own buffers are full, so this much unread means that it is stuck.
    if (stream.writableLength > 2 * this.#maxMessageBytes) {
      this.fail(GRPC_STATUS.resourceExhausted, "replies are not read");
      return;
    }
    if (!stream.headersSent) stream.respond(RESPONSE_HEADERS, { waitForTrailers: true });
    if (stream.writableCorked === 0) {
      stream.cork();
      process.nextTick(() => stream.uncork());
    }
    const prefix = formatPrefix(bytes.length);
    if (bytes.length <= COPY_LIMIT_BYTES) {
      stream.write(Buffer.concat([prefix, bytes]));
    } else {
      stream.write(prefix);
      stream.write(bytes);
    }
  }

  /** Ends with OK after what was sent. */
  end(): void {
    this.#finish(GRPC_STATUS.ok, "");
  }

  /** Ends with an error status after what was sent. */
  fail(status: Exclude<GrpcStatusCode, 0>, reason: string): void {
    if (this.#isEnded) return;
    this.#finish(status, reason);
    const { NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR } = constants;
    const timer = setTimeout(() => {
      const stream = this.#stream;
      stream.close(stream.writableFinished ? NGHTTP2_NO_ERROR : NGHTTP2_INTERNAL_ERROR);
    }, ERROR_DELIVERED_WITHIN_MS);
    this.#stream.once("close", () => clearTimeout(timer));
  }

  #finish(status: GrpcStatusCode, reason: string): void {
    const stream = this.#stream;
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#reader = null;
    if (stream.destroyed || stream.closed) return;
    this.#status = status;
    this.#reason = reason;
    if (stream.headersSent) {
      stream.end();
    } else {
      stream.respond(
        { ...RESPONSE_HEADERS, "grpc-status": status, "grpc-message": encodeURIComponent(reason) },
        { endStream: true },
      );
    }
  }

  #read(chunk: Buffer): void {
    let messages: Buffer[] | undefined;
    try {
      messages = this.#reader?.read(chunk);
    } catch (error) {
      if (!(error instanceof GrpcFrameError)) throw error;
      this.fail(GRPC_STATUS.resourceExhausted, error.message);
    }
    for (const message of messages ?? []) this.#listener?.onMessage?.(message);
  }

  #handleEnd(): void {
    if (this.#reader?.isWithinMessage === true) {
      this.fail(GRPC_STATUS.internal, "the stream ended within a message");
    }
    this.#listener?.onHalfClose?.();
  }
}
