import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "../../../src/operation/setup/find-executable.ts";
import { findTool } from "../../../src/operation/setup/find-tool.ts";
import { withProgress } from "../../../src/operation/setup/progress.js";
import { lastLine } from "../../../src/operation/setup/run-command.js";
import type { Tool, ToolContext } from "../../../src/operation/setup/tool-context.ts";

const MODULE = "helm.sh/helm/v4/cmd/helm@v4.3.1";
const FOLDER = "helm-4.3.1";
/** A cold build takes two minutes on two cores. */
const BUILD_TIMEOUT_MS = 900_000;

/**
 * Helm for the tests of the chart: HELM_BIN, else PATH, else what an earlier run built, else built with Go where there
 * is one, into this clone's `.tools`. Null: there is none, and those tests are skipped; everything else is tested
 * without it.
 *
 * @throws {SetupError} when HELM_BIN names something that does not run
 */
export async function findHelm(context: ToolContext): Promise<Tool | null> {
  const folder = join(context.toolsDir, FOLDER);
  const found = await findTool(context, {
    variable: "HELM_BIN",
    programs: ["helm"],
    check: async (path) => ((await runsHere(context, path)) ? null : "is not a Helm that runs"),
    installed: [{ source: "built", path: () => join(folder, "helm"), install: () => build(context, folder) }],
  });
  if (typeof found !== "string") return found;
  context.notice(
    `There is no Helm (${found}): the tests of the chart are skipped. Install it, or set HELM_BIN.`,
  );
  return null;
}

/** Null, or why it did not work. */
async function build(context: ToolContext, folder: string): Promise<string | null> {
  const go = findOnPath("go", context.env);
  if (go === null) return "it is not on PATH, and there is no Go to build it with";
  mkdirSync(folder, { recursive: true });
  const env = { ...context.env, GOBIN: folder, CGO_ENABLED: "0" };
  const install = () => context.run(go, ["install", MODULE], { env, timeoutMs: BUILD_TIMEOUT_MS });
  const result = await withProgress("Building Helm", install, { write: context.progress });
  return result.code === 0 ? null : lastLine(result);
}

async function runsHere(context: ToolContext, path: string): Promise<boolean> {
  return (await context.run(path, ["version"], { timeoutMs: 20_000 })).code === 0;
}
