import { LineSplitter, SseLimitError } from "./line-splitter.ts";
import { isComment, readField } from "./read-field.ts";

export interface SseEvent {
  /** Value of the `event` field, or null if absent. */
  readonly event: string | null;
  /** Data lines joined by `\n`. */
  readonly data: string;
}

/**
 * Decodes server-sent events from bytes that arrive split anywhere. Ignores the fields `id` and `retry`, and events
 * without data. An event that consists of comments only (a server's keep-alive) is returned with empty data; a field
 * `error` becomes an event of that name. Memory is bounded by `maxEventBytes`, time is linear in the bytes. Unlike a
 * browser, it returns a last event without a blank line, because upstreams omit it.
 *
 * There are two readers of event streams. This one is for answers that are rewritten, and returns field values.
 * `EventSlicer` is for answers that pass through, and returns every byte of an event; `parseEvent` parses the events
 * that matter. A single reader would keep bytes that are never sent, or lose bytes that must be.
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

  /** The next byte begins an event other than the first. */
  get isBetweenEvents(): boolean {
    if (this.#name !== null || this.#data.length > 0 || this.#hasComment) return false;
    return this.#lines.isBetweenLines;
  }

  /**
   * Returns the events that these bytes complete.
   * @throws SseLimitError if a line or an event is too large. Events before it in the same bytes are returned first,
   * and the next call throws.
   */
  push(chunk: Uint8Array): SseEvent[] {
    return this.#take(() => {
      this.#lines.push(chunk);
    });
  }

  /**
   * Returns the last event if no blank line ended it.
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

  /** llama.cpp reports an error in a field `error`; the rest of the event is ignored. */
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
