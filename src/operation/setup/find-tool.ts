import { explainUnusable, findOnPath, isExecutable } from "./find-executable.ts";
import { SetupError } from "./setup-error.js";
import type { Tool, ToolContext, ToolSource } from "./tool-context.ts";

/** Program, and where it may be found. */
export interface WantedTool {
  /** Variable that names it and takes precedence: "ENVOY_BIN". Null: none. */
  readonly variable: string | null;
  /** Names on PATH; the first usable one is taken. */
  readonly programs: readonly string[];
  /**
   * Returns null, or why it cannot be used: the rest of a sentence that starts with its path, "is not a Redis
   * that runs".
   */
  readonly check: (path: string, source: ToolSource) => Promise<string | null>;
  /** Installations to find after PATH, and then to install, each in this order. */
  readonly installed: readonly InstalledTool[];
}

export interface InstalledTool {
  readonly source: ToolSource;
  /** Path of the installation; null: unknown yet. */
  readonly path: () => string | null;
  /** Installs it; returns null, or why it failed. Omitted if the setup does not install it. May throw SetupError. */
  readonly install?: () => Promise<string | null>;
}

/**
 * Finds the program that the variable names, then the first usable one on PATH, then an earlier installation,
 * then installs it. Returns a text if there is none, so that callers that can do without may continue.
 *
 * @throws {SetupError} if the variable names something unusable, or by an installation
 */
export async function findTool(context: ToolContext, wanted: WantedTool): Promise<Tool | string> {
  const existing = (await findNamed(context, wanted)) ?? (await findExisting(context, wanted));
  if (existing !== null) return existing;
  let reason = "it is not on PATH";
  for (const candidate of wanted.installed) {
    if (candidate.install === undefined) continue;
    const failure = await candidate.install();
    const tool = failure === null ? await findInstalled(candidate, wanted) : null;
    if (tool !== null) return tool;
    reason = failure ?? "the installed one doesn't run here";
  }
  return reason;
}

async function findNamed({ env }: ToolContext, { variable, check }: WantedTool): Promise<Tool | null> {
  const named = variable === null ? "" : (env[variable] ?? "");
  if (named === "") return null;
  // As in a shell, a bare name is looked up on PATH.
  const path = named.includes("/") ? named : (findOnPath(named, env) ?? named);
  const objection = explainUnusable(path) ?? (await check(path, "environment"));
  if (objection === null) return { path, source: "environment" };
  throw new SetupError(`${variable} (${named}) ${objection}: correct or unset it.`);
}

async function findExisting(context: ToolContext, wanted: WantedTool): Promise<Tool | null> {
  for (const program of wanted.programs) {
    const path = findOnPath(program, context.env);
    if (path === null) continue;
    const objection = await wanted.check(path, "path");
    if (objection === null) return { path, source: "path" };
    context.notice(`${path} ${objection}: ignored.`);
  }
  for (const candidate of wanted.installed) {
    const tool = await findInstalled(candidate, wanted);
    if (tool !== null) return tool;
  }
  return null;
}

async function findInstalled(
  { path: locate, source }: InstalledTool,
  { check }: WantedTool,
): Promise<Tool | null> {
  const path = locate();
  if (path === null || !isExecutable(path)) return null;
  return (await check(path, source)) === null ? { path, source } : null;
}
