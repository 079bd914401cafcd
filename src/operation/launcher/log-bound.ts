/**
 * Bounds the logs of a running stack on one host: each file and one previous file, whatever callers do. If
 * the disk has less space left than the spool may need, the access log stops first, and previous files are
 * deleted.
 */
import { copyFileSync, lstatSync, renameSync, rmSync, symlinkSync, truncateSync } from "node:fs";
import { isShort, readDiskSpace } from "../../shared/host/disk-space.ts";
import { MAX_LOG_BYTES, sizeOf } from "./log-file.ts";

export interface LogBoundOptions {
  /** Opened by name again when `reopen` is called. */
  readonly accessLog: string;
  /** Makes Envoy open its access log again. Never rejects. */
  readonly reopen: () => Promise<unknown>;
  /** Logs whose writers keep them open for appending: they are emptied in place, not renamed. */
  readonly otherLogs: readonly string[];
  /** Directory on the logs' disk. */
  readonly folder: string;
  readonly spoolMaxBytes: number;
  readonly notice: (line: string) => void;
  /** Default: 32 MiB. */
  readonly maxBytes?: number;
}

/** Interval of checks; a log may exceed its bound meanwhile. */
const INTERVAL_MS = 1_000;
const NOWHERE = "/dev/null";

export class LogBound {
  readonly #options: LogBoundOptions;
  readonly #maxBytes: number;
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  constructor(options: LogBoundOptions) {
    this.#options = options;
    this.#maxBytes = options.maxBytes ?? MAX_LOG_BYTES;
  }

  start(): void {
    this.#timer = setInterval(() => void this.#lookSafely(), INTERVAL_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  async #lookSafely(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await this.look();
    } catch (error) {
      this.#options.notice(`a log could not be bounded: ${String(error)}`);
    } finally {
      this.#isLooking = false;
    }
  }

  /** Checks once. Rejects on file system errors. */
  async look(): Promise<void> {
    const { folder, spoolMaxBytes, otherLogs } = this.#options;
    const space = await readDiskSpace(folder);
    const isTight = space !== null && isShort(space, spoolMaxBytes);
    for (const path of otherLogs) {
      if (sizeOf(path) > this.#maxBytes) emptyInPlace(path, !isTight);
    }
    if (isTight !== this.#isStopped()) await (isTight ? this.#stopAccessLog() : this.#resumeAccessLog());
    else if (sizeOf(this.#options.accessLog) > this.#maxBytes) await this.#rotateAccessLog();
  }

  #isStopped(): boolean {
    return isLink(this.#options.accessLog);
  }

  async #rotateAccessLog(): Promise<void> {
    const { accessLog, reopen } = this.#options;
    renameSync(accessLog, `${accessLog}.1`);
    await reopen();
  }

  async #stopAccessLog(): Promise<void> {
    const { accessLog, otherLogs, reopen, notice, spoolMaxBytes } = this.#options;
    rmSync(accessLog, { force: true });
    symlinkSync(NOWHERE, accessLog);
    await reopen();
    for (const path of [accessLog, ...otherLogs]) rmSync(`${path}.1`, { force: true });
    notice(
      `Less than ${Math.floor(spoolMaxBytes / 1024 ** 2)} MiB of the disk are free, which the spool may need, so the access log is stopped. Free space, or lower \`settlement.spool_max_bytes\`.`,
    );
  }

  async #resumeAccessLog(): Promise<void> {
    const { accessLog, reopen, notice } = this.#options;
    rmSync(accessLog);
    await reopen();
    notice("The disk has enough space again: the access log continues.");
  }
}

/** Empties a file whose writer appends. Lines that arrive between the two steps are lost. */
function emptyInPlace(path: string, copiesFirst: boolean): void {
  if (copiesFirst) copyFileSync(path, `${path}.1`);
  truncateSync(path);
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}
