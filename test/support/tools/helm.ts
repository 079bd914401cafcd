import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "../../../src/setup/find-executable.ts";
import { withProgress } from "../../../src/setup/progress.js";
import { lastLine } from "../../../src/setup/run-command.js";
import type { ToolContext } from "../../../src/setup/tool-context.ts";

const MODULE = "helm.sh/helm/v4/cmd/helm@v4.3.1";
const FOLDER = "helm-4.3.1";
/** A cold build takes two minutes on two cores. */
const BUILD_TIMEOUT_MS = 900_000;

/**
 * Helm for the tests of the chart: HELM_BIN, else PATH, else what an earlier run built, else built with Go where there
 * is one, into this clone's `.tools`. Null: there is none, and those tests are skipped; everything else is tested
 * without it. Returns the program's path.
 */
export async function findHelm(context: ToolContext): Promise<string | null> {
  const folder = join(context.toolsDir, FOLDER);
  const candidates = [
    context.env["HELM_BIN"] ?? "",
    findOnPath("helm", context.env) ?? "",
    join(folder, "helm"),
  ];
  for (const path of candidates) {
    if (path !== "" && (await runsHere(context, path))) return path;
  }
  const reason = await build(context, folder);
  const built = join(folder, "helm");
  if (reason === null && (await runsHere(context, built))) return built;
  context.notice(
    `There is no Helm (${reason ?? "what was built does not run here"}): the tests of the chart are skipped. ` +
      "Install it, or set HELM_BIN.",
  );
  return null;
}

/** Null, or why it did not work. */
async function build(context: ToolContext, folder: string): Promise<string | null> {
  const go = findOnPath("go", context.env);
  if (go === null) return "it is not on PATH, and there is no Go to build it with";
  mkdirSync(folder, { recursive: true });
  return withProgress("Building Helm", async () => {
    const env = { ...context.env, GOBIN: folder, CGO_ENABLED: "0" };
    const result = await context.run(go, ["install", MODULE], { env, timeoutMs: BUILD_TIMEOUT_MS });
    return result.code === 0 ? null : lastLine(result);
  });
}

async function runsHere(context: ToolContext, path: string): Promise<boolean> {
  return (await context.run(path, ["version"], { timeoutMs: 20_000 })).code === 0;
}
