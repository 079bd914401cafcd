import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { type SpoolEntry, parseSpoolLine } from "./entry.ts";
import { unlessMissing } from "../../shared/host/unless-missing.ts";

/** One line of a spool file. */
export interface SpoolLine {
  /** Null: torn or damaged. */
  readonly entry: SpoolEntry | null;
  /** Offset of the next line. */
  readonly endOffset: number;
}

const READ_BYTES = 256 * 1024;
/** Longer than any entry; a longer line has lost its line breaks. */
const MAX_LINE_BYTES = 1024 * 1024;
const LINE_BREAK = 0x0a;

/** Reads the lines of a spool file from an offset, in order. A last line without a line break is torn. */
export async function* readSpoolLines(path: string, fromOffset: number): AsyncGenerator<SpoolLine> {
  const handle = await open(path, "r");
  try {
    const chunk = Buffer.alloc(READ_BYTES);
    let rest: Buffer = Buffer.alloc(0);
    let offset = fromOffset;
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, READ_BYTES, offset + rest.length);
      if (bytesRead === 0) break;
      rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let start = 0;
      for (let end = rest.indexOf(LINE_BREAK); end !== -1; end = rest.indexOf(LINE_BREAK, start)) {
        const entry = parseSpoolLine(rest.toString("utf8", start, end));
        start = end + 1;
        yield { entry, endOffset: offset + start };
      }
      if (rest.length - start > MAX_LINE_BYTES) start = rest.length;
      offset += start;
      rest = rest.subarray(start);
    }
    if (rest.length > 0) yield { entry: null, endOffset: offset + rest.length };
  } finally {
    await handle.close();
  }
}

/** Makes changes of a directory (created, renamed, removed files) survive a power loss. */
export async function syncFolder(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a new file that survives a power loss, and its directory if needed. Fails if the file exists. */
export async function createSpoolFile(path: string): Promise<FileHandle> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const handle = await open(path, "ax", 0o600);
  try {
    await syncFolder(dirname(path));
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Removes a file, if it exists. */
export async function removeSpoolFile(path: string): Promise<void> {
  await unlessMissing(unlink(path), null);
}
