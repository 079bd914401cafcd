/**
 * From `gateway.yaml` to a frozen `Config`, or to one error with everything that is wrong with it. Decides nothing
 * else: no connection is made, no folder created, and of secrets it is only checked that they are there.
 */
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

import { camelCase } from "./schema/camel-case.ts";
import { checkNames } from "./load/check-names.ts";
import { checkSecrets, type RequiredSecrets } from "./load/check-secrets.ts";
import { checkSettings } from "./load/check-settings.ts";
import { ConfigError, formatProblem, type ConfigProblem } from "./config-error.ts";
import { explainLiteLlm } from "./load/explain-litellm.ts";
import { describeIssues, problemAt } from "./load/issues.ts";
import { writeOutServers } from "../model-servers/presets.ts";
import { createConfigSchema, type Config } from "./schema.ts";
import { readYaml, type YamlSource } from "./load/yaml-source.ts";

export interface LoadOptions {
  /** Environment variables for secrets; the process's own when left out. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Which secrets must be there; "all" when left out. */
  readonly secrets?: RequiredSecrets;
}

export interface ParseOptions extends LoadOptions {
  /** Folder that relative paths are resolved against. */
  readonly baseDir: string;
  /** The file's name, for messages. */
  readonly source?: string;
}

/**
 * Reads a configuration file; relative paths in it are resolved against its folder.
 * @throws ConfigError with all problems, a file that cannot be read included.
 */
export function loadConfig(file: string, options: LoadOptions = {}): Config {
  return parseConfig(readConfigFile(file), { ...options, baseDir: dirname(resolve(file)), source: file });
}

/**
 * The text of a configuration file.
 * @throws ConfigError when it cannot be read.
 */
function readConfigFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const message = code === "ENOENT" ? "the file does not exist" : `the file cannot be read (${code})`;
    throw new ConfigError(file, [{ path: "", message }], { cause: error });
  }
}

/**
 * Reads a configuration from its text.
 * @throws ConfigError with all problems.
 */
export function parseConfig(text: string, options: ParseOptions): Config {
  const { env = process.env, secrets = "all", source: name = "gateway.yaml" } = options;
  const baseDir = resolve(options.baseDir);
  const source = readYaml(text);
  if (!isMapping(source.value)) throw new ConfigError(name, explainNoMapping(source));
  const foreign = explainLiteLlm(source);
  if (foreign !== null) throw new ConfigError(name, foreign);

  const secretSource = { baseDir, env };
  // A schema that is used once is not worth a function compiled for it.
  const once = { jitless: true };
  const result = createConfigSchema(secretSource).safeParse(writeOutServers(source.value), once);
  const crossProblems = [
    ...checkNames(source.value),
    ...checkSettings(source.value, baseDir),
    ...checkSecrets(source.value, secretSource, secrets),
  ];
  const problems = [
    ...source.problems,
    ...describeIssues(result.error?.issues ?? [], source),
    ...crossProblems.map(({ path, message }) => problemAt(source, path, message)),
  ];
  if (!result.success || problems.length > 0) throw new ConfigError(name, arrange(problems));
  return camelCase(result.data);
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function explainNoMapping(source: YamlSource): readonly ConfigProblem[] {
  if (source.problems.length > 0) return source.problems;
  const found =
    source.value === null ? "an empty file" : Array.isArray(source.value) ? "a list" : "a single value";
  return [
    { path: "", message: `expected a mapping with at least \`upstreams\` and \`catalog\`, found ${found}` },
  ];
}

/** In the order of the file, none twice. */
function arrange(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...unique.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
