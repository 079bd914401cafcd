/**
 * How the running configuration stands to the file: what of it was refused, what waits for a restart. The supervisor
 * keeps it and leaves it in `data_dir` while it runs, where `doctor` reads it.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../host/private-file.ts";
import type { ConfigProblem } from "../config-error.ts";

export interface ConfigState {
  /** RFC 3339: when the catalog that is in force was taken over. */
  readonly catalogSince: string;
  /** The file as it is now is not in force; null when it is. */
  readonly refused: { readonly since: string; readonly problems: readonly ConfigProblem[] } | null;
  /** Fields of the file that differ from the running ones and count after a restart. */
  readonly waitingForRestart: readonly string[];
}

const STATE_FILE = "configuration-state.json";

/** Leaves the state in `dataDir`, or takes it away. Throws what the file system says. */
export function writeConfigState(dataDir: string, state: ConfigState | null): void {
  const path = join(dataDir, STATE_FILE);
  if (state === null) return rmSync(path, { force: true });
  writePrivateFile(path, JSON.stringify(state));
}

/** What a running gateway has left there; null when none runs, or it has started with the file as it is. */
export function readConfigState(dataDir: string): ConfigState | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, STATE_FILE), "utf8")) as ConfigState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
