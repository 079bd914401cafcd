/** Prometheus and promtool for these tests. `npm test` brings them; without them the tests are skipped, and say so. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const UNPACKED = fileURLToPath(new URL("../../.tools/prometheus-debian/usr/bin/", import.meta.url));

function find(program: string, variable: string): string | null {
  const candidates = [process.env[variable] ?? "", program, UNPACKED + program];
  const runs = (path: string) =>
    path !== "" && spawnSync(path, ["--version"], { timeout: 20_000 }).status === 0;
  return candidates.find(runs) ?? null;
}

export const PROMETHEUS = find("prometheus", "PROMETHEUS_BIN");
export const PROMTOOL = find("promtool", "PROMTOOL_BIN");

export const SKIPPED_WHY =
  PROMETHEUS === null || PROMTOOL === null
    ? " (skipped: no Prometheus; install prometheus and promtool or set PROMETHEUS_BIN and PROMTOOL_BIN)"
    : "";
