import { findOnPath } from "../../../src/setup/find-executable.ts";
import { withProgress } from "../../../src/setup/progress.js";
import { SetupError } from "../../../src/setup/setup-error.js";
import type { Tool, ToolContext } from "../../../src/setup/tool-context.ts";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/**
 * A Chromium for the tests of the dashboard: CHROMIUM_BIN, else PATH, else Debian's package where this user may install
 * it. Null: there is none, and those tests are skipped; everything else is tested without it.
 *
 * @throws {SetupError} when CHROMIUM_BIN names something that does not run
 */
export async function findChromium(context: ToolContext): Promise<Tool | null> {
  const named = context.env["CHROMIUM_BIN"];
  if (named !== undefined && named !== "") {
    if (await runsHere(context, named)) return { path: named, source: "environment" };
    throw new SetupError(`CHROMIUM_BIN (${named}) is not a Chromium that runs: correct or unset it.`);
  }
  const onPath = await findProgram(context);
  if (onPath !== null) return { path: onPath, source: "path" };
  const installed = await installDebian(context);
  if (installed === null) {
    context.notice(
      "There is no Chromium: the dashboard's tests in a browser are skipped. Install it, or set CHROMIUM_BIN.",
    );
  }
  return installed;
}

async function findProgram(context: ToolContext): Promise<string | null> {
  for (const program of PROGRAMS) {
    const path = findOnPath(program, context.env);
    if (path !== null && (await runsHere(context, path))) return path;
  }
  return null;
}

async function installDebian(context: ToolContext): Promise<Tool | null> {
  const apt = findOnPath("apt-get", context.env);
  if (!context.isRoot || apt === null) return null;
  const env = { ...context.env, DEBIAN_FRONTEND: "noninteractive" };
  await withProgress("Installing Debian's chromium", async () => {
    // Lists may be missing or old; when they cannot be fetched, the install decides by itself.
    await context.run(apt, ["update", "-qq"], { env, timeoutMs: 120_000 });
    const install = ["install", "-y", "-qq", "--no-install-recommends", "chromium"];
    return context.run(apt, install, { env, timeoutMs: 600_000 });
  });
  const path = await findProgram(context);
  return path === null ? null : { path, source: "debian" };
}

async function runsHere(context: ToolContext, path: string): Promise<boolean> {
  const { code, stdout } = await context.run(path, ["--version"], { timeoutMs: 20_000 });
  return code === 0 && /Chrom/.test(stdout);
}
