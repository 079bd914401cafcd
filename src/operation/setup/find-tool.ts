import { explainUnusable, findOnPath, isExecutable } from "./find-executable.ts";
import { SetupError } from "./setup-error.js";
import type { Tool, ToolContext, ToolSource } from "./tool-context.ts";

/** One program, and where it may come from. */
export interface WantedTool {
  /** Names it by hand and goes before all else: "ENVOY_BIN". Null: it cannot be named. */
  readonly variable: string | null;
  /** What it is called on PATH; the first that can be used is taken. */
  readonly programs: readonly string[];
  /** Null, or why it cannot be used: the rest of a sentence that begins with its path, "is not a Redis that runs". */
  readonly check: (path: string, source: ToolSource) => Promise<string | null>;
  /** What is looked for after PATH, and then installed, each in this order. */
  readonly installed: readonly InstalledTool[];
}

export interface InstalledTool {
  readonly source: ToolSource;
  /** Where it is once it is installed; null: not yet known. */
  readonly path: () => string | null;
  /** Null, or why it did not work; left out where the set-up does not install it. May throw SetupError. */
  readonly install?: () => Promise<string | null>;
}

/**
 * The one that the variable names, else the first on PATH that can be used, else what an earlier run installed, else
 * what is installed now. Returns in words why there is none: whoever can do without says so and goes on.
 *
 * @throws {SetupError} when the variable names something that cannot be used, or by an installation
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
    reason = failure ?? "what was installed does not run here";
  }
  return reason;
}

async function findNamed({ env }: ToolContext, { variable, check }: WantedTool): Promise<Tool | null> {
  const named = variable === null ? "" : (env[variable] ?? "");
  if (named === "") return null;
  // A bare name is one of PATH's, as in a shell.
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
