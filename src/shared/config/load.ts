/**
 * Loads `gateway.yaml` into a frozen `Config`, or fails with one error that has all mistakes. Has no other
 * effects: makes no connection and no directory, and only checks that secrets exist.
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
  /** Environment variables for secrets. Default: the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Secrets that must exist. Default: "all". */
  readonly secrets?: RequiredSecrets;
}

export interface ParseOptions extends LoadOptions {
  /** Directory against which relative paths are resolved. */
  readonly baseDir: string;
  /** Name of the file, for messages. */
  readonly source?: string;
}

/**
 * Loads a configuration file; relative paths in it are resolved against its directory.
 * @throws ConfigError with all problems, including an unreadable file.
 */
export function loadConfig(file: string, options: LoadOptions = {}): Config {
  return parseConfig(readConfigFile(file), { ...options, baseDir: dirname(resolve(file)), source: file });
}

/**
 * Reads the text of a configuration file.
 * @throws ConfigError if it is unreadable.
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
 * Parses a configuration from its text.
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
  // Compiling a schema is not worth it for one use.
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

/** Sorts problems by their place in the file, without duplicates. */
function arrange(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const unique = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...unique.values()].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}
