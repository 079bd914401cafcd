/**
 * What this worker has sent upstream and Redis has no record of yet: a line for each request, written before it goes, so
 * that the successor of a worker that dies finds it. After two seconds at most the line is not needed any more: the
 * request has ended, or its first progress has made its record.
 *
 * A line is written, not synced: it outlives the process, and a loss of power takes what was begun in the last seconds
 * with it. Nothing has to be taken back either, since a line counts only while Redis has the request entered as its
 * admission left it (`onlyIfEntered`): one that has ended since, or that two successors find, counts nothing twice.
 *
 * Lines of requests that came together leave in one write: once every promise of theirs has come so far, and before any
 * of them is answered. It waits for the page cache alone (some ten microseconds), which is why it keeps the thread.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../shared/time/clock.ts";
import { createDeferred } from "../../shared/event-loop/deferred.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { formatSpoolLine } from "./entry.ts";
import type { OpenedRequest } from "./opened-request.ts";
import { removeSpoolFile } from "./segment.ts";

export interface OpenJournalOptions {
  /** The path of the next file; called once for each. */
  readonly nextPath: () => string;
  readonly clock: Clock;
  readonly logger: Logger<"warn">;
}

/** A file of the journal, and how many of its requests Redis may not know. */
export interface JournalFile {
  readonly path: string;
  bytes: number;
  live: number;
}

/** Lines that are written together, and what comes of it. */
interface Batch {
  lines: string;
  requests: number;
  readonly written: Promise<JournalFile | null>;
  readonly resolve: (file: JournalFile | null) => void;
}

/** What a successor has to read is no more than some files of this size. */
const MAX_FILE_BYTES = 1024 * 1024;
/** Of files whose lines are needed; beyond it Redis has not answered for long. */
const MAX_BYTES = 64 * 1024 * 1024;
/** How long a disk that failed is not asked again: every request that it delays would have to place its hold then. */
const RETRY_MS = 5_000;

export class OpenJournal {
  readonly #options: OpenJournalOptions;
  readonly #files = new Set<JournalFile>();
  #current: { readonly file: JournalFile; readonly descriptor: number } | null = null;
  #batch: Batch | null = null;
  #failedAtMs = -Infinity;

  constructor(options: OpenJournalOptions) {
    this.#options = options;
  }

  /**
   * Resolves when a request is written down, null when the disk does not take it: it needs a hold then. Never rejects.
   * @returns What `leave` is given once the line is not needed any more.
   */
  append(opened: OpenedRequest): Promise<JournalFile | null> {
    const batch = (this.#batch ??= this.#openBatch());
    batch.lines += formatSpoolLine({ kind: "begun", atMs: this.#options.clock.nowMs(), opened });
    batch.requests += 1;
    return batch.written;
  }

  #openBatch(): Batch {
    const { promise, resolve } = createDeferred<JournalFile | null>();
    process.nextTick(() => this.#endBatch());
    return { lines: "", requests: 0, written: promise, resolve };
  }

  #endBatch(): void {
    const batch = this.#batch;
    this.#batch = null;
    batch?.resolve(this.#write(batch));
  }

  #write({ lines, requests }: Batch): JournalFile | null {
    const { clock, logger } = this.#options;
    if (clock.monotonicMs() - this.#failedAtMs < RETRY_MS || this.#bytes > MAX_BYTES) return null;
    const bytes = Buffer.byteLength(lines);
    try {
      const { file, descriptor } = (this.#current ??= this.#openNext());
      // Less is written when a disk becomes full.
      if (writeSync(descriptor, lines) !== bytes) throw new Error("the disk is full");
      file.bytes += bytes;
      file.live += requests;
      if (file.bytes >= MAX_FILE_BYTES) this.#seal();
      return file;
    } catch (error) {
      this.#failedAtMs = clock.monotonicMs();
      this.#takeBack();
      this.#seal();
      logger.warn({ err: error }, "spool disk not writable, requests wait for their record in redis");
      return null;
    }
  }

  /** A request of this file is on record elsewhere, or has ended. */
  leave(file: JournalFile): void {
    file.live -= 1;
    this.#removeUnneeded(file);
  }

  /** Removes what nobody needs. What is still needed stays for a successor. */
  close(): void {
    this.#endBatch();
    this.#seal();
  }

  get #bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#files) sum += bytes;
    return sum;
  }

  #openNext(): { file: JournalFile; descriptor: number } {
    const path = this.#options.nextPath();
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = { path, bytes: 0, live: 0 };
    const descriptor = openSync(path, "ax", 0o600);
    this.#files.add(file);
    return { file, descriptor };
  }

  /** Whole lines of a batch that is not taken would make a successor charge what may never have been sent. */
  #takeBack(): void {
    if (this.#current === null) return;
    const { file, descriptor } = this.#current;
    try {
      ftruncateSync(descriptor, file.bytes);
    } catch (error) {
      this.#options.logger.warn({ file: file.path, err: error }, "spool file not truncated");
    }
  }

  /** The next line begins a new file. */
  #seal(): void {
    const current = this.#current;
    if (current === null) return;
    this.#current = null;
    try {
      closeSync(current.descriptor);
    } catch {
      // Its lines are read again by their path alone.
    }
    this.#removeUnneeded(current.file);
  }

  #removeUnneeded(file: JournalFile): void {
    if (file.live > 0 || file === this.#current?.file) return;
    this.#files.delete(file);
    removeSpoolFile(file.path).catch((error: unknown) => {
      this.#options.logger.warn({ file: file.path, err: error }, "spool file not removed");
    });
  }
}
