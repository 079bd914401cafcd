import { ConnectionError, ERROR, FLAG } from "./frames.ts";

/** More is a flood: Envoy puts whole blocks into one frame. */
const MAX_CONTINUATIONS = 16;

/** Complete header block, still encoded. */
export interface CollectedHeaders {
  readonly streamId: number;
  readonly isEndOfStream: boolean;
  /** True if a stream depends on itself, which is a stream error. Priorities are otherwise ignored. */
  readonly dependsOnItself: boolean;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Joins HEADERS and CONTINUATION frames. */
export class HeaderCollector {
  readonly #maxBlockBytes: number;
  #open: CollectedHeaders | null = null;
  #parts: Buffer[] = [];
  #partsBytes = 0;

  constructor(maxBlockBytes: number) {
    this.#maxBlockBytes = maxBlockBytes;
  }

  /** Stream with an incomplete block; no other frame may come until it is complete. */
  get openStreamId(): number | null {
    return this.#open?.streamId ?? null;
  }

  /** Handles a HEADERS frame. Null while its block is incomplete. */
  begin(flags: number, streamId: number, bytes: Buffer, start: number, end: number): CollectedHeaders | null {
    const payload = withoutPadding(flags, bytes, start, end);
    let dependsOnItself = false;
    if ((flags & FLAG.priority) !== 0) {
      if (payload.end - payload.start < 5) throw new ConnectionError(ERROR.frameSizeError, "a short HEADERS");
      dependsOnItself = readDependency(bytes, payload.start) === streamId;
      payload.start += 5;
    }
    const isEndOfStream = (flags & FLAG.endStream) !== 0;
    const headers = {
      streamId,
      isEndOfStream,
      dependsOnItself,
      bytes,
      start: payload.start,
      end: payload.end,
    };
    this.#checkSize(payload.end - payload.start);
    if ((flags & FLAG.endHeaders) !== 0) return headers;
    this.#open = headers;
    this.#parts = [bytes.subarray(payload.start, payload.end)];
    this.#partsBytes = payload.end - payload.start;
    return null;
  }

  /** Handles a CONTINUATION frame. Null while the block is incomplete. */
  continue(flags: number, streamId: number, payload: Buffer): CollectedHeaders | null {
    const open = this.#open;
    if (open === null || open.streamId !== streamId) {
      throw new ConnectionError(ERROR.protocolError, "a CONTINUATION of no block");
    }
    this.#partsBytes += payload.length;
    this.#checkSize(this.#partsBytes);
    if (this.#parts.push(payload) > MAX_CONTINUATIONS) {
      throw new ConnectionError(ERROR.enhanceYourCalm, "a block of headers in too many frames");
    }
    if ((flags & FLAG.endHeaders) === 0) return null;
    const bytes = Buffer.concat(this.#parts);
    this.#open = null;
    this.#parts = [];
    return { ...open, bytes, start: 0, end: bytes.length };
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#maxBlockBytes) return;
    // Skipping it is impossible: the table would differ from the peer's.
    throw new ConnectionError(ERROR.enhanceYourCalm, "a block of headers over the limit");
  }
}

/** @throws ConnectionError if there is more padding than payload. */
export function withoutPadding(
  flags: number,
  bytes: Buffer,
  start: number,
  end: number,
): { start: number; end: number } {
  if ((flags & FLAG.padded) === 0) return { start, end };
  if (start === end) throw new ConnectionError(ERROR.frameSizeError, "a padded frame without a length");
  const padding = bytes[start] ?? 0;
  if (padding > end - start - 1) throw new ConnectionError(ERROR.protocolError, "more padding than payload");
  return { start: start + 1, end: end - padding };
}

/** Returns the stream that a priority depends on. */
export function readDependency(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) & 0x7fffffff;
}
