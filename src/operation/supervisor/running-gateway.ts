/**
 * What a gateway leaves in `data_dir` while it runs, so that commands on the same host find it: from which file, with
 * what over it, and where its admin server is. One that was killed leaves it behind; its file is still the right one.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writePrivateFile } from "../../shared/host/private-file.ts";
import type { ConfigOverrides } from "./config-overrides.ts";

export interface RunningGateway {
  /** Absolute. */
  readonly configFile: string;
  readonly overrides: ConfigOverrides;
  /** Null as long as it starts, and without an admin server. */
  readonly adminUrl: string | null;
}

const FILE = "running.json";

/** Leaves it in `dataDir`, or takes it away. Throws what the file system says. */
export function writeRunningGateway(dataDir: string, running: RunningGateway | null): void {
  const path = join(dataDir, FILE);
  if (running === null) return rmSync(path, { force: true });
  writePrivateFile(path, JSON.stringify(running));
}

/** What a gateway has left there; null where none has, or where it cannot be read. */
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
