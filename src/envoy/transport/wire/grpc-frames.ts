/** Compressed flag and length, before each gRPC message. */
export const PREFIX_BYTES = 5;
const EMPTY = Buffer.alloc(0);

/** The bytes are not gRPC frames that we take; the message says why. */
export class GrpcFrameError extends Error {
  override readonly name = "GrpcFrameError";
}

/**
 * Cuts a byte stream into gRPC messages. A message that lies whole in one chunk is a view of it, others are joined by
 * one copy. Holds at most one unfinished message.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class GrpcFrameReader {
  readonly #maxMessageBytes: number;
  /** Chunks of the unfinished frame, its prefix included. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Of the unfinished frame with its prefix; not known while less than a prefix is there. */
  #frameBytes: number | null = null;

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** True within a message: the stream must not end here. */
  get isWithinMessage(): boolean {
    return this.#pendingBytes > 0;
  }

  /** Of the message that is not whole. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Nothing is read any more. */
  drop(): void {
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /**
   * The messages that this chunk completes, a part of `bytes`. Throws `GrpcFrameError` on a compressed or too large
   * message.
   */
  read(bytes: Buffer, start = 0, end: number = bytes.length): Buffer[] {
    const messages: Buffer[] = [];
    for (let at = start; at < end;) {
      at =
        this.#pendingBytes === 0
          ? this.#readWhole(bytes, at, end, messages)
          : this.#readPending(bytes, at, end, messages);
    }
    return messages;
  }

  /** Takes the message that begins there, or keeps all the bytes; returns where the rest begins. */
  #readWhole(bytes: Buffer, at: number, end: number, messages: Buffer[]): number {
    const frameBytes = end - at < PREFIX_BYTES ? null : this.#parsePrefix(bytes, at);
    if (frameBytes !== null && end - at >= frameBytes) {
      messages.push(bytes.subarray(at + PREFIX_BYTES, at + frameBytes));
      return at + frameBytes;
    }
    this.#pending.push(bytes.subarray(at, end));
    this.#pendingBytes = end - at;
    this.#frameBytes = frameBytes;
    return end;
  }

  /** Adds to the unfinished frame as much as it needs; returns where the rest begins. */
  #readPending(bytes: Buffer, at: number, end: number, messages: Buffer[]): number {
    const missing = (this.#frameBytes ?? PREFIX_BYTES) - this.#pendingBytes;
    const taken = bytes.subarray(at, Math.min(end, at + missing));
    this.#pending.push(taken);
    this.#pendingBytes += taken.length;
    if (this.#frameBytes === null && this.#pendingBytes === PREFIX_BYTES) {
      this.#pending = [Buffer.concat(this.#pending)];
      this.#frameBytes = this.#parsePrefix(this.#pending[0] ?? EMPTY, 0);
    }
    if (this.#pendingBytes === this.#frameBytes) {
      messages.push(Buffer.concat(this.#pending, this.#pendingBytes).subarray(PREFIX_BYTES));
      this.#pending = [];
      this.#pendingBytes = 0;
      this.#frameBytes = null;
    }
    return at + taken.length;
  }

  #parsePrefix(bytes: Buffer, at: number): number {
    if (bytes[at] !== 0) throw new GrpcFrameError("compressed messages are not supported");
    const messageBytes = bytes.readUInt32BE(at + 1);
    if (messageBytes > this.#maxMessageBytes) {
      throw new GrpcFrameError(
        `a message of ${messageBytes} bytes is over the limit of ${this.#maxMessageBytes}`,
      );
    }
    return PREFIX_BYTES + messageBytes;
  }
}

/** The five bytes before a message of that length. */
export function formatPrefix(messageBytes: number): Buffer {
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix[0] = 0;
  prefix.writeUInt32BE(messageBytes, 1);
  return prefix;
}
