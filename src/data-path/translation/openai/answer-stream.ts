import type { GatewayError } from "../../../shared/contract/errors.ts";
import type { AnswerOutput } from "../client-protocol.ts";
import { encodeCharacters } from "../sse/event-block.ts";
import { type EventReader, feedEvents } from "../sse/event-feed.ts";
import { LineSplitter, SseLimitError } from "../sse/line-splitter.ts";
import { isComment, readField } from "../sse/read-field.ts";
import { createBrokenOff } from "../upstream/end-reasons.ts";
import { asGatewayError, DONE, isBlank, isDone, MAX_EVENT_BYTES } from "../upstream/read-stream.ts";
import { type ChunkRewriter, isChunk } from "./chunk-rewriter.ts";
import { formatStreamError } from "./error-body.ts";

/**
 * Forwards an upstream's event stream event by event, each as soon as it is complete: the output depends only on the
 * bytes, not on how they were split. Lines end with LF, comments are forwarded at once (they keep connections alive),
 * and several data lines stay several. Nothing is forwarded after `[DONE]` or an error.
 */
export class AnswerStream {
  readonly #rewriter: ChunkRewriter;
  /** Included in an error chunk. */
  readonly #requestId: string;
  readonly #lines: LineSplitter;
  readonly #reader: EventReader;
  /** Output with one character per byte. */
  #output = "";
  /** Lines of the open event other than data. */
  #head = "";
  #name = "";
  #data: string | null = null;
  #eventBytes = 0;
  #isAfterComment = false;
  #isFinal = false;
  #failed: GatewayError | null = null;

  constructor(rewriter: ChunkRewriter, requestId: string) {
    this.#rewriter = rewriter;
    this.#requestId = requestId;
    this.#lines = new LineSplitter({
      maxLineBytes: MAX_EVENT_BYTES,
      consume: (bytes, start, end) => {
        if (!this.#isOver()) this.#readLine(bytes, start, end);
      },
    });
    this.#reader = this.#createReader();
  }

  /** After the end of the stream, `final` or `failed` stays set and there are no more bytes. */
  push(chunk: Uint8Array): AnswerOutput {
    return this.#advance(() => {
      feedEvents(chunk, this.#reader);
    });
  }

  end(): AnswerOutput {
    return this.#advance(() => {
      this.#lines.end();
      if (!this.#isOver()) this.#endStream();
    });
  }

  fail(error: GatewayError): AnswerOutput {
    return this.#advance(() => {
      throw error;
    });
  }

  #isOver(): boolean {
    return this.#isFinal || this.#failed !== null;
  }

  #advance(read: () => void): AnswerOutput {
    if (!this.#isOver()) this.#guard(read);
    return this.#takeOutput();
  }

  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      // The line that is too long follows the end of the answer.
      if (this.#isFinal) return;
      this.#failed = asGatewayError(error);
      this.#write(formatStreamError(this.#failed, this.#requestId));
    }
  }

  #takeOutput(): AnswerOutput {
    const bytes = Buffer.from(this.#output, "latin1");
    this.#output = "";
    return { bytes, final: this.#isFinal, failed: this.#failed };
  }

  #write(text: string): void {
    this.#output += encodeCharacters(text);
  }

  #createReader(): EventReader {
    return {
      isOver: () => this.#isOver(),
      mayBeSimilar: () => this.#rewriter.hasLearned && this.#isBetweenEvents(),
      readSimilar: (block) => {
        this.#output += this.#rewriter.rewriteSimilar(block);
      },
      read: (bytes) => this.#lines.push(bytes),
    };
  }

  #isBetweenEvents(): boolean {
    if (this.#data !== null || this.#head !== "" || this.#isAfterComment) return false;
    return this.#lines.isBetweenLines;
  }

  #readLine(bytes: Buffer, start: number, end: number): void {
    if (start === end) {
      this.#dispatch();
      return;
    }
    if (isComment(bytes, start)) {
      this.#write(`${bytes.toString("utf8", start, end)}\n`);
      this.#isAfterComment = true;
      return;
    }
    this.#eventBytes += end - start;
    if (this.#eventBytes > MAX_EVENT_BYTES) throw new SseLimitError(MAX_EVENT_BYTES);
    const { name, valueStart } = readField(bytes, start, end);
    if (name === "data") {
      const data = bytes.toString("utf8", valueStart, end);
      this.#data = this.#data === null ? data : `${this.#data}\n${data}`;
      return;
    }
    if (name === "error") {
      // llama.cpp reports an error in a field `error`; the rest of the event is ignored.
      this.#name = name;
      this.#data = bytes.toString("utf8", valueStart, end);
      return;
    }
    if (name === "event") this.#name = bytes.toString("utf8", valueStart, end);
    this.#head += `${bytes.toString("utf8", start, end)}\n`;
  }

  #dispatch(): void {
    const data = this.#data;
    const head = this.#head;
    const isError = this.#name === "error";
    const isAfterComment = this.#isAfterComment;
    this.#data = null;
    this.#head = "";
    this.#name = "";
    this.#eventBytes = 0;
    this.#isAfterComment = false;
    if (data === null) {
      if (head !== "" || isAfterComment) this.#write(`${head}\n`);
    } else if (isDone(data)) {
      this.#finish();
    } else if (isError || !isBlank(data)) {
      const chunk = this.#rewriter.rewrite(data, isError);
      if (chunk !== null) this.#write(`${head}data: ${formatLines(chunk)}\n\n`);
    }
  }

  /** @throws GatewayError if a choice was aborted. */
  #finish(): void {
    this.#rewriter.requireEnd();
    this.#isFinal = true;
    const held = this.#rewriter.takeHeld();
    if (held !== null) this.#write(`data: ${formatLines(held)}\n\n`);
    this.#write(`data: ${DONE}\n\n`);
  }

  /** Handles an upstream that closed without `[DONE]`: some servers never send it, others aborted the answer. */
  #endStream(): void {
    if (this.#data !== null && (isDone(this.#data) || isChunk(this.#data))) this.#dispatch();
    if (this.#isFinal) return;
    if (!this.#rewriter.isComplete) {
      throw createBrokenOff();
    }
    this.#finish();
  }
}

/** Splits JSON that came in several data lines into several again. */
function formatLines(data: string): string {
  return data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
}
