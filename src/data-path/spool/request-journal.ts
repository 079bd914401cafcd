/**
 * Journal of requests that this worker sent upstream and that have no record in Redis. A line is written before a
 * request is sent, so that the successor of a crashed worker finds it. After two seconds at most the line is not
 * needed any more: the request has ended, or its first progress has created its record.
 *
 * Lines are written but not synced: they survive the process, but a power loss may lose those of the last seconds.
 * Lines need not be revoked, because one only counts while Redis has the request as its admission left it
 * (`onlyIfEntered`); a request that has ended since, or that two successors find, is not counted twice.
 *
 * Concurrent requests share one write, which happens before any of their promises resolves. The write is
 * synchronous, because it only waits for the page cache (about ten microseconds).
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../../shared/time/clock.ts";
import { createDeferred } from "../../shared/event-loop/deferred.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { formatSpoolLine } from "./entry.ts";
import type { OpenedRequest } from "./opened-request.ts";
import { removeSpoolFile } from "./segment.ts";
import type { SpoolFile } from "./writer.ts";

export interface JournalOptions {
  /** Returns the path of the next file; called once per file. */
  readonly nextPath: () => string;
  readonly clock: Clock;
  readonly logger: Logger<"warn">;
}

/** A file of the journal, and the number of its requests that may have no record in Redis. */
export interface JournalFile extends SpoolFile {
  live: number;
}

/** Lines that are written together, and the result. */
interface Batch {
  lines: string;
  requests: number;
  readonly written: Promise<JournalFile | null>;
  readonly resolve: (file: JournalFile | null) => void;
}

/** Limits how much a successor has to read to a few files of this size. */
const MAX_FILE_BYTES = 1024 * 1024;
/** Limit for files whose lines are needed; reached only if Redis has not answered for long. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Pause after a disk failure: each request that waits for the disk would then still have to create its record. */
const RETRY_MS = 5_000;

export class RequestJournal {
  readonly #options: JournalOptions;
  readonly #files = new Set<JournalFile>();
  #current: { readonly file: JournalFile; readonly descriptor: number } | null = null;
  #batch: Batch | null = null;
  #failedAtMs = -Infinity;

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /**
   * Resolves once a request is written, with the file to pass to `release`, or with null if the disk fails and the
   * request needs its record in Redis first. Never rejects.
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
      // A full disk writes less.
      if (writeSync(descriptor, lines) !== bytes) throw new Error("the disk is full");
      file.bytes += bytes;
      file.live += requests;
      if (file.bytes >= MAX_FILE_BYTES) this.#seal();
      return file;
    } catch (error) {
      this.#failedAtMs = clock.monotonicMs();
      this.#truncateBatch();
      this.#seal();
      logger.warn({ err: error }, "spool disk not writable, requests wait for their record in redis");
      return null;
    }
  }

  /** Releases a request of this file: it is on record elsewhere, or has ended. */
  release(file: JournalFile): void {
    file.live -= 1;
    this.#removeUnneeded(file);
  }

  /** Removes unneeded files. Needed ones stay for a successor. */
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

  /**
   * Truncates a failed batch. A successor would charge its complete lines, whose requests may never have been sent.
   */
  #truncateBatch(): void {
    if (this.#current === null) return;
    const { file, descriptor } = this.#current;
    try {
      ftruncateSync(descriptor, file.bytes);
    } catch (error) {
      this.#options.logger.warn({ file: file.path, err: error }, "spool file not truncated");
    }
  }

  /** Closes the current file; the next line begins a new one. */
  #seal(): void {
    const current = this.#current;
    if (current === null) return;
    this.#current = null;
    try {
      closeSync(current.descriptor);
    } catch {
      // Ignored: the file is only read again by its path.
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
