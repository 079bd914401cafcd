/**
 * The request log: one JSON line per request, appended to a file, for reconciliation and export. It is a second record
 * of charges, written by the process that counted them, to be compared with Redis.
 *
 * Never blocks or fails the data path: lines wait in a bounded buffer, and lines that do not fit because the disk is
 * full or too slow are counted and reported. Files are named after the UTC day, the writer and a part
 * (`2026-11-21.worker-0.0.jsonl`); a new file begins each day and after 64 MiB. retention.ts deletes old files.
 */
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { pause } from "../../shared/event-loop/wait.ts";

/** Returns the directory of a host's request log. */
export function requestLogFolder({ dataDir }: { readonly dataDir: string }): string {
  return join(dataDir, "requests");
}

export interface RequestLogOptions {
  /** Created if missing. */
  readonly dir: string;
  /** Name of this process, "worker-0"; unique among running processes. */
  readonly writer: string;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"error">;
  readonly maxFileBytes?: number;
  /** Total length of the lines in UTF-16 units: counting bytes would look at each character once more. */
  readonly maxBufferedLength?: number;
}

const MAX_FILE_BYTES = 64 * 1_048_576;
/** About twenty thousand lines. */
const MAX_BUFFERED_LENGTH = 8 * 1_048_576;
/** Lines of this period are written together; a crash of the process loses at most these. */
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
  #bufferedLength = 0;
  #droppedLines = 0;
  #file: OpenFile | null = null;
  #writing: Promise<void> | null = null;
  #isClosing = false;

  constructor(options: RequestLogOptions) {
    this.#options = { maxFileBytes: MAX_FILE_BYTES, maxBufferedLength: MAX_BUFFERED_LENGTH, ...options };
  }

  /** Buffers a line; returns at once and never throws. @param line JSON without a line break. */
  write(line: string): void {
    const length = line.length + 1;
    if (this.#bufferedLength + length > this.#options.maxBufferedLength) {
      this.#droppedLines += 1;
      return;
    }
    this.#lines.push(line);
    this.#bufferedLength += length;
    this.#writing ??= this.#writeOut();
  }

  /** Writes buffered lines, retrying once, and closes the file. Never rejects. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#writing;
    if (this.#lines.length > 0) await this.#writeOut();
    await this.#closeFile();
  }

  async #writeOut(): Promise<void> {
    while (this.#lines.length > 0) {
      if (!this.#isClosing) await pause(GATHER_MS, { ref: false });
      const lines = this.#lines;
      this.#lines = [];
      try {
        await this.#append(Buffer.from(`${lines.join("\n")}\n`));
        this.#bufferedLength = this.#lines.reduce((sum, line) => sum + line.length + 1, 0);
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

  async #append(bytes: Buffer): Promise<void> {
    const day = new Date(this.#options.clock.nowMs()).toISOString().slice(0, 10);
    if (this.#file !== null && (this.#file.day !== day || this.#file.bytes >= this.#options.maxFileBytes)) {
      await this.#closeFile();
    }
    const file = (this.#file ??= await this.#openFile(day));
    try {
      await file.handle.appendFile(bytes);
    } catch (error) {
      await this.#truncate(file);
      throw error;
    }
    file.bytes += bytes.length;
  }

  /** Removes the partial data of a failed write: the whole write is repeated, and its lines would be duplicated. */
  async #truncate({ handle, bytes }: OpenFile): Promise<void> {
    try {
      await handle.truncate(bytes);
    } catch (error) {
      this.#options.logger.error({ err: error }, "request log line possibly written twice");
    }
  }

  /**
   * Opens the newest part of the day if it is below the limit, otherwise the next. Never an earlier part, which could
   * be deleted at any time.
   */
  async #openFile(day: string): Promise<OpenFile> {
    const { dir, writer, maxFileBytes } = this.#options;
    await mkdir(dir, { recursive: true, mode: 0o700 });
    for (let part = await findNewestPart(dir, `${day}.${writer}.`); ; part += 1) {
      const handle = await open(join(dir, `${day}.${writer}.${part}.jsonl`), "a", FILE_MODE);
      let isReturned = false;
      try {
        const { size } = await handle.stat();
        if (size < maxFileBytes) {
          // The file may end in a partial line after a crash or on a full disk. An empty line is harmless, a joined
          // one is not.
          if (size > 0) await handle.appendFile("\n");
          isReturned = true;
          return { handle, day, bytes: size === 0 ? 0 : size + 1 };
        }
      } finally {
        if (!isReturned) await handle.close();
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

/** Returns 0 if there is none. */
async function findNewestPart(dir: string, prefix: string): Promise<number> {
  const names = (await readdir(dir)).filter((name) => name.startsWith(prefix));
  const parts = names.flatMap((name) => /^(\d+)\.jsonl$/.exec(name.slice(prefix.length))?.[1] ?? []);
  return Math.max(0, ...parts.map(Number));
}
