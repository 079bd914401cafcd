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

/** A log that is larger is set aside, and one former file is kept. */
export const MAX_LOG_BYTES = 32 * 1024 * 1024;
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

/** Sets a log aside that has grown large; one that an earlier start had stopped begins again. */
export function rotateLog(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) rmSync(path);
  if (sizeOf(path) > MAX_LOG_BYTES) renameSync(path, `${path}.1`);
}

/** 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readTail(path: string, startBytes: number, lines: number): string {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    // Smaller than at the start: it was set aside meanwhile.
    const from = Math.max(size < startBytes ? 0 : startBytes, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.max(0, size - from));
    readSync(descriptor, buffer, 0, buffer.length, from);
    return buffer.toString("utf8").trimEnd().split("\n").slice(-lines).join("\n");
  } finally {
    closeSync(descriptor);
  }
}
