/**
 * Deletes old files of the request log. The supervisor of each host runs one instance for the files of all workers,
 * including workers that no longer exist.
 *
 * Deletes the oldest first: files beyond the retention period, except those of protected months; then files of any
 * month until all fit their byte limit and leave the spool its disk space. Never deletes a file that may still be
 * written to (the newest of each writer), or a file whose name is not one of the log. Disk errors are logged and
 * retried; they never stop the gateway.
 */
import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS } from "../../shared/time/calendar.ts";
import type { Clock } from "../../shared/time/clock.ts";
import type { DiskSpace } from "../../shared/host/disk-space.ts";
import type { Logger } from "../../shared/host/logger.ts";
import { unlessMissing } from "../../shared/host/unless-missing.ts";

export interface RequestLogRetentionOptions {
  readonly dir: string;
  /** Files of older days are deleted. */
  readonly requestLogDays: number;
  /** Limit for all files together; null: half of the disk. */
  readonly requestLogMaxBytes: number | null;
  /** Calendar months (UTC), including the current one, whose files are kept regardless of their age. */
  readonly requestLogProtectedMonths: number;
  /** Disk space that the log leaves free. */
  readonly spoolMaxBytes: number;
  /** Null: unknown, so no file is deleted to free space. */
  readonly readSpace: () => Promise<DiskSpace | null>;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"info" | "warn">;
  /** Called with the remaining bytes after each sweep. */
  readonly onBytes?: (bytes: number) => void;
}

interface LogFile {
  readonly name: string;
  readonly day: string;
  readonly writer: string;
  readonly part: number;
  readonly bytes: number;
}

const FILE = /^(\d{4}-\d{2}-\d{2})\.([\w-]+)\.(\d+)\.jsonl$/;
/** Time between two sweeps. The log can exceed its limit for as long. */
const INTERVAL_MS = 10_000;

export class RequestLogRetention {
  readonly #options: RequestLogRetentionOptions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;

  constructor(options: RequestLogRetentionOptions) {
    this.#options = options;
  }

  /** Sweeps now and every ten seconds. */
  start(): void {
    const run = (): void => {
      this.#running ??= this.#sweepSafely().finally(() => {
        this.#running = null;
      });
    };
    this.#timer = setInterval(run, INTERVAL_MS);
    this.#timer.unref();
    run();
  }

  /** Resolves once a running sweep has ended. */
  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  async #sweepSafely(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.#options.logger.warn({ err: error }, "old request log files not deleted");
    }
  }

  /** Deletes due files and resolves with their names. Rejects on disk errors. */
  async sweep(): Promise<readonly string[]> {
    const { dir, logger, onBytes, readSpace } = this.#options;
    const files = await listLogFiles(dir);
    let bytes = sumBytes(files);
    const maxBytes = boundBytes(bytes, await readSpace(), this.#options);
    const { due, ofProtected } = chooseDue(files, maxBytes, this.#options);
    try {
      for (const file of due) {
        await unlink(join(dir, file.name));
        bytes -= file.bytes;
      }
    } finally {
      onBytes?.(bytes);
    }
    const names = due.map(({ name }) => name);
    if (names.length > 0) logger.info({ files: names }, "old request log files deleted");
    if (ofProtected > 0) {
      const fields = { files: ofProtected, max_bytes: maxBytes };
      logger.warn(
        fields,
        "request log files of protected months deleted: the disk or the bound is too small",
      );
    }
    return names;
  }
}

const sumBytes = (files: readonly LogFile[]): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** Returns the bytes that the log may take now. */
function boundBytes(
  bytes: number,
  space: DiskSpace | null,
  { requestLogMaxBytes, spoolMaxBytes }: RequestLogRetentionOptions,
): number {
  if (space === null) return requestLogMaxBytes ?? Infinity;
  return Math.min(
    requestLogMaxBytes ?? Math.floor(space.sizeBytes / 2),
    Math.max(0, bytes + space.freeBytes - spoolMaxBytes),
  );
}

/** Lists the files of the log, oldest first; empty if the directory does not exist. */
async function listLogFiles(dir: string): Promise<LogFile[]> {
  const files: LogFile[] = [];
  for (const name of await unlessMissing(readdir(dir), [])) {
    const match = FILE.exec(name);
    if (match === null) continue;
    const [, day = "", writer = "", part = ""] = match;
    const stats = await lstat(join(dir, name));
    if (stats.isFile()) files.push({ name, day, writer, part: Number(part), bytes: stats.size });
  }
  return files.toSorted(
    (one, other) =>
      one.day.localeCompare(other.day) || one.part - other.part || one.writer.localeCompare(other.writer),
  );
}

function chooseDue(
  files: readonly LogFile[],
  maxBytes: number,
  rules: RequestLogRetentionOptions,
): { readonly due: readonly LogFile[]; readonly ofProtected: number } {
  const nowMs = rules.clock.nowMs();
  const newest = new Map(files.map((file) => [file.writer, file]));
  const firstProtected = firstDayOfMonths(nowMs, rules.requestLogProtectedMonths);
  const oldestDay = formatDay(nowMs - rules.requestLogDays * DAY_MS);
  const isExpired = ({ day }: LogFile): boolean => day < oldestDay && day < firstProtected;
  let bytes = sumBytes(files);
  const due = files.filter((file) => {
    if (newest.get(file.writer) === file || (!isExpired(file) && bytes <= maxBytes)) return false;
    bytes -= file.bytes;
    return true;
  });
  return { due, ofProtected: due.filter(({ day }) => day >= firstProtected).length };
}

/** Returns the first of this many months that end with the current one; later than any day for 0. */
function firstDayOfMonths(nowMs: number, months: number): string {
  if (months === 0) return "9999-99-99";
  const now = new Date(nowMs);
  return formatDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (months - 1), 1));
}

function formatDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
