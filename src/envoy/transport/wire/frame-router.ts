import { GRPC_STATUS } from "./grpc-status.ts";
import { ReceiveWindow, SendWindow } from "./flow-control.ts";
import {
  DEFAULT_WINDOW_BYTES,
  ERROR,
  type ErrorCode,
  FLAG,
  flowControlError,
  frameSizeError,
  formatReset,
  formatWindowUpdate,
  MAX_STREAM_ID,
  protocolError,
  streamClosed,
} from "./frames.ts";
import type { FrameGuards } from "./frame-guards.ts";
import { IncompleteBytes } from "./incomplete-bytes.ts";
import { readDependency, withoutPadding } from "./header-collector.ts";
import { CONNECTION_WINDOW_BYTES, MAX_CONCURRENT_STREAMS } from "./limits.ts";
import type { CallSender } from "./call-sender.ts";
import type { TurnWriter } from "./turn-writer.ts";
import type { PeerSettings } from "./peer-settings.ts";
import type { ReceivedHeaders } from "./request-headers.ts";
import { SendQueue } from "./send-queue.ts";
import { type CallHost, GrpcCall } from "./grpc-call.ts";
import { CallTable } from "./call-table.ts";

export interface CallEvents {
  /** Called for a new call, which must be started, refused or failed at once. */
  readonly onCall: (stream: GrpcCall) => void;
  /** Called after the end of a call, whose listener was notified. */
  readonly onCallClosed: (stream: GrpcCall) => void;
}

export interface FrameRouterOptions extends CallEvents {
  readonly writer: TurnWriter;
  readonly peer: PeerSettings;
  readonly guards: FrameGuards;
  readonly maxMessageBytes: number;
}

/** Passes each frame of a connection to its stream, and keeps the state that streams share. */
export class FrameRouter implements CallHost {
  readonly writer: TurnWriter;
  readonly sendWindow = new SendWindow(DEFAULT_WINDOW_BYTES);
  readonly maxMessageBytes: number;
  readonly incomplete = new IncompleteBytes();
  readonly #peer: PeerSettings;
  readonly #guards: FrameGuards;
  readonly #events: CallEvents;
  readonly #table = new CallTable();
  readonly #sendQueue = new SendQueue();
  readonly #receiveWindow = new ReceiveWindow(CONNECTION_WINDOW_BYTES);
  /** Streams with higher ids are ignored. */
  #lastTakenId = MAX_STREAM_ID;
  /** Time of the last tick by the server's clock. */
  #nowMs: number;

  constructor(options: FrameRouterOptions, nowMs: number) {
    this.writer = options.writer;
    this.maxMessageBytes = options.maxMessageBytes;
    this.#peer = options.peer;
    this.#guards = options.guards;
    this.#events = options;
    this.#nowMs = nowMs;
  }

  get peerFrameBytes(): number {
    return this.#peer.maxFrameBytes;
  }

  get isFull(): boolean {
    return this.#sendQueue.isFull;
  }

  /** True if no stream is open. */
  get areDone(): boolean {
    return this.#table.size === 0;
  }

  /** Highest stream id so far. */
  get lastId(): number {
    return this.#table.lastId;
  }

  onDataSent(): void {
    this.#guards.windowUpdates.allow(2);
  }

  waitToSend(sender: CallSender): void {
    this.#sendQueue.add(sender);
  }

  countQueued(bytes: number): void {
    this.#sendQueue.count(bytes);
  }

  expectEnd(stream: GrpcCall): void {
    this.#table.expectEnd(stream, this.#nowMs);
  }

  reset(stream: GrpcCall, code: ErrorCode): void {
    this.#writeReset(stream.id, code);
    this.remove(stream);
  }

  remove(stream: GrpcCall): void {
    if (!this.#table.remove(stream)) return;
    stream.close();
    this.#sendQueue.remove(stream.sender);
    this.#events.onCallClosed(stream);
  }

  /** Ignores all streams that are not open yet. Returns the last accepted stream. */
  refuseNewStreams(): number {
    this.#lastTakenId = this.#table.lastId;
    return this.#lastTakenId;
  }

  /** Continues sending when the socket takes more. */
  pump(): void {
    this.#sendQueue.pump();
  }

  /** Breaks all streams. */
  close(): void {
    for (const stream of this.#table.list()) this.remove(stream);
  }

  /** Fails calls whose deadline has passed, and resets streams that the peer should have ended. */
  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const stream of this.#table.listExpired(nowMs)) {
      stream.fail(GRPC_STATUS.deadlineExceeded, "the call's deadline has passed");
    }
    for (const stream of this.#table.listUnended(nowMs)) {
      this.reset(stream, stream.sender.isClosed ? ERROR.noError : ERROR.internalError);
    }
  }

  // The following methods handle frames, and throw ConnectionError.

  receiveData(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const frameBytes = end - start;
    if (!this.#receiveWindow.take(frameBytes)) throw flowControlError();
    const increment = this.#receiveWindow.release(frameBytes);
    if (increment > 0) this.writer.write(formatWindowUpdate(0, increment));
    const payload = withoutPadding(flags, bytes, start, end);
    const stream = this.#findOpen(id);
    if (stream === null) return;
    const isEnd = (flags & FLAG.endStream) !== 0;
    if (payload.end > payload.start) stream.receive(bytes, payload.start, payload.end, frameBytes);
    else if (!isEnd) this.#guards.idleFrames.take();
    if (isEnd && this.#table.find(id) === stream) stream.receiveEnd();
  }

  /** Finds the stream of a DATA frame. Returns null if the stream has ended, after answering the frame. */
  #findOpen(id: number): GrpcCall | null {
    const stream = this.#table.find(id);
    if (stream !== undefined && !stream.isRemoteClosed) return stream;
    if (this.#isIdle(id)) throw protocolError("DATA of a stream that was not begun");
    if (stream !== undefined) this.reset(stream, ERROR.streamClosed);
    else if (!this.#isPassedOver(id)) this.#writeReset(id, ERROR.streamClosed);
    return null;
  }

  /** @param headers Null if the block is incomplete. */
  receiveHeaders(headers: ReceivedHeaders | null): void {
    if (headers === null) return;
    const { streamId } = headers;
    if (streamId % 2 === 0) throw protocolError("a stream with an even number");
    const stream = this.#table.find(streamId);
    if (stream !== undefined) this.#onTrailers(stream, headers);
    else if (streamId > this.#table.lastId) this.#onCall(headers);
    else if (!this.#isPassedOver(streamId)) throw streamClosed("HEADERS after the end");
  }

  #onTrailers(stream: GrpcCall, { isEndOfStream, areTrailers }: ReceivedHeaders): void {
    if (stream.isRemoteClosed) this.reset(stream, ERROR.streamClosed);
    else if (!isEndOfStream || !areTrailers) this.reset(stream, ERROR.protocolError);
    else stream.receiveEnd();
  }

  #onCall({ streamId, isEndOfStream, call, isTooLarge }: ReceivedHeaders): void {
    this.#table.use(streamId);
    this.#guards.windowUpdates.allow(2);
    if (streamId > this.#lastTakenId) return;
    if (call === null) {
      this.#writeReset(streamId, isTooLarge ? ERROR.enhanceYourCalm : ERROR.protocolError);
    } else if (this.#table.size >= MAX_CONCURRENT_STREAMS) {
      this.#writeReset(streamId, ERROR.refusedStream);
    } else {
      const stream = new GrpcCall(streamId, call, this, this.#peer.initialWindowBytes);
      this.#table.add(stream, this.#nowMs);
      this.#events.onCall(stream);
      if (isEndOfStream && this.#table.find(streamId) === stream) stream.receiveEnd();
    }
  }

  receiveReset(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw frameSizeError("an RST_STREAM of another size than 4");
    if (this.#isIdle(id)) throw protocolError("a reset of a stream that was not begun");
    const stream = this.#table.find(id);
    if (stream !== undefined) this.remove(stream);
    this.#table.takeUnread(id)?.();
  }

  receiveWindowUpdate(id: number, payload: Buffer): void {
    if (payload.length !== 4) throw frameSizeError("a WINDOW_UPDATE of another size than 4");
    this.#guards.windowUpdates.take();
    const increment = payload.readUInt32BE() & MAX_STREAM_ID;
    if (id === 0) {
      if (increment === 0) throw protocolError("a WINDOW_UPDATE of nothing");
      if (!this.sendWindow.grow(increment)) throw flowControlError();
      this.#sendQueue.pump();
      return;
    }
    if (this.#isIdle(id)) throw protocolError("a WINDOW_UPDATE of a stream that was not begun");
    const stream = this.#table.find(id);
    if (stream === undefined) return;
    if (increment === 0) this.reset(stream, ERROR.protocolError);
    else if (stream.sender.window.grow(increment)) stream.sender.pump();
    else this.reset(stream, ERROR.flowControlError);
  }

  /** Applies a change of the peer's SETTINGS to each stream's window. */
  changeWindows(change: number): void {
    if (change === 0) return;
    for (const { sender } of this.#table.list()) {
      if (!sender.window.grow(change)) throw flowControlError();
    }
    this.#sendQueue.pump();
  }

  /** Priorities are deprecated and ignored, but must be well-formed. */
  receivePriority(id: number, payload: Buffer): void {
    this.#guards.idleFrames.take();
    if (id === 0) throw protocolError("a PRIORITY of no stream");
    const isSized = payload.length === 5;
    if (isSized && readDependency(payload, 0) !== id) return;
    const code = isSized ? ERROR.protocolError : ERROR.frameSizeError;
    const stream = this.#table.find(id);
    if (stream === undefined) this.#writeReset(id, code);
    else this.reset(stream, code);
  }

  #isIdle(id: number): boolean {
    return id === 0 || id % 2 === 0 || id > this.#table.lastId;
  }

  /** Returns whether the peer may not know yet that we ended or ignored the stream. */
  #isPassedOver(id: number): boolean {
    return id > this.#lastTakenId || this.#table.wasReset(id);
  }

  #writeReset(id: number, code: ErrorCode): void {
    this.#table.rememberReset(id);
    this.writer.write(formatReset(id, code));
  }
}
