/** A client of HTTP/2 that sends what it is told, well-formed or not, and keeps what comes back. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { formatPrefix, GrpcFrameReader } from "../../src/envoy/transport/wire/grpc-frames.ts";
import {
  FLAG,
  formatFrame,
  formatSettings,
  FRAME,
  FrameReader,
  PREFACE,
} from "../../src/envoy/transport/wire/frames.ts";
import { encodeHeaderBlock, type HeaderField, HpackDecoder } from "../../src/envoy/transport/wire/hpack.ts";
import { waitFor, withTimeout } from "./wait.ts";

export interface WireFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

const LARGEST_FRAME_BYTES = 2 ** 24 - 1;

/** What a client sends first, with settings of its own. */
export function formatGreeting(settings: Parameters<typeof formatSettings>[0] = []): Buffer {
  return Buffer.concat([
    PREFACE,
    formatSettings(settings),
    formatFrame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0)),
  ]);
}

/** HEADERS that begin a gRPC call. */
export function formatCall(streamId: number, path: string, more: readonly HeaderField[] = []): Buffer {
  const block = encodeHeaderBlock([
    [":method", "POST"],
    [":scheme", "http"],
    [":path", path],
    [":authority", "gateway"],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    ...more,
  ]);
  return formatFrame(FRAME.headers, FLAG.endHeaders, streamId, block);
}

/** A DATA frame with one gRPC message. */
export function formatMessage(streamId: number, message: Buffer, flags = 0): Buffer {
  return formatFrame(FRAME.data, flags, streamId, Buffer.concat([formatPrefix(message.length), message]));
}

export class WireClient {
  readonly frames: WireFrame[] = [];
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const reader = new FrameReader(LARGEST_FRAME_BYTES, (type, flags, streamId, bytes, start, end) => {
      this.frames.push({ type, flags, streamId, payload: Buffer.from(bytes.subarray(start, end)) });
    });
    socket.on("data", (chunk: Buffer) => reader.read(chunk));
    socket.on("error", () => {});
  }

  static async open(socketPath: string): Promise<WireClient> {
    const socket = connect(socketPath);
    await once(socket, "connect");
    return new WireClient(socket);
  }

  get isClosed(): boolean {
    return this.#socket.closed || this.#socket.readableEnded;
  }

  /** Resolves when the kernel has taken it. */
  async write(...parts: Buffer[]): Promise<void> {
    const bytes = Buffer.concat(parts);
    await withTimeout("a write", new Promise<void>((resolve) => this.#socket.write(bytes, () => resolve())));
  }

  /** Takes nothing from the socket until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  close(): void {
    this.#socket.destroy();
  }

  find(type: number, streamId?: number): WireFrame | undefined {
    return this.frames.find(
      (frame) => frame.type === type && (streamId ?? frame.streamId) === frame.streamId,
    );
  }

  /** Resolves with the error code of the GOAWAY that must come. */
  async waitForGoaway(): Promise<number> {
    const { payload } = await waitFor("a GOAWAY", () => this.find(FRAME.goaway));
    return payload.readUInt32BE(4);
  }

  /** Resolves with the error code of the RST_STREAM that must come. */
  async waitForReset(streamId: number): Promise<number> {
    const { payload } = await waitFor("an RST_STREAM", () => this.find(FRAME.rstStream, streamId));
    return payload.readUInt32BE(0);
  }

  /** gRPC messages of a stream, so far. */
  messages(streamId: number): Buffer[] {
    const reader = new GrpcFrameReader(2 ** 31);
    return this.frames
      .filter((frame) => frame.type === FRAME.data && frame.streamId === streamId)
      .flatMap(({ payload }) => reader.read(payload));
  }

  /** Resolves with `grpc-status` once the call has ended. */
  async waitForStatus(streamId: number): Promise<string | undefined> {
    const isEnd = ({ type, flags, streamId: id }: WireFrame) =>
      type === FRAME.headers && id === streamId && (flags & FLAG.endStream) !== 0;
    const { payload } = await waitFor(`the end of stream ${streamId}`, () => this.frames.find(isEnd));
    const { fields } = new HpackDecoder(64 * 1024).decode(payload, 0, payload.length);
    return fields.find(([name]) => name === "grpc-status")?.[1];
  }
}
