import { LineSplitter, SseLimitError } from "./line-splitter.ts";
import { isComment, readField } from "./read-field.ts";

/** One server-sent event. */
export interface SseEvent {
  /** Value of its `event` field, or null when it has none. */
  readonly event: string | null;
  /** Its data lines, joined by `\n`. */
  readonly data: string;
}

/**
 * Reads server-sent events from bytes that arrive split anywhere. The fields `id` and `retry` are passed over; an event
 * without data is none, but one of comments alone, by which a server tells that it is still there, has empty data; and a
 * field `error` is an event of that name. Memory is bounded by `maxEventBytes`, time is linear in the bytes.
 * Unlike a browser, it counts a last event that no blank line ends: upstreams leave it out.
 *
 * It is one of two readers of event streams. This one is for answers that are written anew, and gives the values of fields;
 * `EventSlicer` is for answers that pass through, and gives every byte of an event as it came, of which `parseEvent` reads
 * those events that count. One reader for both would keep bytes that nobody sends, or lose those that somebody must.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class SseDecoder {
  readonly #maxEventBytes: number;
  readonly #lines: LineSplitter;
  #events: SseEvent[] = [];
  #name: string | null = null;
  #data: string[] = [];
  #eventBytes = 0;
  #limitError: SseLimitError | null = null;
  #hasComment = false;

  constructor(options: { maxEventBytes: number }) {
    this.#maxEventBytes = options.maxEventBytes;
    this.#lines = new LineSplitter({
      maxLineBytes: options.maxEventBytes,
      consume: (bytes, start, end) => {
        this.#readLine(bytes, start, end);
      },
    });
  }

  /** The next byte begins an event, and not the first one. */
  get isBetweenEvents(): boolean {
    if (this.#name !== null || this.#data.length > 0 || this.#hasComment) return false;
    return this.#lines.isBetweenLines;
  }

  /**
   * The events that these bytes complete.
   * @throws SseLimitError when a line or an event exceeds the bound. Events before it in the same bytes are returned
   * first, and the next call throws.
   */
  push(chunk: Uint8Array): SseEvent[] {
    return this.#take(() => {
      this.#lines.push(chunk);
    });
  }

  /**
   * The last event, when no blank line ended it.
   * @throws SseLimitError as `push`.
   */
  end(): SseEvent[] {
    return this.#take(() => {
      this.#lines.end();
      this.#dispatch();
    });
  }

  #take(read: () => void): SseEvent[] {
    if (this.#limitError !== null) throw this.#limitError;
    try {
      read();
    } catch (error) {
      if (!(error instanceof SseLimitError)) throw error;
      this.#limitError = error;
      if (this.#events.length === 0) throw error;
    }
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #readLine(bytes: Buffer, start: number, end: number): void {
    if (start === end) {
      this.#dispatch();
      return;
    }
    if (isComment(bytes, start)) {
      this.#hasComment = true;
      return;
    }
    this.#eventBytes += end - start;
    if (this.#eventBytes > this.#maxEventBytes) throw new SseLimitError(this.#maxEventBytes);
    const { name, valueStart } = readField(bytes, start, end);
    if (name === "data") this.#data.push(bytes.toString("utf8", valueStart, end));
    else if (name === "event") this.#name = bytes.toString("utf8", valueStart, end);
    else if (name === "error") this.#setError(bytes.toString("utf8", valueStart, end));
  }

  /** llama.cpp tells an error in a field of its own; nothing else of its event counts. */
  #setError(text: string): void {
    this.#name = "error";
    this.#data = [text];
  }

  #dispatch(): void {
    if (this.#data.length > 0) {
      this.#events.push({ event: this.#name === "" ? null : this.#name, data: this.#data.join("\n") });
      this.#data = [];
    } else if (this.#hasComment) {
      this.#events.push({ event: null, data: "" });
    }
    this.#hasComment = false;
    this.#name = null;
    this.#eventBytes = 0;
  }
}
