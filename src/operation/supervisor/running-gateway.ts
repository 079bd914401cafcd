/**
 * Record in `data_dir` of a running gateway, for commands on the same host: its file, the overrides, and the admin
 * server's address. A killed gateway leaves the record behind. Its configuration file is then still the right one.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../shared/host/private-file.ts";
import type { ConfigOverrides } from "./config-overrides.ts";

export interface RunningGateway {
  /** Absolute path. */
  readonly configFile: string;
  readonly overrides: ConfigOverrides;
  /** Null during the start, and without an admin server. */
  readonly adminUrl: string | null;
}

const FILE = "running.json";

/** Writes the record into `dataDir`, or removes it. Throws errors of the file system. */
export function writeRunningGateway(dataDir: string, running: RunningGateway | null): void {
  const path = join(dataDir, FILE);
  if (running === null) return rmSync(path, { force: true });
  writePrivateFile(path, JSON.stringify(running));
}

/** Reads the record; null if it is missing or unreadable. */
export function readRunningGateway(dataDir: string): RunningGateway | null {
  try {
    const value = JSON.parse(readFileSync(join(dataDir, FILE), "utf8")) as Partial<RunningGateway> | null;
    if (typeof value?.configFile !== "string") return null;
    return {
      configFile: value.configFile,
      overrides: value.overrides ?? {},
      adminUrl: value.adminUrl ?? null,
    };
  } catch {
    return null;
  }
}
