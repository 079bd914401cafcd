import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { withProgress } from "../../../src/operation/setup/progress.js";
import { findPython, pipEnvironment } from "../../../src/operation/setup/python.ts";
import { lastLine } from "../../../src/operation/setup/run-command.js";
import { SetupError } from "../../../src/operation/setup/setup-error.js";
import type { ToolContext } from "../../../src/operation/setup/tool-context.ts";

/** What the oldest of the packages in the requirements file asks for. */
const MINIMUM_MINOR = 10;
const INSTEAD =
  "install Python 3.10 or newer with venv and pip (Debian: python3-venv), and see that pip reaches its index.";

/** What a file of older packages, beside the requirements file, is called. */
const OLDER = /^requirements-(.+)\.txt$/;

/**
 * The Python of the client tests: a virtual environment in `.tools/python` with what the requirements file pins. What
 * a `requirements-NAME.txt` beside it pins is put into `.tools/python/older/NAME`, for a script that is told to look
 * there first. All is made anew when one of the files changes. Returns the interpreter's path.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function ensureClientPython(context: ToolContext, requirementsFile: string): Promise<string> {
  const environment = join(context.toolsDir, "python");
  const interpreter = join(environment, "bin", "python");
  const stamp = join(environment, ".requirements");
  const older = findOlder(requirementsFile);
  const wanted = hashFiles([requirementsFile, ...older.map(({ file }) => file)]);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && existsSync(interpreter)) {
    return interpreter;
  }
  const python = await findPython(context, MINIMUM_MINOR);
  if (python === null) throw new SetupError(`The client tests need Python: ${INSTEAD}`);
  rmSync(environment, { recursive: true, force: true });
  const install = async () => {
    let failure = await installRequirements(context, python, environment, requirementsFile);
    for (const { name, file } of older) {
      failure ??= await installInto(context, interpreter, join(environment, "older", name), file);
    }
    if (failure !== null) {
      throw new SetupError(`The Python SDKs could not be installed (${failure}): ${INSTEAD}`);
    }
  };
  const task = "Installing the Python SDKs for the client tests";
  await withProgress(task, install, { write: context.progress });
  // Written last: an environment that was cut short has none and is made anew.
  writeFileSync(stamp, wanted);
  return interpreter;
}

/** Null when all went well, else what pip said. */
async function installRequirements(
  context: ToolContext,
  python: string,
  environment: string,
  requirementsFile: string,
): Promise<string | null> {
  const env = pipEnvironment(context.env);
  const venv = await context.run(python, ["-m", "venv", environment], { timeoutMs: 120_000 });
  if (venv.code === 0) {
    const inside = join(environment, "bin", "python");
    const result = await context.run(inside, ["-m", "pip", "install", "--quiet", "-r", requirementsFile], {
      env,
    });
    return result.code === 0 ? null : lastLine(result);
  }
  rmSync(environment, { recursive: true, force: true });
  const packages = join(environment, "packages");
  const failure = await installInto(context, python, packages, requirementsFile);
  if (failure === null) writeWrapper(environment, python, packages);
  return failure;
}

/** Packages by themselves in a directory. Null when all went well, else what pip said. */
async function installInto(
  context: ToolContext,
  python: string,
  directory: string,
  requirementsFile: string,
): Promise<string | null> {
  const args = ["-m", "pip", "install", "--quiet", "--target", directory, "-r", requirementsFile];
  const result = await context.run(python, args, { env: pipEnvironment(context.env) });
  return result.code === 0 ? null : lastLine(result);
}

function findOlder(requirementsFile: string): { readonly name: string; readonly file: string }[] {
  const directory = dirname(requirementsFile);
  return readdirSync(directory)
    .sort()
    .flatMap((entry) => {
      const name = OLDER.exec(entry)?.[1];
      return name === undefined ? [] : [{ name, file: join(directory, entry) }];
    });
}

function hashFiles(files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

/** Where there is no venv (Debian without python3-venv): a program of the same name that finds the packages. */
function writeWrapper(environment: string, python: string, packages: string): void {
  const path = `"\${PYTHONPATH:+$PYTHONPATH:}"'${packages}'`;
  const text = `#!/bin/sh\nPYTHONPATH=${path} exec '${python}' "$@"\n`;
  mkdirSync(join(environment, "bin"), { recursive: true });
  writeFileSync(join(environment, "bin", "python"), text, { mode: 0o755 });
}
