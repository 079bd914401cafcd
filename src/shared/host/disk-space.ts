/** Room on the file system of a folder. */
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

export interface DiskSpace {
  readonly sizeBytes: number;
  /** What a process without special rights can still write. */
  readonly freeBytes: number;
}

/** Reads it for the folder, or for the nearest one above it that exists. Null: the system does not report it. */
export async function readDiskSpace(folder: string): Promise<DiskSpace | null> {
  try {
    const { blocks, bavail, bsize } = await statfs(folder);
    return { sizeBytes: blocks * bsize, freeBytes: bavail * bsize };
  } catch (error) {
    const parent = dirname(folder);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === folder) return null;
    return readDiskSpace(parent);
  }
}

/**
 * Whether what is left is less than the spool may need. Then logs stop: without a record of what a request used, the
 * gateway serves none.
 */
export function isShort({ freeBytes }: DiskSpace, spoolMaxBytes: number): boolean {
  return freeBytes < spoolMaxBytes;
}
