import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withProgress } from "./progress.js";
import { findPython, pipEnvironment } from "./python.ts";
import { lastLine } from "./run-command.js";
import { SetupError } from "./setup-error.js";
import type { ToolContext } from "./tool-context.ts";

/** What the oldest of the packages in the requirements file asks for. */
const MINIMUM_MINOR = 10;
const INSTEAD =
  "install Python 3.10 or newer with venv and pip (Debian: python3-venv), and see that pip reaches its index.";

/**
 * The Python of the client tests: a virtual environment in `.tools/python` with what the requirements file pins,
 * made anew when that file changes. Returns the interpreter's path.
 *
 * @throws {SetupError} one sentence that says what to install
 */
export async function ensureClientPython(context: ToolContext, requirementsFile: string): Promise<string> {
  const environment = join(context.toolsDir, "python");
  const interpreter = join(environment, "bin", "python");
  const stamp = join(environment, ".requirements");
  const wanted = createHash("sha256").update(readFileSync(requirementsFile)).digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted && existsSync(interpreter)) {
    return interpreter;
  }
  const python = await findPython(context, MINIMUM_MINOR);
  if (python === null) throw new SetupError(`The client tests need Python: ${INSTEAD}`);
  rmSync(environment, { recursive: true, force: true });
  await withProgress("Installing the Python SDKs for the client tests", async () => {
    const failure = await installRequirements(context, python, environment, requirementsFile);
    if (failure !== null) {
      throw new SetupError(`The Python SDKs could not be installed (${failure}): ${INSTEAD}`);
    }
  });
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
  const args = ["-m", "pip", "install", "--quiet", "--target", packages, "-r", requirementsFile];
  const result = await context.run(python, args, { env });
  if (result.code !== 0) return lastLine(result);
  writeWrapper(environment, python, packages);
  return null;
}

/** Where there is no venv (Debian without python3-venv): a program of the same name that finds the packages. */
function writeWrapper(environment: string, python: string, packages: string): void {
  const text = `#!/bin/sh\nPYTHONPATH='${packages}' exec '${python}' "$@"\n`;
  mkdirSync(join(environment, "bin"), { recursive: true });
  writeFileSync(join(environment, "bin", "python"), text, { mode: 0o755 });
}
