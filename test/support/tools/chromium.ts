import { findOnPath } from "../../../src/setup/find-executable.ts";
import { findTool } from "../../../src/setup/find-tool.ts";
import type { Tool, ToolContext } from "../../../src/setup/tool-context.ts";
import { installDebianPackages } from "./debian-packages.ts";

const DEBIAN_PROGRAM = "chromium";
const PROGRAMS = [DEBIAN_PROGRAM, "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/**
 * A Chromium for the tests of the dashboard: CHROMIUM_BIN, else PATH, else Debian's package where this user may install
 * it. Null: there is none, and those tests are skipped; everything else is tested without it.
 *
 * @throws {SetupError} when CHROMIUM_BIN names something that does not run
 */
export async function findChromium(context: ToolContext): Promise<Tool | null> {
  const found = await findTool(context, {
    variable: "CHROMIUM_BIN",
    programs: PROGRAMS,
    check: async (path) => ((await runsHere(context, path)) ? null : "is not a Chromium that runs"),
    installed: [
      {
        source: "debian",
        path: () => findOnPath(DEBIAN_PROGRAM, context.env),
        install: () => installDebianPackages(context, [DEBIAN_PROGRAM]),
      },
    ],
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
