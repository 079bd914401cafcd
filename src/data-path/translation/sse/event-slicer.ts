import { SseLimitError } from "./line-splitter.ts";

/** Receives one event with its lines and the blank line that ends it; the bytes are only valid during the call. */
export type EventConsumer = (raw: Buffer) => void;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIRST_PENDING_BYTES = 1_024;

/**
 * Splits a byte stream that arrives in arbitrary pieces into events without changing a byte, for streams that pass
 * through. The events depend only on the bytes, not on how they were split: a CR at the end of the input waits for the
 * next byte, which may be its LF. Examines and copies each byte a bounded number of times and buffers at most
 * `maxEventBytes`.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class EventSlicer {
  readonly #maxEventBytes: number;
  readonly #consume: EventConsumer;
  #pending: Buffer = Buffer.alloc(0);
  #pendingBytes = 0;
  /** Offsets in the pending bytes: start of the unfinished line, and where to search for its end. */
  #lineStart = 0;
  #searchFrom = 0;

  constructor(options: { maxEventBytes: number; consume: EventConsumer }) {
    this.#maxEventBytes = options.maxEventBytes;
    this.#consume = options.consume;
  }

  /** @throws SseLimitError if an event is too large; the events before it have been emitted. */
  push(chunk: Uint8Array): void {
    this.#append(chunk);
    const bytes = this.#pending.subarray(0, this.#pendingBytes);
    let eventStart = 0;
    for (;;) {
      const end = findLineEnd(bytes, this.#searchFrom);
      if (end === null) break;
      const isBlank = end.start === this.#lineStart;
      this.#lineStart = end.after;
      this.#searchFrom = end.after;
      if (!isBlank) continue;
      this.#consume(bytes.subarray(eventStart, end.after));
      eventStart = end.after;
    }
    this.#dropBefore(eventStart);
  }

  /** Emits a last event that no blank line ended. */
  end(): void {
    const rest = this.#pending.subarray(0, this.#pendingBytes);
    this.#pendingBytes = 0;
    if (rest.length > 0) this.#consume(rest);
  }

  #append(chunk: Uint8Array): void {
    const needed = this.#pendingBytes + chunk.byteLength;
    if (needed > this.#pending.length) {
      // Doubling keeps the copying linear for small pieces.
      const grown = Buffer.allocUnsafe(Math.max(FIRST_PENDING_BYTES, needed, 2 * this.#pendingBytes));
      this.#pending.copy(grown, 0, 0, this.#pendingBytes);
      this.#pending = grown;
    }
    this.#pending.set(chunk, this.#pendingBytes);
    this.#pendingBytes = needed;
  }

  /** Drops the bytes before `from`. */
  #dropBefore(from: number): void {
    if (from > 0) {
      this.#pending.copyWithin(0, from, this.#pendingBytes);
      this.#pendingBytes -= from;
      this.#lineStart -= from;
      this.#searchFrom -= from;
    }
    // All pending bytes belong to one line, except for a CR at the end.
    this.#searchFrom = Math.max(this.#searchFrom, this.#pendingBytes - 1);
    if (this.#pendingBytes > this.#maxEventBytes) throw new SseLimitError(this.#maxEventBytes);
  }
}

/**
 * Finds the next line end: its start and the offset after it. Returns null if there is none, or if an LF could still
 * extend it.
 */
function findLineEnd(bytes: Buffer, from: number): { start: number; after: number } | null {
  const lineFeed = bytes.indexOf(LINE_FEED, from);
  const upTo = lineFeed === -1 ? bytes.length : lineFeed;
  const found = bytes.subarray(from, upTo).indexOf(CARRIAGE_RETURN);
  if (found === -1) return lineFeed === -1 ? null : { start: lineFeed, after: lineFeed + 1 };
  const start = from + found;
  if (start + 1 === bytes.length) return null;
  return { start, after: bytes[start + 1] === LINE_FEED ? start + 2 : start + 1 };
}
