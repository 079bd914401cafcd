/**
 * Stores charges that Redis did not acknowledge in local append-only files, which survive the process. The last piece
 * of an answer is released when its charge is acknowledged or on disk; each entry is sent to Redis in order until it
 * is acknowledged, also after a restart. Sending an entry twice does not count it twice, because a charge sets the
 * request's total under a sequence number.
 *
 * Never drops an entry: entries that Redis does not accept (older than six days, contradicting the record, damaged)
 * are moved to `reported.jsonl` and reported. If the space is used up or the disk fails, `append` rejects, and the
 * caller keeps the charge in memory or rejects the request.
 *
 * Next to them is the journal of requests without a record in Redis (`journal`), which only a successor sends.
 *
 * Files are named `<writer>.<generation>.<part>.spool`, those of the journal end with `.begun`; writers are
 * `worker-<index>`. A worker takes over the files of an earlier process of its index, and those of indexes that no
 * longer exist. The directory belongs to one gateway.
 */
import { join } from "node:path";
import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Store } from "../../shared/stored/store.ts";
import { pause, waitAtMost } from "../../shared/event-loop/wait.ts";
import { formatSpoolLine, type SpoolEntry } from "./entry.ts";
import { claimSpoolFiles, type SpoolFileKind, type SpoolOwner } from "./files.ts";
import { RequestJournal } from "./request-journal.ts";
import { SpoolReplay, type SpoolReport } from "./replay.ts";
import { type SpoolFile, SpoolWriter } from "./writer.ts";

export interface SpoolOptions extends SpoolOwner {
  /** Created when first needed. */
  readonly dir: string;
  /** Limit for this process's files. */
  readonly maxBytes: number;
  readonly store: Pick<Store, "charge">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/** The spool has reached its limit. */
export class SpoolFullError extends Error {
  override readonly name = "SpoolFullError";
}

export class Spool {
  readonly journal: RequestJournal;
  readonly #options: SpoolOptions;
  readonly #writer: SpoolWriter;
  readonly #replay: SpoolReplay;
  /** Oldest first; the writer's file is the last. */
  #files: SpoolFile[] = [];
  #nextPart = 0;
  #running: Promise<void> | null = null;
  #isStopped = false;
  #endPause: () => void = () => undefined;
  #refusedEntries = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#replay = new SpoolReplay(options);
    this.journal = new RequestJournal({ ...options, nextPath: () => this.#nextPath("begun") });
    this.#writer = new SpoolWriter({
      nextPath: () => this.#nextPath("spool"),
      onFile: (file) => {
        this.#files.push(file);
      },
    });
  }

  /** Bytes of entries that may not be in Redis. */
  get pendingBytes(): number {
    return this.#files.reduce((sum, file) => sum + file.bytes, 0) + this.#writer.waitingBytes;
  }

  get isEmpty(): boolean {
    return this.#files.length === 0 && this.#writer.waitingBytes === 0;
  }

  /** For metrics and alerts. */
  get report(): SpoolReport & { readonly pendingBytes: number; readonly refusedEntries: number } {
    return {
      ...this.#replay.report,
      pendingBytes: this.pendingBytes,
      refusedEntries: this.#refusedEntries,
    };
  }

  /** Takes over the files of earlier processes and begins to send them. Rejects if the directory cannot be read. */
  async start(): Promise<void> {
    const { dir, logger } = this.#options;
    const claimed = await claimSpoolFiles(dir, this.#options, (kind) => this.#nextPath(kind));
    this.#files.push(...claimed);
    if (claimed.length === 0) return;
    logger.warn(
      { files: claimed.length, bytes: this.pendingBytes },
      "sending spooled charges of a previous process to redis",
    );
    this.#startReplay();
  }

  /**
   * Resolves once the entry is on disk.
   * @throws SpoolFullError, or the disk's error, in which case the entry may or may not be in the spool.
   */
  async append(entry: SpoolEntry): Promise<void> {
    const line = formatSpoolLine(entry);
    if (this.pendingBytes + Buffer.byteLength(line) > this.#options.maxBytes) {
      this.#refusedEntries += 1;
      throw new SpoolFullError(`the spool holds ${this.pendingBytes} bytes, as much as it may`);
    }
    try {
      await this.#writer.append(line);
    } catch (error) {
      this.#refusedEntries += 1;
      throw error;
    } finally {
      this.#startReplay();
    }
  }

  /** Waits until every entry is acknowledged, at most `boundMs`; then stops. Returns whether the spool is empty. */
  async stop(boundMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const endMs = clock.monotonicMs() + boundMs;
    while (!this.isEmpty && clock.monotonicMs() < endMs) await pause(20, { ref: false });
    this.#isStopped = true;
    this.#endPause();
    await this.#running;
    await this.#writer.seal();
    this.journal.close();
    return this.isEmpty;
  }

  #startReplay(): void {
    if (this.#isStopped) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Runs until the spool is empty. Never rejects. */
  async #run(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    for (let file = this.#files[0]; file !== undefined && !this.#isStopped; file = this.#files[0]) {
      if (file === this.#writer.currentFile) await this.#writer.seal();
      const isDone = await this.#replay.send(file);
      if (isDone) this.#files.shift();
      else await this.#pause(retryMs);
      retryMs = isDone ? FIRST_RETRY_MS : Math.min(MAX_RETRY_MS, 2 * retryMs);
    }
  }

  /** Ends early when the spool is stopped. */
  async #pause(ms: number): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      this.#endPause = resolve;
    });
    await waitAtMost(stopped, ms);
  }

  #nextPath(kind: SpoolFileKind): string {
    const { dir, index, generation } = this.#options;
    const part = String(this.#nextPart).padStart(6, "0");
    this.#nextPart += 1;
    return join(dir, `worker-${index}.${generation}.${part}.${kind}`);
  }
}
