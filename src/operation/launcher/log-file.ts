import {
  closeSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";

/** A larger log is rotated; one previous file is kept. */
export const MAX_LOG_BYTES = 32 * 1024 * 1024;
const TAIL_BYTES = 16 * 1024;

/** Output of a child. The child writes to the file itself, so it can continue without the launcher. */
export interface LogFile {
  readonly path: string;
  /** For `stdio`; `close` closes it once the child has it. */
  readonly descriptor: number;
  /** Returns the last lines written since this start. */
  tail(lines: number): string;
  close(): void;
}

/** Opens a log for appending, readable by the owner only; a large one is rotated to `<path>.1`. */
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

/** Rotates a large log, and enables one that an earlier start had stopped. */
export function rotateLog(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(path);
  if (sizeOf(path) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
}

/** Returns 0 if the file does not exist. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readTail(path: string, startBytes: number, lines: number): string {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    // Smaller than at the start: it was rotated meanwhile.
    const from = Math.max(size < startBytes ? 0 : startBytes, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    readSync(descriptor, buffer, 0, buffer.length, from);
    return buffer.toString("utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } finally {
    closeSync(descriptor);
  }
}
