/**
 * Difference between the running configuration and the file: rejected parts, and parts that need a restart.
 * The supervisor writes it into `data_dir` while it runs, where `doctor` reads it.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../host/private-file.ts";
import type { ConfigProblem } from "../config-error.ts";

export interface ConfigState {
  /** RFC 3339 time since which the current catalog is in force. */
  readonly catalogSince: string;
  /** Set if the current file is not in force. */
  readonly refused: { readonly since: string; readonly problems: readonly ConfigProblem[] } | null;
  /** Fields of the file that differ from the running ones and take effect after a restart. */
  readonly waitingForRestart: readonly string[];
}

const STATE_FILE = "configuration-state.json";

/** Writes the state into `dataDir`, or removes it. Throws errors of the file system. */
export function writeConfigState(dataDir: string, state: ConfigState | null): void {
  const path = join(dataDir, STATE_FILE);
  if (state === null) return rmSync(path, { force: true });
  writePrivateFile(path, JSON.stringify(state));
}

/** Reads the state of a running gateway; null if none runs, or its file is unchanged since the start. */
export function readConfigState(dataDir: string): ConfigState | null {
  try {
    return JSON.parse(readFileSync(join(dataDir, STATE_FILE), "utf8")) as ConfigState;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
