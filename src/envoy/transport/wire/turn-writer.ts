import type { Socket } from "node:net";
import { sendRepliesAtTurnEnd } from "../../../shared/event-loop/turn-end.ts";

/**
 * Size of the memory into which frames of a turn of the event loop are written; another one is allocated when
 * it is full.
 */
const SLAB_BYTES = 64 * 1024;
/** Larger buffers are written without a copy: most of each frame of a body. */
const COPY_LIMIT_BYTES = 4 * 1024;
/** Unwritten bytes above which the socket gets no more DATA, which then waits in its stream. */
const CONGESTED_BYTES = 1024 * 1024;

/**
 * Bytes above which output is not held back until the end of the turn, while Envoy would be idle: 5 % more
 * requests of 100 kB.
 */
const EARLY_BYTES = 64 * 1024;

/** Writer of a connection. All output of one turn of the event loop leaves in one write, except large messages. */
export class TurnWriter {
  readonly #socket: Socket;
  #slab: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  /** Start of the part of the slab that is not among the parts yet. */
  #start = 0;
  #end = 0;
  #parts: Buffer[] = [];
  #partsBytes = 0;
  #isScheduled = false;
  readonly #flushLater = () => this.flush();

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Bytes that the kernel has not taken. */
  get unsentBytes(): number {
    return this.#socket.writableLength + this.#partsBytes + this.#end - this.#start;
  }

  get isCongested(): boolean {
    return this.unsentBytes > CONGESTED_BYTES;
  }

  /** Reserves space in `buffer` for this many bytes, at most a frame, and returns its start. */
  reserve(bytes: number): number {
    if (this.#slab.length - this.#end < bytes) {
      this.#seal();
      this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, bytes));
      this.#start = 0;
      this.#end = 0;
    }
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      sendRepliesAtTurnEnd(this.#flushLater);
    }
    const at = this.#end;
    this.#end += bytes;
    return at;
  }

  /** Buffer with the reserved space, valid until the next `reserve`. */
  get buffer(): Buffer {
    return this.#slab;
  }

  /** Writes bytes, which must not change any more. */
  write(bytes: Buffer): void {
    if (bytes.length <= COPY_LIMIT_BYTES) {
      const at = this.reserve(bytes.length);
      bytes.copy(this.#slab, at);
      return;
    }
    this.reserve(0);
    this.#seal();
    this.#parts.push(bytes);
    this.#partsBytes += bytes.length;
  }

  /** Call at the end of a message: half a message is of no use to the peer. */
  flushIfLarge(): void {
    if (this.#partsBytes + this.#end - this.#start >= EARLY_BYTES) this.#send();
  }

  flush(): void {
    this.#isScheduled = false;
    this.#send();
  }

  #send(): void {
    this.#seal();
    const parts = this.#parts;
    if (parts.length === 0) return;
    this.#parts = [];
    this.#partsBytes = 0;
    const socket = this.#socket;
    if (!socket.writable) return;
    if (parts.length === 1 && parts[0] !== undefined) {
      socket.write(parts[0]);
    } else {
      socket.cork();
      for (const part of parts) socket.write(part);
      socket.uncork();
    }
    // The kernel has taken everything, as in nearly all cases: reuse memory that is in the cache.
    if (socket.writableLength === 0 && this.#start === this.#end && this.#parts.length === 0) {
      this.#start = 0;
      this.#end = 0;
    }
  }

  #seal(): void {
    if (this.#end === this.#start) return;
    this.#parts.push(this.#slab.subarray(this.#start, this.#end));
    this.#partsBytes += this.#end - this.#start;
    this.#start = this.#end;
  }
}
