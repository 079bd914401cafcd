/**
 * Server side of one HTTP/2 connection of Envoy (RFC 9113): receives frames, delivers calls. Errors are
 * answered as the RFC requires; limits.ts bounds everything that a peer could make grow.
 */
import type { Socket } from "node:net";
import { waitAtMost } from "../../../shared/event-loop/wait.ts";
import { ControlFrames } from "./control-frames.ts";
import { FrameGuards } from "./frame-guards.ts";
import {
  ConnectionError,
  ERROR,
  formatGoaway,
  FRAME,
  FrameReader,
  MAX_STREAM_ID,
  PREFACE,
  protocolError,
} from "./frames.ts";
import { END_WITHIN_MS, MAX_FRAME_BYTES, MAX_UNSENT_BYTES, PEER_ANSWER_WITHIN_MS } from "./limits.ts";
import { TurnWriter } from "./turn-writer.ts";
import { RequestHeaders } from "./request-headers.ts";
import { type CallEvents, FrameRouter } from "./frame-router.ts";

export interface ConnectionOptions extends CallEvents {
  readonly maxMessageBytes: number;
  readonly onClosed: () => void;
}

export class WireConnection {
  readonly #socket: Socket;
  readonly #writer: TurnWriter;
  readonly #control: ControlFrames;
  readonly #headers = new RequestHeaders();
  readonly #router: FrameRouter;
  readonly #guards = new FrameGuards();
  readonly #reader: FrameReader;
  readonly #onClosed: () => void;
  /** Number of preface bytes received. */
  #prefaceBytes = 0;
  /** Time since which an answer of the peer is outstanding. */
  #awaitingSinceMs: number | null = null;
  /** True after the last GOAWAY: the connection ends with its last stream. */
  #isDraining = false;
  /**
   * Time at which the socket is destroyed, if the remaining output was not sent earlier; set when nothing
   * more is read.
   */
  #destroyAtMs: number | null = null;
  /** Time of the last tick by the server's clock. */
  #nowMs: number;

  constructor(socket: Socket, options: ConnectionOptions, nowMs: number) {
    this.#socket = socket;
    this.#nowMs = nowMs;
    this.#onClosed = options.onClosed;
    const writer = new TurnWriter(socket);
    this.#writer = writer;
    this.#control = new ControlFrames(writer, () => this.#headers.forbidTable());
    const onCallClosed: CallEvents["onCallClosed"] = (stream) => {
      options.onCallClosed(stream);
      this.#endIfDone();
    };
    const { peer } = this.#control;
    this.#router = new FrameRouter({ ...options, onCallClosed, writer, peer, guards: this.#guards }, nowMs);
    this.#reader = new FrameReader(MAX_FRAME_BYTES, (type, flags, id, bytes, start, end) =>
      this.#onFrame(type, flags, id, bytes, start, end),
    );
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#onBytes(chunk));
    socket.on("drain", () => this.#onDrain());
    // A "close" event follows.
    socket.on("error", () => {});
    socket.once("close", () => this.#onSocketClosed());
  }

  /**
   * Asks the peer to send new calls elsewhere; open calls continue, and the connection ends with the last
   * one. Two steps: with only the second GOAWAY, calls that are on their way would fail.
   */
  async drain(): Promise<void> {
    if (this.#destroyAtMs !== null) return;
    this.#writer.write(formatGoaway(MAX_STREAM_ID, ERROR.noError));
    await waitAtMost(this.#control.ping(), END_WITHIN_MS);
    if (this.#destroyAtMs !== null) return;
    this.#writer.write(formatGoaway(this.#router.refuseNewStreams(), ERROR.noError));
    this.#isDraining = true;
    this.#endIfDone();
  }

  /** Breaks the connection. */
  async close(): Promise<void> {
    const socket = this.#socket;
    if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", resolve).destroy());
  }

  /** Checks timeouts; call every `TICK_MS`. */
  tick(nowMs: number): void {
    this.#guards.refill(nowMs - this.#nowMs);
    this.#nowMs = nowMs;
    this.#router.tick(nowMs);
    if (this.#destroyAtMs !== null && this.#destroyAtMs <= nowMs) this.#socket.destroy();
    const isAwaiting = !this.#control.isSettled || this.#headers.openStreamId !== null;
    this.#awaitingSinceMs = isAwaiting ? (this.#awaitingSinceMs ?? nowMs) : null;
    if (this.#awaitingSinceMs !== null && nowMs - this.#awaitingSinceMs > PEER_ANSWER_WITHIN_MS) {
      this.#fail(new ConnectionError(ERROR.settingsTimeout, "what was due did not come"));
    }
  }

  #onBytes(chunk: Buffer): void {
    if (this.#destroyAtMs !== null) return;
    try {
      const rest = this.#prefaceBytes === PREFACE.length ? chunk : this.#readPreface(chunk);
      if (rest.length > 0) this.#reader.read(rest);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
      this.#fail(error);
    }
    if (this.#writer.unsentBytes > MAX_UNSENT_BYTES) this.#socket.pause();
  }

  #onDrain(): void {
    this.#socket.resume();
    this.#router.pump();
  }

  /** Returns the bytes after the preface. */
  #readPreface(chunk: Buffer): Buffer {
    const begun = this.#prefaceBytes;
    const taken = chunk.subarray(0, PREFACE.length - begun);
    if (taken.compare(PREFACE, begun, begun + taken.length) !== 0) throw protocolError("this is not HTTP/2");
    this.#prefaceBytes += taken.length;
    return chunk.subarray(taken.length);
  }

  #onFrame(type: number, flags: number, id: number, bytes: Buffer, start: number, end: number): void {
    if (this.#destroyAtMs !== null) return;
    if (!this.#control.hasSettings && type !== FRAME.settings) throw protocolError("no SETTINGS");
    if (this.#headers.openStreamId !== null && type !== FRAME.continuation) {
      throw protocolError("a frame within a block of headers");
    }
    if (type === FRAME.data) {
      this.#router.receiveData(flags, id, bytes, start, end);
    } else if (type === FRAME.headers) {
      this.#router.receiveHeaders(this.#headers.begin(flags, id, bytes, start, end));
    } else {
      this.#onRareFrame(type, flags, id, bytes.subarray(start, end));
    }
  }

  #onRareFrame(type: number, flags: number, id: number, payload: Buffer): void {
    switch (type) {
      case FRAME.continuation:
        this.#router.receiveHeaders(this.#headers.continue(flags, id, payload));
        break;
      case FRAME.rstStream:
        this.#router.receiveReset(id, payload);
        break;
      case FRAME.windowUpdate:
        this.#router.receiveWindowUpdate(id, payload);
        break;
      case FRAME.settings:
        this.#guards.idleFrames.take();
        this.#router.changeWindows(this.#control.receiveSettings(flags, id, payload));
        break;
      case FRAME.ping:
        this.#guards.idleFrames.take();
        this.#control.receivePing(flags, id, payload);
        break;
      case FRAME.priority:
        this.#router.receivePriority(id, payload);
        break;
      case FRAME.pushPromise:
        throw protocolError("a PUSH_PROMISE of a client");
      case FRAME.goaway:
        if (id !== 0) throw protocolError("a GOAWAY of a stream");
        break;
      default:
        this.#guards.idleFrames.take();
    }
  }

  #fail({ code, message }: ConnectionError): void {
    if (this.#destroyAtMs !== null) return;
    this.#writer.write(formatGoaway(this.#router.lastId, code, message));
    this.#end();
    this.#router.close();
  }

  #end(): void {
    if (this.#destroyAtMs !== null) return;
    this.#destroyAtMs = this.#nowMs + END_WITHIN_MS;
    this.#writer.flush();
    this.#socket.end();
  }

  #onSocketClosed(): void {
    this.#destroyAtMs ??= this.#nowMs;
    this.#router.close();
    this.#onClosed();
  }

  #endIfDone(): void {
    if (this.#isDraining && this.#router.areDone) this.#end();
  }
}
