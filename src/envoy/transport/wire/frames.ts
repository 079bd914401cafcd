/** HTTP/2 frames: their numbers, splitting of a byte stream, and formatting of those that we send. */

/** @see RFC 9113, section 6 */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** @see RFC 9113, section 7 */
export const ERROR = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

/** One of `ERROR`. */
export type ErrorCode = (typeof ERROR)[keyof typeof ERROR];

/** @see RFC 9113, section 6.5.2 */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** First bytes of every client. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
export const FRAME_HEADER_BYTES = 9;
/** Frame size that a peer accepts by default. */
export const DEFAULT_FRAME_BYTES = 16_384;
export const DEFAULT_WINDOW_BYTES = 65_535;
export const MAX_WINDOW_BYTES = 2 ** 31 - 1;
/** A GOAWAY with this id rejects nothing. */
export const MAX_STREAM_ID = 2 ** 31 - 1;

/** Error that ends the connection: GOAWAY with this code, then close. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function protocolError(message: string): ConnectionError {
  return new ConnectionError(ERROR.protocolError, message);
}

export function frameSizeError(message: string): ConnectionError {
  return new ConnectionError(ERROR.frameSizeError, message);
}

export function streamClosed(message: string): ConnectionError {
  return new ConnectionError(ERROR.streamClosed, message);
}

export function flowControlError(): ConnectionError {
  return new ConnectionError(ERROR.flowControlError, "a window that was not kept to, or is too large");
}

/** Handler of a complete frame. `bytes` may contain more than its payload. */
export type OnFrame = (
  type: number,
  flags: number,
  streamId: number,
  bytes: Buffer,
  start: number,
  end: number,
) => void;

/**
 * Splits a byte stream into frames. A frame that is complete in one chunk is a view of it; others are joined
 * in a buffer of their size, so that a sender of single bytes costs no more than a sender of frames.
 */
export class FrameReader {
  readonly #maxFrameBytes: number;
  readonly #onFrame: OnFrame;
  /** Incomplete frame: first its nine bytes of header, then all of it. */
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  #frame: Buffer | null = null;
  #filled = 0;

  constructor(maxFrameBytes: number, onFrame: OnFrame) {
    this.#maxFrameBytes = maxFrameBytes;
    this.#onFrame = onFrame;
  }

  /** @throws ConnectionError for a frame over the limit, and the errors of `onFrame`. */
  read(chunk: Buffer): void {
    let at = this.#filled > 0 ? this.#readRest(chunk, 0) : 0;
    while (chunk.length - at >= FRAME_HEADER_BYTES) {
      const end = at + FRAME_HEADER_BYTES + this.#readLength(chunk, at);
      if (end > chunk.length) break;
      this.#emit(chunk, at, end);
      at = end;
    }
    if (at < chunk.length) this.#readRest(chunk, at);
  }

  /** Adds the missing bytes to the incomplete frame; returns where the next one starts. */
  #readRest(chunk: Buffer, from: number): number {
    let at = from;
    if (this.#frame === null) {
      const copied = chunk.copy(this.#header, this.#filled, at, at + FRAME_HEADER_BYTES - this.#filled);
      this.#filled += copied;
      at += copied;
      if (this.#filled < FRAME_HEADER_BYTES) return at;
      this.#frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + this.#readLength(this.#header, 0));
      this.#header.copy(this.#frame);
    }
    const frame = this.#frame;
    const copied = chunk.copy(frame, this.#filled, at, at + frame.length - this.#filled);
    this.#filled += copied;
    at += copied;
    if (this.#filled === frame.length) {
      this.#frame = null;
      this.#filled = 0;
      this.#emit(frame, 0, frame.length);
    }
    return at;
  }

  #readLength(bytes: Buffer, at: number): number {
    const length = bytes.readUIntBE(at, 3);
    if (length > this.#maxFrameBytes) {
      throw new ConnectionError(
        ERROR.frameSizeError,
        `a frame of ${length} bytes is over the limit of ${this.#maxFrameBytes}`,
      );
    }
    return length;
  }

  #emit(bytes: Buffer, at: number, end: number): void {
    const type = bytes[at + 3] ?? 0;
    const flags = bytes[at + 4] ?? 0;
    const streamId = bytes.readUInt32BE(at + 5) & MAX_STREAM_ID;
    this.#onFrame(type, flags, streamId, bytes, at + FRAME_HEADER_BYTES, end);
  }
}

/** Writes the nine bytes before a payload; returns where the payload starts. */
export function writeFrameHeader(
  target: Buffer,
  at: number,
  payloadBytes: number,
  type: number,
  flags: number,
  streamId: number,
): number {
  target[at] = payloadBytes >>> 16;
  target[at + 1] = payloadBytes >>> 8;
  target[at + 2] = payloadBytes;
  target[at + 3] = type;
  target[at + 4] = flags;
  target[at + 5] = streamId >>> 24;
  target[at + 6] = streamId >>> 16;
  target[at + 7] = streamId >>> 8;
  target[at + 8] = streamId;
  return at + FRAME_HEADER_BYTES;
}

/** Formats a complete frame; for rare kinds. */
export function formatFrame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.length);
  frame.set(payload, writeFrameHeader(frame, 0, payload.length, type, flags, streamId));
  return frame;
}

/** Formats SETTINGS with these values, by number. */
export function formatSettings(settings: readonly (readonly [setting: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(settings.length * 6);
  for (const [index, [setting, value]] of settings.entries()) {
    payload.writeUInt16BE(setting, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  }
  return formatFrame(FRAME.settings, 0, 0, payload);
}

export function formatWindowUpdate(streamId: number, increment: number): Buffer {
  return formatFrame(FRAME.windowUpdate, 0, streamId, formatUInt32(increment));
}

export function formatReset(streamId: number, code: ErrorCode): Buffer {
  return formatFrame(FRAME.rstStream, 0, streamId, formatUInt32(code));
}

/** Formats GOAWAY with a text for the peer's log. */
export function formatGoaway(lastStreamId: number, code: ErrorCode, text = ""): Buffer {
  const payload = Buffer.concat([
    formatUInt32(lastStreamId),
    formatUInt32(code),
    Buffer.from(text, "latin1"),
  ]);
  return formatFrame(FRAME.goaway, 0, 0, payload);
}

function formatUInt32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
