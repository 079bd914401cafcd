import { findOnPath } from "../../../src/operation/setup/find-executable.ts";
import { withProgress } from "../../../src/operation/setup/progress.js";
import { lastLine } from "../../../src/operation/setup/run-command.js";
import type { ToolContext } from "../../../src/operation/setup/tool-context.ts";

/** A mirror that does not answer must not hold the tests up. */
export const APT_OPTIONS = ["-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"];

/** Installs packages of Debian, of which none has a service that starts with the machine. Null, or why it did not work. */
export async function installDebianPackages(
  context: ToolContext,
  packages: readonly string[],
): Promise<string | null> {
  const apt = findOnPath("apt-get", context.env);
  if (!context.isRoot || apt === null) return "it is not on PATH, and this user can't install it";
  const env = { ...context.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = async () => {
    // Lists may be missing or old; when they cannot be fetched, the install decides by itself.
    await context.run(apt, ["update", "-qq", ...APT_OPTIONS], { env, timeoutMs: 120_000 });
    const wanted = ["install", "-y", "-qq", ...APT_OPTIONS, "--no-install-recommends", ...packages];
    return context.run(apt, wanted, { env, timeoutMs: 600_000 });
  };
  const task = `Installing Debian's ${packages.join(" and ")}`;
  const result = await withProgress(task, install, { write: context.progress });
  return result.code === 0 ? null : lastLine(result);
}
