import { findOnPath } from "../../../src/operation/setup/find-executable.ts";
import { findTool } from "../../../src/operation/setup/find-tool.ts";
import type { Tool, ToolContext } from "../../../src/operation/setup/tool-context.ts";
import { installDebianPackages } from "./debian-packages.ts";

/** Packages of Debian, each of which has a program of its name. The first has no desktop, and takes half the CPU time. */
const DEBIAN_PACKAGES = ["chromium-headless-shell", "chromium"];
/** What it is called on PATH. */
export const CHROMIUM_PROGRAMS = [
  ...DEBIAN_PACKAGES,
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
];

/**
 * A Chromium for the tests of the dashboard: CHROMIUM_BIN, else PATH, else Debian's package where this user may install
 * it. Null: there is none, and those tests are skipped; everything else is tested without it.
 *
 * @throws {SetupError} when CHROMIUM_BIN names something that does not run
 */
export async function findChromium(context: ToolContext): Promise<Tool | null> {
  const found = await findTool(context, {
    variable: "CHROMIUM_BIN",
    programs: CHROMIUM_PROGRAMS,
    check: async (path) => ((await runsHere(context, path)) ? null : "is not a Chromium that runs"),
    installed: DEBIAN_PACKAGES.map((name) => ({
      source: "debian",
      path: () => findOnPath(name, context.env),
      install: () => installDebianPackages(context, [name]),
    })),
  });
  if (typeof found !== "string") return found;
  context.notice(
    `There is no Chromium (${found}): the dashboard's tests in a browser are skipped. Install it, or set CHROMIUM_BIN.`,
  );
  return null;
}

async function runsHere(context: ToolContext, path: string): Promise<boolean> {
  const { code, stdout } = await context.run(path, ["--version"], { timeoutMs: 20_000 });
  return code === 0 && /Chrom/.test(stdout);
}
