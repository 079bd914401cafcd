import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programFile } from "../../shared/host/package-files.ts";

const TEMPLATE = programFile("operation/launcher/default-gateway.yaml");

/** Returns where `up` stores its data without a configuration. */
export function defaultDataDir(workingFolder: string): string {
  return join(workingFolder, "data");
}

/** Values of the built-in configuration. */
export interface DefaultConfigValues {
  readonly dataDir: string;
  readonly sockets: string;
  readonly demoUrl: string;
}

/** Writes the built-in configuration into its data directory and returns the file's path. */
export function writeDefaultConfig(values: DefaultConfigValues): string {
  const path = join(values.dataDir, "gateway.yaml");
  mkdirSync(values.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(path, fillTemplate(readFileSync(TEMPLATE, "utf8"), values));
  return path;
}

/** Fills in the values, quoted for YAML. */
export function fillTemplate(template: string, values: DefaultConfigValues): string {
  return template
    .replace("DATA_DIR", () => JSON.stringify(values.dataDir))
    .replace("SOCKETS", () => JSON.stringify(values.sockets))
    .replace("DEMO_URL", () => JSON.stringify(values.demoUrl));
}
