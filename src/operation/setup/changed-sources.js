import { extname } from "node:path";
import { runCommand } from "./run-command.js";

const EXTENSIONS = new Set([".ts", ".tsx", ".js", ".mjs"]);
/** Branches to compare with: the first that exists. */
const BASES = ["origin/main", "main"];
/** With more changed files, everything counts as changed. */
const MAX_FILES = 500;

/**
 * Lists source files that differ from the branch that this work will be merged into: commits, uncommitted
 * changes and new files. Null if git fails, or if there are too many.
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
 * @returns {Promise<string | null>} output of git, or null if it failed
 */
async function git(root, args) {
  const { code, stdout } = await runCommand("git", args, { cwd: root });
  return code === 0 ? stdout : null;
}
