/** Free space on the file system of a directory. */
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";

export interface DiskSpace {
  readonly sizeBytes: number;
  /** Bytes that an unprivileged process can still write. */
  readonly freeBytes: number;
}

/** Reads the space of the directory, or of its nearest existing parent. Null: the system does not report it. */
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
 * Returns whether less is left than the spool may need. Then request logs stop: without a record of its
 * usage, the gateway serves no request.
 */
export function isShort({ freeBytes }: DiskSpace, spoolMaxBytes: number): boolean {
  return freeBytes < spoolMaxBytes;
}
