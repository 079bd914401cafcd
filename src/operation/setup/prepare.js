import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBuild } from "./build.js";
import { withLock } from "./lock.js";
import { ensurePackages } from "./packages.js";

/** Directory of the repository. */
export const ROOT = fileURLToPath(new URL("../../../", import.meta.url)).replace(/[/\\]$/, "");

/** Directory of this clone's installed tools. */
const TOOLS = join(ROOT, ".tools");

/**
 * Installs npm packages and builds `dist` for this checkout. Only one process at a time works on a clone;
 * others wait.
 *
 * @param {{development?: boolean, demoTools?: boolean}} [options] `development` as of `ensurePackages`;
 * `demoTools`: at the same time, Envoy and Redis are installed if they are missing
 * @returns {Promise<void>}
 * @throws {import("./setup-error.js").SetupError}
 */
export async function prepareClone({ development = true, demoTools = false } = {}) {
  await withSetupLock(async () => {
    const tools = demoTools ? installTools() : null;
    await ensurePackages(ROOT, { development });
    await ensureBuild(ROOT);
    await tools;
  });
}

/** @returns {Promise<void>} resolves in any case: missing tools are installed later */
function installTools() {
  // Node 22 strips types only on request, with a warning.
  const options = ["--experimental-strip-types", "--disable-warning=ExperimentalWarning"];
  const program = fileURLToPath(new URL("install-tools.ts", import.meta.url));
  const child = spawn(process.execPath, [...options, program], { stdio: ["ignore", "inherit", "inherit"] });
  return new Promise((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
}

/**
 * Runs `work` while no other setup of this clone runs.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export function withSetupLock(work) {
  return withLock(join(TOOLS, "setup.lock"), work, {
    onWait: (holder) => void process.stderr.write(`Waiting for another set-up (process ${holder.pid}) …\n`),
  });
}
