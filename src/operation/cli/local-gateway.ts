import { existsSync } from "node:fs";
import { join } from "node:path";
import { readRunningGateway } from "../supervisor/running-gateway.ts";

/**
 * Returns the `gateway.yaml` of the gateway that runs from this directory, otherwise the one written by `up`
 * without --config, otherwise `gateway.yaml` itself; null if none exists.
 */
export function findLocalConfig(folder: string = process.cwd()): string | null {
  const dataDir = join(folder, "data");
  const running = readRunningGateway(dataDir)?.configFile;
  const candidates = [running, join(dataDir, "gateway.yaml"), join(folder, "gateway.yaml")];
  return candidates.find((file) => file !== undefined && existsSync(file)) ?? null;
}
