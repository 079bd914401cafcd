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
import { HeldBytes } from "./held-bytes.ts";
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
  /** A call has begun; it is to be started, refused or failed at once. */
  readonly onCall: (stream: GrpcCall) => void;
  /** It is over; its listener has been told. */
  readonly onCallClosed: (stream: GrpcCall) => void;
}

export interface FrameRouterOptions extends CallEvents {
  readonly writer: TurnWriter;
  readonly peer: PeerSettings;
  readonly guards: FrameGuards;
  readonly maxMessageBytes: number;
}

/** It takes each frame of a connection to the stream that the frame belongs to, and keeps what the streams share. */
export class FrameRouter implements CallHost {
  readonly writer: TurnWriter;
  readonly sendWindow = new SendWindow(DEFAULT_WINDOW_BYTES);
  readonly maxMessageBytes: number;
  readonly held = new HeldBytes();
  readonly #peer: PeerSettings;
  readonly #guards: FrameGuards;
  readonly #events: CallEvents;
  readonly #table = new CallTable();
  readonly #sendQueue = new SendQueue();
  readonly #receiveWindow = new ReceiveWindow(CONNECTION_WINDOW_BYTES);
  /** Streams above are not taken any more. */
  #lastTakenId = MAX_STREAM_ID;
  /** It is the time of the last tick, by the server's clock. */
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

  /** None is open. */
  get areDone(): boolean {
    return this.#table.size === 0;
  }

  /** The highest number that was begun. */
  get lastId(): number {
    return this.#table.lastId;
  }

  onDataSent(): void {
    this.#guards.windowUpdates.give(2);
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

  /** From now on what is not yet open is passed over. It returns the last stream that was taken. */
  takeNoMore(): number {
    this.#lastTakenId = this.#table.lastId;
    return this.#lastTakenId;
  }

  /** The socket takes more. */
  pump(): void {
    this.#sendQueue.pump();
  }

  /** It breaks off all of them. */
  close(): void {
    for (const stream of this.#table.list()) this.remove(stream);
  }

  /** It looks for calls whose deadline has passed, and for streams that the peer should have ended. */
  tick(nowMs: number): void {
    this.#nowMs = nowMs;
    for (const stream of this.#table.listExpired(nowMs)) {
      stream.fail(GRPC_STATUS.deadlineExceeded, "the call's deadline has passed");
    }
    for (const stream of this.#table.listUnended(nowMs)) {
      this.reset(stream, stream.sender.isClosed ? ERROR.noError : ERROR.internalError);
    }
  }

  // What follows takes frames, and throws ConnectionError.

  receiveData(flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    const frameBytes = end - start;
    if (!this.#receiveWindow.take(frameBytes)) throw flowControlError();
    const increment = this.#receiveWindow.giveBack(frameBytes);
    if (increment > 0) this.writer.write(formatWindowUpdate(0, increment));
    const payload = withoutPadding(flags, bytes, start, end);
    const stream = this.#findOpen(id);
    if (stream === null) return;
    const isEnd = (flags & FLAG.endStream) !== 0;
    if (payload.end > payload.start) stream.receive(bytes, payload.start, payload.end, frameBytes);
    else if (!isEnd) this.#guards.idleFrames.take();
    if (isEnd && this.#table.find(id) === stream) stream.receiveEnd();
  }

  /**
   * It finds the stream that a DATA frame is for, and returns null when there is none any more, which has then been
   * answered.
   */
  #findOpen(id: number): GrpcCall | null {
    const stream = this.#table.find(id);
    if (stream !== undefined && !stream.isRemoteClosed) return stream;
    if (this.#isIdle(id)) throw protocolError("DATA of a stream that was not begun");
    if (stream !== undefined) this.reset(stream, ERROR.streamClosed);
    else if (!this.#isPassedOver(id)) this.#writeReset(id, ERROR.streamClosed);
    return null;
  }

  /** @param headers They are null while there is more to come of them. */
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
    this.#guards.windowUpdates.give(2);
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

  /** The peer's SETTINGS have changed the window of each stream by so much. */
  changeWindows(change: number): void {
    if (change === 0) return;
    for (const { sender } of this.#table.list()) {
      if (!sender.window.grow(change)) throw flowControlError();
    }
    this.#sendQueue.pump();
  }

  /** Priorities are deprecated and not looked at, but must be well-formed. */
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

  /** The peer may not yet know of a stream that we ended early or did not take. */
  #isPassedOver(id: number): boolean {
    return id > this.#lastTakenId || this.#table.wasReset(id);
  }

  #writeReset(id: number, code: ErrorCode): void {
    this.#table.rememberReset(id);
    this.writer.write(formatReset(id, code));
  }
}
