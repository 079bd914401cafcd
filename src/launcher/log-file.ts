import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** One former file of this size is kept: the logs of a machine that is started daily stay bounded. */
const MAX_BYTES = 32 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/** A child's output. The child writes into the file itself, so it can go on when the launcher is gone. */
export interface LogFile {
  readonly path: string;
  /** For `stdio`; closed by `close` once the child has it. */
  readonly descriptor: number;
  /** The last lines written since this start. */
  tail(lines: number): string;
  close(): void;
}

/** Opens a log for appending, readable by the owner only; one that has grown large is set aside as `<path>.1`. */
export function openLogFile(path: string): LogFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  rotateLog(path);
  const descriptor = openSync(path, "a", 0o600);
  const startBytes = fstatSync(descriptor).size;
  return {
    path,
    descriptor,
    tail: (lines) => readTail(path, startBytes, lines),
    close: () => closeSync(descriptor),
  };
}

/** Sets a log aside that has grown large. */
export function rotateLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_BYTES) renameSync(path, `${path}.1`);
}

function readTail(path: string, startBytes: number, lines: number): string {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    const from = Math.max(startBytes, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    readSync(descriptor, buffer, 0, buffer.length, from);
    return buffer.toString("utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } finally {
    closeSync(descriptor);
  }
}
