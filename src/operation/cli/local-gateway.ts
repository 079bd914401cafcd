import { existsSync } from "node:fs";
import { join } from "node:path";
import { readRunningGateway } from "../supervisor/running-gateway.ts";

/**
 * The `gateway.yaml` of the gateway that runs from this folder, else the one that `up` without --config has left here,
 * else `gateway.yaml` itself; null where there is none.
 */
export function findLocalConfig(folder: string = process.cwd()): string | null {
  const dataDir = join(folder, "data");
  const running = readRunningGateway(dataDir)?.configFile;
  const candidates = [running, join(dataDir, "gateway.yaml"), join(folder, "gateway.yaml")];
  return candidates.find((file) => file !== undefined && existsSync(file)) ?? null;
}
