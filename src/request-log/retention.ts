/**
 * Deletes old files of the log of requests. One runs on each host, in the supervisor, for the files of all its workers,
 * those of workers that no longer exist too.
 *
 * Oldest first, and never: a file that may still be written to (the newest of each writer), a file of the protected
 * months, a file that is not named like one of the log. What the disk refuses is logged and tried again; it never keeps
 * the gateway from working.
 */
import { lstat, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS } from "../time/calendar.ts";
import type { Clock } from "../time/clock.ts";
import type { Logger } from "../host/logger.ts";

export interface RequestLogRetentionOptions {
  readonly dir: string;
  /** Files whose day is longer ago go. */
  readonly requestLogDays: number;
  /** Of all files together; null: no bound. */
  readonly requestLogMaxBytes: number | null;
  /** So many calendar months (UTC), the current one included, are kept whatever the other two say. */
  readonly requestLogProtectedMonths: number;
  readonly clock: Pick<Clock, "nowMs">;
  readonly logger: Logger<"info" | "warn">;
  /** Told after each sweep: what is left. */
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
const INTERVAL_MS = 300_000;
export class RequestLogRetention {
  readonly #options: RequestLogRetentionOptions;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #isOverTold = false;

  constructor(options: RequestLogRetentionOptions) {
    this.#options = options;
  }

  /** Sweeps now and every five minutes. */
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

  /** Resolves when the sweep that runs is over. */
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

  /** Deletes what is due; resolves with its names. Rejects when the disk refuses. */
  async sweep(): Promise<readonly string[]> {
    const { dir, logger, requestLogMaxBytes: maxBytes, onBytes } = this.#options;
    const files = await listLogFiles(dir);
    const due = chooseDue(files, this.#options);
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
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
    this.#tellOver(bytes, maxBytes);
    return names;
  }

  /** Once, until it fits again. */
  #tellOver(bytes: number, maxBytes: number | null): void {
    const isOver = maxBytes !== null && bytes > maxBytes;
    if (isOver && !this.#isOverTold) {
      this.#options.logger.warn(
        { bytes, max_bytes: maxBytes },
        "request log over its maximum, all of it protected by `retention`",
      );
    }
    this.#isOverTold = isOver;
  }
}

/** Files of the log, oldest first; none when there is no such folder yet. */
async function listLogFiles(dir: string): Promise<LogFile[]> {
  const files: LogFile[] = [];
  for (const name of await readNames(dir)) {
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

async function readNames(dir: string): Promise<string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function chooseDue(files: readonly LogFile[], rules: RequestLogRetentionOptions): readonly LogFile[] {
  const { requestLogDays, requestLogMaxBytes: maxBytes, requestLogProtectedMonths } = rules;
  const nowMs = rules.clock.nowMs();
  const newest = new Map(files.map((file) => [file.writer, file]));
  const firstProtected = firstDayOfMonths(nowMs, requestLogProtectedMonths);
  const oldestDay = formatDay(nowMs - requestLogDays * DAY_MS);
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return files.filter((file) => {
    if (newest.get(file.writer) === file || file.day >= firstProtected) return false;
    if (file.day >= oldestDay && (maxBytes === null || bytes <= maxBytes)) return false;
    bytes -= file.bytes;
    return true;
  });
}

/** The first day of so many months that end with the current one; later than any day when there are none. */
function firstDayOfMonths(nowMs: number, months: number): string {
  if (months === 0) return "9999-99-99";
  const now = new Date(nowMs);
  return formatDay(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (months - 1), 1));
}

function formatDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
