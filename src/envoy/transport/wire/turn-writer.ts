import type { Socket } from "node:net";
import { sendRepliesAtTurnEnd } from "../../../shared/event-loop/turn-end.ts";

/** Frames of one turn of the event loop lie here one after another; a new piece of memory begins where one is full. */
const SLAB_BYTES = 64 * 1024;
/** A larger buffer is written as it is, not copied: most of each frame of a body. */
const COPY_LIMIT_BYTES = 4 * 1024;
/** From so many unwritten bytes on no more DATA is given to the socket: it then waits in its stream. */
const CONGESTED_BYTES = 1024 * 1024;

/**
 * From so many bytes on nothing waits for the rest of the turn, in which Envoy would have nothing to do: a twentieth more
 * requests of 100 kB.
 */
const EARLY_BYTES = 64 * 1024;

/**
 * It writes what a connection sends. Everything of one turn of the event loop leaves in one write, but for large messages.
 */
export class TurnWriter {
  readonly #socket: Socket;
  #slab: Buffer = Buffer.allocUnsafeSlow(SLAB_BYTES);
  /** This part of the slab is not yet among the parts. */
  #start = 0;
  #end = 0;
  #parts: Buffer[] = [];
  #partsBytes = 0;
  #isScheduled = false;
  readonly #flushLater = () => this.flush();

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** The kernel has not taken so many bytes. */
  get unsentBytes(): number {
    return this.#socket.writableLength + this.#partsBytes + this.#end - this.#start;
  }

  get isCongested(): boolean {
    return this.unsentBytes > CONGESTED_BYTES;
  }

  /** It makes space in `buffer` for so many bytes, a frame or less, and returns where they begin. */
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

  /** The reserved space lies in it, until the next `reserve`. */
  get buffer(): Buffer {
    return this.#slab;
  }

  /** These bytes must not change any more. */
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

  /** It is for the end of a message: half of one is of no use to the peer. */
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
    // The kernel has taken all of it, as it nearly always does: memory that is in the cache serves again.
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
