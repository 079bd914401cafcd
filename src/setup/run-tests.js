import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs vitest with its usual output and closes with one plain line that says how it went.
 *
 * @param {string} root the repository
 * @param {readonly string[]} args for vitest
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} exit code: 0 when tests ran and none failed
 */
export async function runTests(root, args, env) {
  const folder = mkdtempSync(join(tmpdir(), "igw-tests-"));
  const report = join(folder, "report.json");
  try {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    const code = await runForeground([vitest, "run", ...reporters, ...args], root, env);
    const line = formatClosingLine(readReport(report));
    process.stdout.write(`\n${line ?? "0 passed, 1 failed"}\n`);
    return line === null ? 1 : code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * `N passed, N failed[, N skipped]`. A test file that could not even be loaded counts as one failure: its tests are
 * not in the totals. Null when vitest wrote no report.
 *
 * @param {VitestReport | null} report
 * @returns {string | null}
 */
export function formatClosingLine(report) {
  if (report === null) return null;
  const unloaded = report.testResults.filter(
    (file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  const failed = report.numFailedTests + unloaded.length;
  const skipped = report.numPendingTests + (report.numTodoTests ?? 0);
  return `${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/**
 * What is read of vitest's JSON report.
 *
 * @typedef {object} VitestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} [numTodoTests]
 * @property {readonly {status: string, assertionResults: readonly unknown[]}[]} testResults
 */

/**
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>}
 */
function runForeground(args, cwd, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: "inherit" });
    // The terminal sends its signals to vitest as well: this process stays for the closing line.
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
      process.on(signal, () => child.kill(signal));
    }
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/**
 * @param {string} path
 * @returns {VitestReport | null}
 */
function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
