import { readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "./segment.ts";
import type { SpoolFile } from "./writer.ts";

/** Whose files a process writes and takes over. */
export interface SpoolOwner {
  /** Of the worker. */
  readonly index: number;
  /** Workers of this host. */
  readonly workers: number;
  /** Of this process; later processes have later ones, in the order of text. */
  readonly generation: string;
}

/** "spool": charges that Redis did not acknowledge; "begun": the journal of requests that it may have no record of. */
export type SpoolFileKind = "spool" | "begun";

const NAME = /^worker-(\d+)\.([0-9A-Za-z_-]+)\.(\d+)\.(spool|begun)$/;

/** A generation for a process that starts now. */
export function createGeneration(nowMs: number, pid: number): string {
  return `${String(nowMs).padStart(15, "0")}-${pid}`;
}

/**
 * Takes over the files of dead processes, oldest first, by giving each a name of this process: whoever renames it has it.
 * Dead are earlier processes of the same index (there is never more than one at a time), and those of an index beyond
 * the number of workers, which fall to the worker that the index leaves when divided by that number.
 */
export async function claimSpoolFiles(
  dir: string,
  owner: SpoolOwner,
  nextPath: (kind: SpoolFileKind) => string,
): Promise<SpoolFile[]> {
  const found = (await listNames(dir)).filter((name) => isClaimable(name, owner)).sort(byGeneration);
  const claimed: SpoolFile[] = [];
  for (const name of found) {
    // By its end, so that a version that knows no journal leaves it alone.
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

async function listNames(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** The file's size; null: another was faster, or has taken it over from us already. */
async function takeOver(from: string, to: string): Promise<number | null> {
  try {
    await rename(from, to);
    return (await stat(to)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
