import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programFile } from "../../shared/host/package-files.ts";

const TEMPLATE = programFile("operation/launcher/default-gateway.yaml");

/** Where `up` keeps its data when no configuration is given. */
export function defaultDataDir(workingFolder: string): string {
  return join(workingFolder, "data");
}

/** What the built-in configuration is made for. */
export interface DefaultConfigValues {
  readonly dataDir: string;
  readonly sockets: string;
  readonly demoUrl: string;
}

/** Writes the built-in configuration into its data folder and returns the file's path. */
export function writeDefaultConfig(values: DefaultConfigValues): string {
  const path = join(values.dataDir, "gateway.yaml");
  mkdirSync(values.dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(path, fillTemplate(readFileSync(TEMPLATE, "utf8"), values));
  return path;
}

/** The template with its values, quoted as YAML takes any text. */
export function fillTemplate(template: string, values: DefaultConfigValues): string {
  return template
    .replace("DATA_DIR", () => JSON.stringify(values.dataDir))
    .replace("SOCKETS", () => JSON.stringify(values.sockets))
    .replace("DEMO_URL", () => JSON.stringify(values.demoUrl));
}
