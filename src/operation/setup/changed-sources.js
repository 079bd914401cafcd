import { extname } from "node:path";
import { runCommand } from "./run-command.js";

const EXTENSIONS = new Set([".ts", ".tsx", ".js", ".mjs"]);
/** What the work is compared with: the first that exists. */
const BASES = ["origin/main", "main"];
/** More than this is as good as everything. */
const MAX_FILES = 500;

/**
 * Lists source files that differ from the branch that this work will join: commits of its own, uncommitted changes and
 * new files. Null when git cannot tell, or when there are too many of them to be a part.
 *
 * @param {string} root the repository
 * @returns {Promise<{base: string, files: readonly string[]} | null>}
 */
export async function listChangedSources(root) {
  for (const base of BASES) {
    const forkPoint = await git(root, ["merge-base", "HEAD", base]);
    if (forkPoint === null) continue;
    const changed = await git(root, ["diff", "--name-only", "--diff-filter=d", "-z", forkPoint.trim()]);
    const added = await git(root, ["ls-files", "--others", "--exclude-standard", "-z"]);
    if (changed === null || added === null) return null;
    const files = `${changed}${added}`.split("\0").filter((path) => EXTENSIONS.has(extname(path)));
    return files.length <= MAX_FILES ? { base, files } : null;
  }
  return null;
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 * @returns {Promise<string | null>} what git wrote, or null when it failed
 */
async function git(root, args) {
  const { code, stdout } = await runCommand("git", args, { cwd: root });
  return code === 0 ? stdout : null;
}
