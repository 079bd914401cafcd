/** Compressed flag and length before each gRPC message. */
export const PREFIX_BYTES = 5;
const EMPTY = Buffer.alloc(0);

/** Thrown for bytes that are not acceptable gRPC frames; the message has the reason. */
export class GrpcFrameError extends Error {
  override readonly name = "GrpcFrameError";
}

/**
 * Splits a byte stream into gRPC messages. A message that is complete in one chunk is a view of it, others
 * are joined by one copy. Holds at most one incomplete message.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export class GrpcFrameReader {
  readonly #maxMessageBytes: number;
  /** Chunks of the incomplete frame, including its prefix. */
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  /** Size of the incomplete frame including its prefix; null until the prefix is complete. */
  #frameBytes: number | null = null;

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** True within a message: the stream must not end here. */
  get isWithinMessage(): boolean {
    return this.#pendingBytes > 0;
  }

  /** Received bytes of the incomplete message. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Discards the incomplete message; call when nothing more is read. */
  drop(): void {
    this.#pending = [];
    this.#pendingBytes = 0;
  }

  /**
   * Returns the messages that this part of `bytes` completes. Throws `GrpcFrameError` on a compressed or too
   * large message.
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

  /** Reads the message at `at`, or keeps all the bytes; returns where the rest starts. */
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

  /** Adds the missing bytes to the incomplete frame; returns where the rest starts. */
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

/** Returns the five bytes before a message of that length. */
export function formatPrefix(messageBytes: number): Buffer {
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES);
  prefix[0] = 0;
  prefix.writeUInt32BE(messageBytes, 1);
  return prefix;
}
