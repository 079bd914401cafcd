import { asBuffer } from "../../../shared/text/as-buffer.ts";

/** A line or an event of a stream exceeds the buffer limit. */
export class SseLimitError extends Error {
  override readonly name = "SseLimitError";
  readonly maxEventBytes: number;

  constructor(maxEventBytes: number) {
    super(`A line or an event of the stream is larger than ${maxEventBytes} bytes.`);
    this.maxEventBytes = maxEventBytes;
  }
}

/** Receives each line without its line end; the bytes are only valid during the call. */
export type LineConsumer = (bytes: Buffer, start: number, end: number) => void;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const FIRST_PENDING_BYTES = 512;

/**
 * Splits a byte stream that arrives in arbitrary pieces into lines that end with LF, CRLF or CR, and drops a BOM at
 * the start. Works on bytes: line ends are ASCII, so no character is ever split. Emits a line as soon as the first
 * byte of its line end has arrived. Buffers at most twice `maxLineBytes` and copies each byte a bounded number of
 * times.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export class LineSplitter {
  readonly #maxLineBytes: number;
  readonly #consume: LineConsumer;
  #pending: Buffer = Buffer.alloc(0);
  #pendingBytes = 0;
  /** The last byte was a CR that ended a line; a following LF belongs to it. */
  #afterCarriageReturn = false;
  #isFirstLine = true;

  constructor(options: { maxLineBytes: number; consume: LineConsumer }) {
    this.#maxLineBytes = options.maxLineBytes;
    this.#consume = options.consume;
  }

  /** The next byte begins a line other than the first. */
  get isBetweenLines(): boolean {
    return this.#pendingBytes === 0 && !this.#afterCarriageReturn && !this.#isFirstLine;
  }

  /** @throws SseLimitError if a line is too long; the lines before it have been emitted. */
  push(chunk: Uint8Array): void {
    const bytes = asBuffer(chunk);
    let start = 0;
    if (this.#afterCarriageReturn && bytes.length > 0) {
      this.#afterCarriageReturn = false;
      if (bytes[0] === LINE_FEED) start = 1;
    }
    // Search for each kind of line end again only after passing it, so that the rest is not scanned once per line.
    let lineFeed = indexOrEnd(bytes, LINE_FEED, start);
    let carriageReturn = indexOrEnd(bytes, CARRIAGE_RETURN, start);
    for (;;) {
      if (lineFeed < start) lineFeed = indexOrEnd(bytes, LINE_FEED, start);
      if (carriageReturn < start) carriageReturn = indexOrEnd(bytes, CARRIAGE_RETURN, start);
      const end = Math.min(lineFeed, carriageReturn);
      if (end === bytes.length) break;
      this.#endLine(bytes, start, end);
      start = end + 1;
      if (end === carriageReturn) {
        if (start === bytes.length) this.#afterCarriageReturn = true;
        else if (bytes[start] === LINE_FEED) start += 1;
      }
    }
    if (start < bytes.length) this.#buffer(bytes, start);
  }

  /** Emits an unterminated last line. */
  end(): void {
    if (this.#pendingBytes > 0) this.#endLine(this.#pending, 0, 0);
  }

  #endLine(bytes: Buffer, start: number, end: number): void {
    if (this.#pendingBytes === 0) {
      if (end - start > this.#maxLineBytes) throw new SseLimitError(this.#maxLineBytes);
      this.#handOver(bytes, start, end);
      return;
    }
    if (bytes !== this.#pending) this.#buffer(bytes, start, end);
    const length = this.#pendingBytes;
    this.#pendingBytes = 0;
    this.#handOver(this.#pending, 0, length);
  }

  #handOver(bytes: Buffer, start: number, end: number): void {
    let from = start;
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf && end - from >= 3) {
        from += 3;
      }
    }
    this.#consume(bytes, from, end);
  }

  #buffer(bytes: Buffer, start: number, end: number = bytes.length): void {
    const needed = this.#pendingBytes + end - start;
    if (needed > this.#maxLineBytes) throw new SseLimitError(this.#maxLineBytes);
    if (needed > this.#pending.length) {
      // Doubling keeps the copying linear for small pieces.
      const grown = Buffer.allocUnsafe(Math.max(FIRST_PENDING_BYTES, needed, 2 * this.#pending.length));
      this.#pending.copy(grown, 0, 0, this.#pendingBytes);
      this.#pending = grown;
    }
    bytes.copy(this.#pending, this.#pendingBytes, start, end);
    this.#pendingBytes = needed;
  }
}

function indexOrEnd(bytes: Buffer, byte: number, start: number): number {
  const index = bytes.indexOf(byte, start);
  return index === -1 ? bytes.length : index;
}
