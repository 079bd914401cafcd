/**
 * The log of requests: one JSON line for each, appended to a file, for reconciliation and export. It is a second record
 * of what was charged, written by whoever counted it, so that it can be held against what stands in Redis.
 *
 * It never blocks the path and never fails it: lines wait in a bounded buffer, and what does not fit any more because
 * the disk is full or too slow is counted and reported. Files are named after the UTC day, the writer and a part
 * (`2026-11-21.worker-0.0.jsonl`); a new one begins with each day and after 64 MiB. Old files are deleted in
 * retention.ts.
 */
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { pause } from "../../shared/event-loop/wait.ts";

/** Where a host's log of requests lies. */
export function requestLogFolder({ dataDir }: { readonly dataDir: string }): string {
  return join(dataDir, "requests");
}

export interface RequestLogOptions {
  /** Made when it is not there. */
  readonly dir: string;
  /** Of this process, "worker-0": no two that run at the same time may have the same. */
  readonly writer: string;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"error">;
  readonly maxFileBytes?: number;
  readonly maxBufferedBytes?: number;
}

const MAX_FILE_BYTES = 64 * 1_048_576;
/** Some twenty thousand lines. */
const MAX_BUFFERED_BYTES = 8 * 1_048_576;
/** Lines of so long go out in one write; a crash of the process loses no more than these. */
const GATHER_MS = 50;
const RETRY_MS = 1_000;
const FILE_MODE = 0o640;

interface OpenFile {
  readonly handle: FileHandle;
  readonly day: string;
  bytes: number;
}

export class RequestLog {
  readonly #options: Required<RequestLogOptions>;
  #lines: string[] = [];
  #bufferedBytes = 0;
  #droppedLines = 0;
  #file: OpenFile | null = null;
  #writing: Promise<void> | null = null;
  #isClosing = false;

  constructor(options: RequestLogOptions) {
    this.#options = { maxFileBytes: MAX_FILE_BYTES, maxBufferedBytes: MAX_BUFFERED_BYTES, ...options };
  }

  /** @param line JSON without a line break. Returns at once; never throws. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line) + 1;
    if (this.#bufferedBytes + bytes > this.#options.maxBufferedBytes) {
      this.#droppedLines += 1;
      return;
    }
    this.#lines.push(line);
    this.#bufferedBytes += bytes;
    this.#writing ??= this.#writeOut();
  }

  /** Writes what waits, once more if that fails, and closes the file. Never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#writing;
    if (this.#lines.length > 0) await this.#writeOut();
    await this.#closeFile();
  }

  async #writeOut(): Promise<void> {
    if (!this.#isClosing) await pause(GATHER_MS, { ref: false });
    while (this.#lines.length > 0) {
      const lines = this.#lines;
      this.#lines = [];
      try {
        await this.#append(`${lines.join("\n")}\n`);
        this.#bufferedBytes = this.#lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
        this.#reportDropped();
      } catch (error) {
        this.#lines = [...lines, ...this.#lines];
        this.#options.logger.error({ err: error }, "request log not writable, retrying");
        await this.#closeFile();
        if (this.#isClosing) break;
        await pause(RETRY_MS, { ref: false });
      }
    }
    this.#writing = null;
  }

  async #append(text: string): Promise<void> {
    const day = new Date(this.#options.clock.nowMs()).toISOString().slice(0, 10);
    if (this.#file !== null && (this.#file.day !== day || this.#file.bytes >= this.#options.maxFileBytes)) {
      await this.#closeFile();
    }
    const file = (this.#file ??= await this.#openFile(day));
    try {
      await file.handle.appendFile(text);
    } catch (error) {
      await this.#cutBack(file);
      throw error;
    }
    file.bytes += Buffer.byteLength(text);
  }

  /** What a full disk has taken of a write is taken off again: the whole write is repeated, and its lines would be twice. */
  async #cutBack({ handle, bytes }: OpenFile): Promise<void> {
    try {
      await handle.truncate(bytes);
    } catch (error) {
      this.#options.logger.error({ err: error }, "request log line possibly written twice");
    }
  }

  /** The newest part of the day, where it has room, else the next. Never one before it, which could be deleted at any time. */
  async #openFile(day: string): Promise<OpenFile> {
    const { dir, writer, maxFileBytes } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    for (let part = await findNewestPart(dir, `${day}.${writer}.`); ; part += 1) {
      const handle = await open(join(dir, `${day}.${writer}.${part}.jsonl`), "a", FILE_MODE);
      let isKept = false;
      try {
        const { size } = await handle.stat();
        if (size < maxFileBytes) {
          // What a crash or a full disk has left may have no end: an empty line hurts no reader, a joined one does.
          if (size > 0) await handle.appendFile("\n");
          isKept = true;
          return { handle, day, bytes: size === 0 ? 0 : size + 1 };
        }
      } finally {
        if (!isKept) await handle.close();
      }
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    try {
      await file?.handle.close();
    } catch (error) {
      this.#options.logger.error({ err: error }, "request log file not closed");
    }
  }

  #reportDropped(): void {
    if (this.#droppedLines === 0) return;
    this.#options.logger.error({ lines: this.#droppedLines }, "request log lines lost");
    this.#droppedLines = 0;
  }
}

/** 0 where there is none. */
async function findNewestPart(dir: string, prefix: string): Promise<number> {
  const names = (await readdir(dir)).filter((name) => name.startsWith(prefix));
  const parts = names.flatMap((name) => /^(\d+)\.jsonl$/.exec(name.slice(prefix.length))?.[1] ?? []);
  return Math.max(0, ...parts.map(Number));
}
