import { formatPrefix, PREFIX_BYTES } from "./grpc-frames.ts";
import { SendWindow } from "./flow-control.ts";
import { FLAG, FRAME, FRAME_HEADER_BYTES, writeFrameHeader } from "./frames.ts";
import { encodeHeaderBlock } from "./hpack.ts";
import type { TurnWriter } from "./turn-writer.ts";

/** Connection as seen by the sending side of its streams. */
export interface SendHost {
  readonly writer: TurnWriter;
  readonly sendWindow: SendWindow;
  /** Largest payload that the peer accepts. */
  readonly peerFrameBytes: number;
  /** A DATA frame has been written. */
  onDataSent(): void;
  /** Registers a sender with bytes that wait for a window or the socket; `pump` is called once they may be sent. */
  waitToSend(sender: CallSender): void;
  /** Adds to the bytes of a stream that wait to be sent (negative: fewer). */
  countQueued(bytes: number): void;
}

/** Messages up to this size are copied into the output of this turn of the event loop. */
const FAST_PATH_BYTES = 16 * 1024;
const EMPTY = Buffer.alloc(0);
/** Same for every call, so built once. 0x88 is `:status: 200` of the static table. */
const RESPONSE_HEADERS = Buffer.concat([
  Buffer.from([0x88]),
  encodeHeaderBlock([["content-type", "application/grpc"]]),
]);

/** Part of our side of a stream that has been written: nothing, headers, or everything including the last frame. */
type Written = "nothing" | "headers" | "all";

/** Sends our side of one stream (headers, gRPC messages and trailers) as fast as windows and socket allow. */
export class CallSender {
  readonly window: SendWindow;
  readonly #streamId: number;
  readonly #host: SendHost;
  /** Called once the last frame has been written. */
  readonly #onClosed: () => void;
  #queue: Buffer[] = [];
  #queuedBytes = 0;
  /** Trailers, set once nothing more follows; empty for a body that ends with its DATA. */
  #end: Buffer | null = null;
  #written: Written = "nothing";

  constructor(streamId: number, host: SendHost, initialWindowBytes: number, onClosed: () => void) {
    this.#streamId = streamId;
    this.#host = host;
    this.#onClosed = onClosed;
    this.window = new SendWindow(initialWindowBytes);
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** No further message is accepted. */
  get isEnded(): boolean {
    return this.#end !== null;
  }

  /** The last frame has been written. */
  get isClosed(): boolean {
    return this.#written === "all";
  }

  sendMessage(parts: readonly Buffer[], messageBytes: number): void {
    if (this.#end !== null || this.#sendAtOnce(parts, messageBytes)) return;
    this.#enqueue(formatPrefix(messageBytes));
    for (const part of parts) this.#enqueue(part);
    this.pump();
    this.#host.writer.flushIfLarge();
  }

  /** Sends a response that is not gRPC. */
  sendPlain(block: Buffer, body: Buffer): void {
    this.#written = "headers";
    this.#writeHeaders(block, false);
    this.#enqueue(body);
    this.end(EMPTY);
  }

  /** Ends the stream with these trailers, or without any if empty. Only the first call counts. */
  end(trailers: Buffer): void {
    if (this.#end !== null) return;
    this.#end = trailers;
    this.pump();
  }

  /** Sends queued bytes as far as possible, and otherwise asks the host to call again. */
  pump(): void {
    while (this.pumpFrame());
  }

  /** Sends one frame, in turn with other streams. Returns true if there may be another. */
  pumpFrame(): boolean {
    if (this.#written === "all") return false;
    if (this.#queuedBytes === 0) {
      if (this.#end !== null) this.#writeEnd(this.#end);
      return false;
    }
    const { writer, sendWindow, peerFrameBytes } = this.#host;
    const bytes = Math.min(this.#queuedBytes, this.window.available, sendWindow.available, peerFrameBytes);
    if (bytes <= 0 || writer.isCongested) {
      this.#host.waitToSend(this);
      return false;
    }
    this.#writeQueued(bytes);
    return true;
  }

  /** The stream is over. */
  drop(): void {
    this.#end ??= EMPTY;
    this.#written = "all";
    this.#host.countQueued(-this.#queuedBytes);
    this.#queue = [];
    this.#queuedBytes = 0;
  }

  /** Sends headers, prefix and message as one piece if nothing blocks the message. */
  #sendAtOnce(parts: readonly Buffer[], messageBytes: number): boolean {
    const { writer, sendWindow, peerFrameBytes } = this.#host;
    const bytes = PREFIX_BYTES + messageBytes;
    const allowed = Math.min(this.window.available, sendWindow.available, peerFrameBytes, FAST_PATH_BYTES);
    if (this.#queuedBytes > 0 || bytes > allowed || writer.isCongested) return false;
    this.#ensureHeaders();
    const at = writer.reserve(FRAME_HEADER_BYTES + bytes);
    const { buffer } = writer;
    const payload = this.#beginData(buffer, at, bytes);
    buffer[payload] = 0;
    buffer.writeUInt32BE(messageBytes, payload + 1);
    let partAt = payload + PREFIX_BYTES;
    for (const part of parts) partAt += part.copy(buffer, partAt);
    return true;
  }

  #enqueue(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#host.countQueued(bytes.length);
  }

  #writeQueued(bytes: number): void {
    const { writer } = this.#host;
    this.#ensureHeaders();
    const at = writer.reserve(FRAME_HEADER_BYTES);
    this.#beginData(writer.buffer, at, bytes);
    this.#queuedBytes -= bytes;
    this.#host.countQueued(-bytes);
    for (let remaining = bytes; remaining > 0;) {
      const first = this.#queue[0] ?? EMPTY;
      const taken = first.subarray(0, remaining);
      writer.write(taken);
      remaining -= taken.length;
      if (taken.length === first.length) this.#queue.shift();
      else this.#queue[0] = first.subarray(taken.length);
    }
  }

  /** Returns the offset of the payload. */
  #beginData(target: Buffer, at: number, bytes: number): number {
    this.window.take(bytes);
    this.#host.sendWindow.take(bytes);
    this.#host.onDataSent();
    return writeFrameHeader(target, at, bytes, FRAME.data, 0, this.#streamId);
  }

  #writeEnd(end: Buffer): void {
    if (end.length === 0) {
      const { writer } = this.#host;
      const at = writer.reserve(FRAME_HEADER_BYTES);
      writeFrameHeader(writer.buffer, at, 0, FRAME.data, FLAG.endStream, this.#streamId);
    } else {
      this.#writeHeaders(this.#written === "headers" ? end : Buffer.concat([RESPONSE_HEADERS, end]), true);
    }
    this.#written = "all";
    this.#onClosed();
  }

  #ensureHeaders(): void {
    if (this.#written !== "nothing") return;
    this.#written = "headers";
    this.#writeHeaders(RESPONSE_HEADERS, false);
  }

  /** Writes headers. Ours always fit into the smallest frame. */
  #writeHeaders(block: Buffer, isEndOfStream: boolean): void {
    const { writer } = this.#host;
    const flags = FLAG.endHeaders | (isEndOfStream ? FLAG.endStream : 0);
    const at = writer.reserve(FRAME_HEADER_BYTES + block.length);
    const { buffer } = writer;
    block.copy(buffer, writeFrameHeader(buffer, at, block.length, FRAME.headers, flags, this.#streamId));
  }
}
