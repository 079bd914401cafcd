import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateMessages } from "./messages.js";
import { MINIMUM_NODE } from "./node-version.js";
import { withProgress } from "./progress.js";
import { runCommand } from "./run-command.js";
import { SetupError } from "./setup-error.js";

const STAMP = ".build-stamp";
/** Modules of `src` that a process or a thread loads by path. All others are reached from these. */
const ENTRIES = [
  "main.ts",
  "data-path/settlement/tokens/tokenizer-thread.ts",
  "envoy/messages/generic-codec.ts",
];
/** Not bundled: two megabytes of vocabulary, which only the tokenizer's thread reads. */
const EXTERNAL = ["gpt-tokenizer"];
/** Files outside of `proto` and `src` that affect the output. */
const OTHER_INPUTS = ["package-lock.json", "tsconfig.json"];
/** Globals that CommonJS packages expect, and that an ES module lacks. */
const COMMONJS = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url), __dirname = import.meta.dirname;",
].join(" ");

/**
 * Replacement for esbuild's function that sets names: ours skips functions that already have the right name.
 * V8 turns a class whose name is set again into a dictionary; if it extends another class, V8 keeps
 * deoptimizing the code that instantiates it, for as long as the process runs. It also skips arrow functions
 * (without a prototype), which the request path creates often: setting a name takes a microsecond.
 */
const SET_NAME = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
const SET_NAME_IF_WRONG = SET_NAME.replace(
  "=> ",
  "=> target.prototype === undefined || target.name === value ? target : ",
);

/** Options of esbuild for modules and packages. Names are kept, because errors are distinguished by them. */
export const BUNDLE = {
  bundle: true,
  format: /** @type {const} */ ("esm"),
  platform: /** @type {const} */ ("node"),
  target: `node${MINIMUM_NODE}`,
  external: EXTERNAL,
  inject: [fileURLToPath(new URL("imported-globals.js", import.meta.url))],
  alias: { "node:http": fileURLToPath(new URL("node-http.cjs", import.meta.url)) },
  banner: { js: COMMONJS },
  keepNames: true,
  logLevel: /** @type {const} */ ("silent"),
};

/**
 * Builds `dist` if the sources have changed since the last build (by content, so that a checkout that only
 * touches files builds nothing). Bundles modules and packages into a few files, since finding and loading a
 * thousand would take most of a process's start; modules loaded by `import()` stay separate. Builds into a
 * draft that replaces the output at once, so a crash never leaves a mixture. Does not check types: that takes
 * ten times as long and needs a compiler that only developers have.
 *
 * @param {string} root the repository
 * @returns {Promise<"built" | "unchanged">}
 * @throws {SetupError} if the sources do not compile; its message has the compiler's output
 */
export async function ensureBuild(root) {
  const output = join(root, "dist");
  if (readStamp(output) === hashSources(root)) return "unchanged";
  await generateMessages(root);
  const stamp = hashSources(root);
  const draft = join(root, `dist.${process.pid}`);
  const former = join(root, `dist.${process.pid}.old`);
  removeDrafts(root);
  try {
    await withProgress("Building", () => bundle(root, draft));
    copyAssets(join(root, "src"), draft);
    chmodSync(join(draft, "main.js"), 0o755);
    writeFileSync(join(draft, STAMP), stamp);
    if (existsSync(output)) renameSync(output, former);
    renameSync(draft, output);
    // Node's compile cache of the previous output, see main.ts.
    rmSync(join(root, ".cache", "compiled"), { recursive: true, force: true });
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(former, { recursive: true, force: true });
  }
  return "built";
}

/**
 * @param {string} root the repository
 * @throws {SetupError} if the types of `src` are wrong; its message has the compiler's output
 */
export async function checkTypes(root) {
  await generateMessages(root);
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const check = () =>
    runCommand(process.execPath, [compiler, "-p", "src", "--pretty", "false"], { cwd: root });
  const result = await withProgress("Checking types", check);
  if (result.code === 0) return;
  throw new SetupError(`The sources do not compile:\n${result.stdout}${result.stderr}`.trimEnd());
}

/**
 * Bundles without renaming or minifying lines: a stack trace is readable without a map, and names the source
 * with `node --enable-source-maps`.
 *
 * @param {string} root
 * @param {string} draft
 */
async function bundle(root, draft) {
  // Imported here, because the packages may have been installed by this process.
  const { build, stop } = await import("esbuild");
  try {
    await build({
      ...BUNDLE,
      absWorkingDir: root,
      entryPoints: ENTRIES.map((path) => join("src", path)),
      outbase: "src",
      outdir: draft,
      splitting: true,
      sourcemap: true,
      sourcesContent: false,
    });
    skipRightNames(draft);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(`The sources do not compile:\n${String(error)}`, { cause: error });
  } finally {
    await stop();
  }
}

/**
 * Replaces esbuild's function by ours, in the one module that has it.
 *
 * @param {string} draft the directory of modules as esbuild wrote them
 * @throws {SetupError} if that function is not written as expected
 */
export function skipRightNames(draft) {
  const modules = readdirSync(draft).filter((name) => name.endsWith(".js"));
  let setsNames = false;
  let isReplaced = false;
  for (const file of modules.map((name) => join(draft, name))) {
    const code = readFileSync(file, "utf8");
    setsNames ||= code.includes("__name(");
    if (!code.includes(SET_NAME)) continue;
    isReplaced = true;
    writeFileSync(file, code.replace(SET_NAME, SET_NAME_IF_WRONG));
  }
  if (setsNames && !isReplaced) {
    throw new SetupError(
      "This esbuild writes its function that keeps names in other words than src/operation/setup/build.js looks for (SET_NAME). Without ours in its place every request is slower: put the new words there.",
    );
  }
}

/**
 * Copies files that are not modules (Lua scripts, pages, templates) to the same place. The setup's own
 * programs run from source.
 *
 * @param {string} source
 * @param {string} draft
 */
function copyAssets(source, draft) {
  for (const path of listFiles(source)) {
    const isModule = [".ts", ".tsx"].includes(extname(path)) || dirname(path) === join("operation", "setup");
    if (isModule || path === "tsconfig.json") continue;
    const target = join(draft, path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(source, path), target);
  }
}

/**
 * @param {string} root
 * @returns {string} hash of names and contents of all files that affect the output
 */
function hashSources(root) {
  const hash = createHash("sha256");
  const folders = ["proto", "src"];
  const inputs = folders.flatMap((folder) => listFiles(join(root, folder)).map((path) => join(folder, path)));
  inputs.push(...OTHER_INPUTS);
  for (const path of inputs) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/**
 * @param {string} folder
 * @returns {string[]} relative paths of all files in it, in a fixed order
 */
function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

/** @param {string} output */
function readStamp(output) {
  const path = join(output, STAMP);
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/**
 * Removes drafts of killed builds; call with the setup's lock.
 *
 * @param {string} root
 */
function removeDrafts(root) {
  for (const name of readdirSync(root)) {
    if (/^dist\.\d+(\.old)?$/.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
}
