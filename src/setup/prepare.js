import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureBuild } from "./build.js";
import { withLock } from "./lock.js";
import { ensurePackages } from "./packages.js";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url)).replace(/[/\\]$/, "");

/** Where the set-up keeps what it installs for this clone alone. */
const TOOLS = join(ROOT, ".tools");

/**
 * npm packages and `dist`, as this checkout wants them. Only one process at a time works on a clone; the others wait.
 *
 * @returns {Promise<void>}
 * @throws {import("./setup-error.js").SetupError}
 */
export async function prepareClone() {
  await withSetupLock(async () => {
    await ensurePackages(ROOT);
    await ensureBuild(ROOT);
  });
}

/**
 * Runs `work` while no other set-up of this clone runs.
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
