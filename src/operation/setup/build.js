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
import { MINIMUM_NODE } from "./node-version.js";
import { withProgress } from "./progress.js";
import { runCommand } from "./run-command.js";
import { SetupError } from "./setup-error.js";

const STAMP = ".build-stamp";
/** What is loaded by its path, by a process or a thread, below `src`. Everything else is reached from these. */
const ENTRIES = [
  "main.ts",
  "data-path/settlement/tokens/tokenizer-thread.ts",
  "envoy/messages/generic-codec.ts",
];
/** Not taken into the bundle: two megabytes of vocabulary, which only the tokenizer's thread reads. */
const APART = ["gpt-tokenizer"];
/** Files beside `src` that the output depends on. */
const OTHER_INPUTS = ["package-lock.json", "tsconfig.json"];
/** What packages in CommonJS take for given, and an ES module does not have. */
const COMMONJS = [
  'import { createRequire as createRequireOfBundle } from "node:module";',
  "const require = createRequireOfBundle(import.meta.url), __dirname = import.meta.dirname;",
].join(" ");

/**
 * esbuild's function that keeps a name, and ours, which sets none on what has the right one already. A class whose name is
 * set anew is a dictionary from then on: where it extends another one, V8 gives up each time it compiles who makes objects
 * of it, and begins again, for as long as the process runs. Nor on arrow functions (they have no prototype), which are made
 * anew wherever the path of a request has one: each takes a microsecond.
 */
const KEEP_NAME = 'var __name = (target, value) => __defProp(target, "name", { value, configurable: true });';
const KEEP_NAME_IF_WRONG = KEEP_NAME.replace(
  "=> ",
  "=> target.prototype === undefined || target.name === value ? target : ",
);

/** How esbuild makes a program of modules and packages. Names stay: errors are told apart by them. */
export const BUNDLE = {
  bundle: true,
  format: /** @type {const} */ ("esm"),
  platform: /** @type {const} */ ("node"),
  target: `node${MINIMUM_NODE}`,
  external: APART,
  inject: [fileURLToPath(new URL("imported-globals.js", import.meta.url))],
  alias: { "node:http": fileURLToPath(new URL("node-http.cjs", import.meta.url)) },
  banner: { js: COMMONJS },
  keepNames: true,
  logLevel: /** @type {const} */ ("silent"),
};

/**
 * Makes `dist` what the sources say: nothing when they are those of the last build (by content, so that a checkout
 * that only touches files builds nothing). Modules and packages are put together into few files, since to find and load
 * a thousand is most of what the start of a process takes; what a command or process loads by `import()` stays apart.
 * The new output is made beside and swapped in whole, so a crash leaves either the old output or none, never a mixture.
 * Types are not checked: that takes ten times as long and a compiler, which only developers have.
 *
 * @param {string} root the repository
 * @returns {Promise<"built" | "unchanged">}
 * @throws {SetupError} when the sources do not compile; its message holds the compiler's output
 */
export async function ensureBuild(root) {
  const stamp = hashSources(root);
  const output = join(root, "dist");
  if (readStamp(output) === stamp) return "unchanged";
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
    // What Node compiled of the former output, see main.ts.
    rmSync(join(root, ".cache", "compiled"), { recursive: true, force: true });
  } finally {
    rmSync(draft, { recursive: true, force: true });
    rmSync(former, { recursive: true, force: true });
  }
  return "built";
}

/**
 * @param {string} root the repository
 * @throws {SetupError} when the types of `src` do not fit; its message holds the compiler's output
 */
export async function checkTypes(root) {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const check = () =>
    runCommand(process.execPath, [compiler, "-p", "src", "--pretty", "false"], { cwd: root });
  const result = await withProgress("Checking types", check);
  if (result.code === 0) return;
  throw new SetupError(`The sources do not compile:\n${result.stdout}${result.stderr}`.trimEnd());
}

/**
 * Names stay as they are, and so do lines: a stack trace is read without a map, and with `node --enable-source-maps` it
 * names the source.
 *
 * @param {string} root
 * @param {string} draft
 */
async function bundle(root, draft) {
  // Only here: the packages may have been installed by this very process.
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
    leaveRightNames(draft);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    throw new SetupError(`The sources do not compile:\n${String(error)}`, { cause: error });
  } finally {
    await stop();
  }
}

/**
 * Puts our function in the place of esbuild's, in the one module that has it.
 *
 * @param {string} draft the folder of modules as esbuild wrote them
 * @throws {SetupError} when names are kept by a function that is not written as it was
 */
export function leaveRightNames(draft) {
  const modules = readdirSync(draft).filter((name) => name.endsWith(".js"));
  let keepsNames = false;
  let isReplaced = false;
  for (const file of modules.map((name) => join(draft, name))) {
    const code = readFileSync(file, "utf8");
    keepsNames ||= code.includes("__name(");
    if (!code.includes(KEEP_NAME)) continue;
    isReplaced = true;
    writeFileSync(file, code.replace(KEEP_NAME, KEEP_NAME_IF_WRONG));
  }
  if (keepsNames && !isReplaced) {
    throw new SetupError(
      "This esbuild writes its function that keeps names in other words than src/operation/setup/build.js looks for (KEEP_NAME). Without ours in its place every request is slower: put the new words there.",
    );
  }
}

/**
 * What is no module (Lua scripts, pages, templates) is copied as it is, to the same place. The set-up's own programs work
 * on the sources.
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
 * @returns {string} hash of names and contents of all that the output depends on
 */
function hashSources(root) {
  const hash = createHash("sha256");
  const source = join(root, "src");
  const inputs = [...listFiles(source).map((path) => join("src", path)), ...OTHER_INPUTS];
  for (const path of inputs) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/**
 * @param {string} folder
 * @returns {string[]} paths of all files in it, relative to it, in a fixed order
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
 * Called under the set-up's lock: whatever draft is here was left by a build that was killed.
 *
 * @param {string} root
 */
function removeDrafts(root) {
  for (const name of readdirSync(root)) {
    if (/^dist\.\d+(\.old)?$/.test(name)) rmSync(join(root, name), { recursive: true, force: true });
  }
}
