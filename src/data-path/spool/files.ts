import { readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "./segment.ts";
import type { SpoolFile } from "./writer.ts";
import { unlessMissing } from "../../shared/host/unless-missing.ts";

/** Identifies the files that a process writes and takes over. */
export interface SpoolOwner {
  readonly index: number;
  /** Number of workers of this host. */
  readonly workers: number;
  /** Generation of this process; later processes have greater ones, compared as text. */
  readonly generation: string;
}

/**
 * "spool": charges that Redis did not acknowledge; "begun": the journal of requests that may have no record in Redis.
 */
export type SpoolFileKind = "spool" | "begun";

const NAME = /^worker-(\d+)\.([0-9A-Za-z_-]+)\.(\d+)\.(spool|begun)$/;

/** Creates the generation of a process that starts now. */
export function createGeneration(nowMs: number, pid: number): string {
  return `${String(nowMs).padStart(15, "0")}-${pid}`;
}

/**
 * Takes over the files of dead processes, oldest first, by renaming them: the process that renames a file owns it.
 * Dead are earlier processes of the same index (at most one runs at a time) and all of indexes beyond the number of
 * workers, which belong to the worker `index % workers`.
 */
export async function claimSpoolFiles(
  dir: string,
  owner: SpoolOwner,
  nextPath: (kind: SpoolFileKind) => string,
): Promise<SpoolFile[]> {
  const found = (await unlessMissing(readdir(dir), []))
    .filter((name) => isClaimable(name, owner))
    .sort(byGeneration);
  const claimed: SpoolFile[] = [];
  for (const name of found) {
    const path = nextPath(name.endsWith(".begun") ? "begun" : "spool");
    const bytes = await takeOver(join(dir, name), path);
    if (bytes !== null) claimed.push({ path, bytes });
  }
  if (claimed.length > 0) await syncFolder(dir);
  return claimed;
}

function isClaimable(name: string, { index, workers, generation }: SpoolOwner): boolean {
  const match = NAME.exec(name);
  if (match === null || Number(match[1]) % workers !== index) return false;
  return match[2] !== generation;
}

function byGeneration(left: string, right: string): number {
  const order = (name: string): string => NAME.exec(name)?.slice(2).join(".") ?? name;
  return order(left) < order(right) ? -1 : 1;
}

/** Returns the file's size; null if another process was faster. */
async function takeOver(from: string, to: string): Promise<number | null> {
  const moved = rename(from, to).then(() => stat(to));
  return (await unlessMissing(moved, null))?.size ?? null;
}
