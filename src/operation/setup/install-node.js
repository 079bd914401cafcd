/**
 * Prints the directory of a Node that is new enough, or nothing if the running Node is. Installs the default
 * Node into `.tools` once if necessary. All imports must parse on an old Node.
 */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.js";
import { DEFAULT_NODE, describeOldNode, isTooOld, MINIMUM_NODE } from "./node-version.js";
import { describeNpmFailure } from "./packages.js";
import { withProgress } from "./progress.js";
import { lastLine, runCommand } from "./run-command.js";
import { runOnAnyNode } from "./run-step.js";
import { SetupError } from "./setup-error.js";

const TOOLS = fileURLToPath(new URL("../../../.tools/", import.meta.url));

await runOnAnyNode(async () => {
  if (isTooOld(process.versions.node)) process.stdout.write(`${await ensureNode()}\n`);
});

/**
 * @returns {Promise<string>} the directory of the program
 * @throws {SetupError} if it cannot be installed
 */
async function ensureNode() {
  const wanted = DEFAULT_NODE[`${process.platform}-${process.arch}`];
  if (wanted === undefined) {
    throw createError(`there is none to install for ${process.platform} ${process.arch}`);
  }
  const folder = join(TOOLS, `node-${wanted.version}`);
  const programs = join(folder, "node_modules", ".bin");
  await withLock(join(TOOLS, "node.lock"), async () => {
    if (!existsSync(folder)) await install(wanted, folder);
  });
  process.stderr.write(
    `${describeOldNode()}: using Node ${wanted.version} (for npx, put ${programs} first on PATH).\n`,
  );
  return programs;
}

/**
 * Fills a draft directory and renames it, so that the result is complete or missing. npm compares the
 * download with the lock file's hash.
 *
 * @param {import("./node-version.js").NodePackage} wanted
 * @param {string} folder
 */
async function install({ name, version, integrity }, folder) {
  const draft = `${folder}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const manifest = { private: true, dependencies: { [name]: version } };
  const locked = { version, integrity, bin: { node: "bin/node" } };
  const packages = { "": manifest, [`node_modules/${name}`]: locked };
  writeFileSync(join(draft, "package.json"), JSON.stringify(manifest));
  writeFileSync(join(draft, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const installPackage = () => runCommand("npm", ["ci", ...options], { cwd: draft });
  const installed = await withProgress(`Installing Node ${version}`, installPackage);
  if (installed.code !== 0) {
    throw createError(`${name} could not be installed (${describeNpmFailure(installed)})`);
  }
  const started = await runCommand(join(draft, "node_modules", ".bin", "node"), ["--version"]);
  if (started.code !== 0) throw createError(`${name} does not run here (${lastLine(started)})`);
  renameSync(draft, folder);
}

/** @param {string} cause */
function createError(cause) {
  return new SetupError(`${describeOldNode()}, and ${cause}: install Node ${MINIMUM_NODE} or newer.`);
}
