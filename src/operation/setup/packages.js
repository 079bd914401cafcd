import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withProgress } from "./progress.js";
import { lastLine, runCommand } from "./run-command.js";
import { SetupError } from "./setup-error.js";

/**
 * @typedef {{version?: string, link?: boolean, optional?: boolean, dev?: boolean, devOptional?: boolean}} LockedPackage
 * @typedef {{packages?: Record<string, LockedPackage>}} LockFile
 */

/** Package of the client SDKs for Node: half of all packages, which only tests of clients need. */
export const NODE_SDKS = "test/clients";

/**
 * Installs the client SDKs for Node, which have a separate package.json.
 *
 * @param {string} root the repository
 * @param {(line: string) => void} [write] prints progress, instead of stderr
 * @returns {Promise<void>}
 * @throws {SetupError} if npm is missing or fails
 */
export async function ensureNodeSdks(root, write) {
  await ensurePackages(join(root, NODE_SDKS), { task: "Installing the client SDKs for Node", write });
}

/**
 * @param {string} root the repository
 * @returns {boolean} whether the client SDKs for Node were installed once, possibly in other versions
 */
export function hasNodeSdks(root) {
  return readLockFile(join(root, NODE_SDKS, "node_modules", ".package-lock.json")) !== null;
}

/**
 * Installs `node_modules` according to package-lock.json: by `npm ci` if it is missing, incomplete or from
 * another lock file. If nothing has changed it reads two files and starts nothing.
 *
 * @param {string} root the directory of package.json
 * @param {{development?: boolean, task?: string, write?: ((line: string) => void) | undefined}} [options]
 * `development`: with the packages that only developers need, true by default. A clone that has some of these
 * keeps them. `task` and `write`: as of `withProgress`.
 * @returns {Promise<void>}
 * @throws {SetupError} if npm is missing or fails
 */
export async function ensurePackages(
  root,
  { development = true, task = "Installing npm packages", write } = {},
) {
  const locked = readLockFile(join(root, "package-lock.json"));
  const installed = readLockFile(join(root, "node_modules", ".package-lock.json"));
  if (locked === null) throw new SetupError("package-lock.json is missing or broken: restore it from git.");
  if (installed !== null && isInstalled(locked, installed, development)) return;
  const withDevelopment = development || (installed !== null && hasDevelopment(installed));
  const install = () => installPackages(root, withDevelopment);
  const result = await withProgress(task, install, write === undefined ? {} : { write });
  if (result.code === 0) return;
  throw new SetupError(
    `npm could not install the packages (${describeNpmFailure(result)}): see that npm is installed and reaches its registry, then start again.`,
  );
}

/**
 * @param {string} root
 * @param {boolean} development
 */
async function installPackages(root, development) {
  // Explicit in both cases, since NODE_ENV and npm's configuration may differ.
  const options = [
    development ? "--include=dev" : "--omit=dev",
    // No package needs its install script, and a compromised package would run its own with the developer's
    // rights.
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
  ];
  const result = await runCommand("npm", ["ci", ...options], { cwd: root });
  if (result.code === 0 || !lacksOnlyUnavailable(result.stderr)) return result;
  return runCommand("npm", ["install", "--no-save", ...options], { cwd: root });
}

/**
 * Returns whether `npm ci` failed only because the lock file lacks packages that the registry lacks as well.
 * npm 11 does so for optional packages of other platforms if a mirror has only some of them; npm 10 does not.
 * Its message then has no versions. `npm install --no-save` uses the lock file's versions and leaves it
 * unchanged. For a lock file that is really out of date the message has versions, or an `Invalid:` line.
 *
 * @param {string} stderr
 * @returns {boolean}
 */
export function lacksOnlyUnavailable(stderr) {
  const complaints = stderr.split("\n").filter((line) => /^npm (error|ERR!) (Missing|Invalid): /.test(line));
  return complaints.length > 0 && complaints.every((line) => / Missing: \S+@ from lock file$/.test(line));
}

/**
 * Returns whether npm's record in `node_modules` matches the lock file. npm writes the record last, so an
 * interrupted installation has none. Optional packages of other platforms may be missing, and additional ones
 * are harmless.
 *
 * @param {LockFile} locked package-lock.json
 * @param {LockFile} installed node_modules/.package-lock.json
 * @param {boolean} development whether the packages that only developers need are wanted
 * @returns {boolean}
 */
export function isInstalled(locked, installed, development) {
  return Object.entries(locked.packages ?? {}).every(([path, wanted]) => {
    if (path === "" || (wanted.dev === true && !development)) return true;
    const present = installed.packages?.[path];
    if (present === undefined) return wanted.optional === true || wanted.devOptional === true;
    return present.version === wanted.version;
  });
}

/** @param {LockFile} installed */
function hasDevelopment(installed) {
  return Object.values(installed.packages ?? {}).some(({ dev }) => dev === true);
}

/**
 * @param {string} path
 * @returns {LockFile | null}
 */
function readLockFile(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

/**
 * Returns the line of npm's output with the error, without a full stop.
 *
 * @param {import("./run-command.js").CommandResult} result
 * @returns {string}
 */
export function describeNpmFailure(result) {
  const errors = result.stderr
    .split("\n")
    .filter((line) => /^npm (error|ERR!)/.test(line))
    .map((line) => line.replace(/^npm (error|ERR!)/, "").trim());
  const message = errors.find((line) => line !== "" && !/^(code|errno|syscall) /.test(line));
  return (message ?? lastLine(result)).replace(/[.:]$/, "");
}
