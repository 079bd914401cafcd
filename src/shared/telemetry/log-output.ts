import { write, writeSync } from "node:fs";

export interface LogOutputOptions {
  /** File descriptor open for writing; 2 is stderr. */
  readonly fileDescriptor: number;
  /** Characters that may wait; more are dropped and counted. */
  readonly maxWaiting?: number;
  /** Lines are written together after this time or this many characters. Omitted: each at once. */
  readonly gather?: { readonly forMs: number; readonly characters: number };
}

const MAX_WAITING = 8 * 1024 * 1024;
/** Pause for a pipe whose reader is slow. */
const BUSY_PAUSE_MS = 20;
const WARN_LEVEL = 40;

/**
 * Destination of log lines. Never throws, never blocks the event loop and never keeps the process alive: on a
 * full disk lines are dropped, which the next successful line reports, and requests continue. (Pino's own
 * destination ends the process on such an error, and then waits for the disk for ever.)
 */
export class LogOutput {
  readonly #fileDescriptor: number;
  readonly #maxWaiting: number;
  readonly #gather: LogOutputOptions["gather"];
  #gathering: NodeJS.Timeout | null = null;
  #waiting = "";
  #inFlight: Buffer | null = null;
  #lostLines = 0;

  constructor({ fileDescriptor, maxWaiting = MAX_WAITING, gather }: LogOutputOptions) {
    this.#fileDescriptor = fileDescriptor;
    this.#gather = gather;
    this.#maxWaiting = maxWaiting;
    process.on("exit", () => this.flushSync());
  }

  /** @param text Complete lines. */
  write(text: string): void {
    if (this.#waiting.length + text.length > this.#maxWaiting) {
      this.#lostLines += countLines(text);
      return;
    }
    this.#waiting += text;
    if (this.#inFlight !== null) return;
    if (this.#gather === undefined || this.#waiting.length >= this.#gather.characters) this.#writeNext();
    else this.#gathering ??= setTimeout(() => this.#writeNext(), this.#gather.forMs).unref();
  }

  /** Writes all waiting lines once, at the end of the process. A line that was being written may be repeated. */
  flushSync(): void {
    const rest = Buffer.concat([this.#inFlight ?? Buffer.alloc(0), Buffer.from(this.#waiting)]);
    this.#waiting = "";
    try {
      for (let offset = 0; offset < rest.byteLength;) {
        offset += writeSync(this.#fileDescriptor, rest, offset);
      }
    } catch {
      this.#lostLines += countLines(rest.toString("utf8"));
    }
  }

  #writeNext(): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering);
    this.#gathering = null;
    if (this.#waiting === "" || this.#inFlight !== null) return;
    this.#inFlight = Buffer.from(this.#waiting);
    this.#waiting = "";
    this.#writeInFlight();
  }

  #writeInFlight(): void {
    const bytes = this.#inFlight;
    if (bytes === null) return;
    write(this.#fileDescriptor, bytes, 0, bytes.byteLength, null, (error, written) => {
      if (error?.code === "EAGAIN") {
        setTimeout(() => this.#writeInFlight(), BUSY_PAUSE_MS);
        return;
      }
      const rest = error === null ? bytes.subarray(written) : null;
      if (rest !== null && rest.byteLength > 0) {
        this.#inFlight = rest;
        this.#writeInFlight();
        return;
      }
      this.#inFlight = null;
      if (error === null) this.#reportLost();
      // Don't retry at once: a disk that is full stays full for a moment, and the next line retries anyway.
      else this.#lostLines += countLines(bytes.toString("utf8"));
      if (error === null) this.#writeNext();
    });
  }

  #reportLost(): void {
    if (this.#lostLines === 0) return;
    const line = {
      level: WARN_LEVEL,
      time: new Date().toISOString(),
      component: "log",
      pid: process.pid,
      lines: this.#lostLines,
      msg: "lines of this log were lost: they could not be written",
    };
    this.#lostLines = 0;
    this.#waiting = `${JSON.stringify(line)}\n${this.#waiting}`;
  }
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
