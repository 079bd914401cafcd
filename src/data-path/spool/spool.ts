/**
 * Where charges wait that Redis did not acknowledge: local append-only files that outlive the process. An answer's last
 * piece is released when its charge is acknowledged or on disk here; each entry is sent to Redis until it is
 * acknowledged, in the order in which it came, after a restart too. Sending twice counts nothing twice, because a charge
 * sets the request's total under a sequence number.
 *
 * It never drops an entry: what Redis will not take (older than six days, contradicting what is on record, damaged) is
 * moved to `reported.jsonl` and reported. When its space is used up or the disk fails, `append` rejects, and the caller
 * keeps the charge in memory or refuses the request.
 *
 * Beside them stands the journal of requests that Redis has no record of yet (`journal`), which only a successor sends.
 *
 * Files are `<writer>.<generation>.<part>.spool`, the journal's end with `.begun`; writers are `worker-<index>`. A worker takes over the files that an
 * earlier process of its index left, and those of indexes that no longer exist. The folder belongs to one gateway.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../shared/time/clock.ts";
import type { Logger } from "../../shared/host/logger.ts";
import type { Store } from "../store/types.ts";
import { pause, waitAtMost } from "../../shared/event-loop/wait.ts";
import { formatSpoolLine, type SpoolEntry } from "./entry.ts";
import { claimSpoolFiles, type SpoolFileKind, type SpoolOwner } from "./files.ts";
import { OpenJournal } from "./open-journal.ts";
import { SpoolReplay, type SpoolReport } from "./replay.ts";
import { type SpoolFile, SpoolWriter } from "./writer.ts";

export interface SpoolOptions extends SpoolOwner {
  /** Made when it is first needed. */
  readonly dir: string;
  /** Of this process's files. */
  readonly maxBytes: number;
  readonly store: Pick<Store, "charge">;
  readonly clock: Clock;
  readonly logger: Logger;
}

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/** The spool holds as much as it may. */
export class SpoolFullError extends Error {
  override readonly name = "SpoolFullError";
}

export class Spool {
  readonly journal: OpenJournal;
  readonly #options: SpoolOptions;
  readonly #writer: SpoolWriter;
  readonly #replay: SpoolReplay;
  /** Oldest first; the writer's own is the last. */
  #files: SpoolFile[] = [];
  #nextPart = 0;
  #running: Promise<void> | null = null;
  #isStopped = false;
  #endPause: () => void = () => undefined;
  #refusedEntries = 0;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#replay = new SpoolReplay(options);
    this.journal = new OpenJournal({ ...options, nextPath: () => this.#formatPath("begun") });
    this.#writer = new SpoolWriter({
      nextPath: () => this.#nextPath(),
      onFile: (file) => {
        this.#files.push(file);
      },
    });
  }

  /** Bytes of entries that are not known to be in Redis. */
  get pendingBytes(): number {
    return this.#files.reduce((sum, file) => sum + file.bytes, 0) + this.#writer.waitingBytes;
  }

  get isEmpty(): boolean {
    return this.#files.length === 0 && this.#writer.waitingBytes === 0;
  }

  /** For metrics and alarms. */
  get report(): SpoolReport & { readonly pendingBytes: number; readonly refusedEntries: number } {
    return {
      ...this.#replay.report,
      pendingBytes: this.pendingBytes,
      refusedEntries: this.#refusedEntries,
    };
  }

  /** Takes over what earlier processes left and begins to send it. Rejects when the folder cannot be read. */
  async start(): Promise<void> {
    const { dir, logger } = this.#options;
    const claimed = await claimSpoolFiles(dir, this.#options, (kind) => this.#formatPath(kind));
    this.#files.push(...claimed);
    if (claimed.length === 0) return;
    logger.warn(
      { files: claimed.length, bytes: this.pendingBytes },
      "sending spooled charges of a previous process to redis",
    );
    this.#startReplay();
  }

  /**
   * Resolves when the entry is on disk.
   * @throws SpoolFullError, or the disk's error; the entry may then be in the spool all the same, or not.
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

  /** Waits until every entry is acknowledged, at most so long; then stops. Returns whether none is left. */
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

  /** Runs until nothing is left. Never rejects. */
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

  async #nextPath(): Promise<string> {
    await mkdir(this.#options.dir, { recursive: true, mode: 0o700 });
    return this.#formatPath("spool");
  }

  #formatPath(kind: SpoolFileKind): string {
    const { dir, index, generation } = this.#options;
    const part = String(this.#nextPart).padStart(6, "0");
    this.#nextPart += 1;
    return join(dir, `worker-${index}.${generation}.${part}.${kind}`);
  }
}
