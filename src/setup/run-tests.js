import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SUMMARY_FILE } from "./summary-reporter.js";

/**
 * Runs vitest with its usual output and closes with plain lines that say how it went.
 *
 * @param {string} root the repository
 * @param {readonly string[]} args for vitest
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} exit code: 0 when tests ran and none failed
 */
export async function runTests(root, args, env) {
  const folder = mkdtempSync(join(tmpdir(), "igw-tests-"));
  const summaryFile = join(folder, "summary.json");
  try {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const own = join(root, "src", "setup", "summary-reporter.js");
    const reporters = ["--reporter=default", `--reporter=${own}`];
    const code = await runForeground([vitest, "run", ...reporters, ...args], root, {
      ...env,
      [SUMMARY_FILE]: summaryFile,
    });
    const summary = readSummary(summaryFile);
    process.stdout.write(`\n${formatClosing(summary)}\n`);
    return summary === null ? 1 : code;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Which tests were tried more than once and, as the last line, `N passed, N failed[, N skipped]`.
 *
 * @param {import("./summary-reporter.js").TestSummary | null} summary null: vitest ended without one
 * @returns {string}
 */
export function formatClosing(summary) {
  if (summary === null) return "0 passed, 1 failed";
  const { passed, failed, skipped, retried } = summary;
  return [
    `${retried.length} retried${retried.length > 0 ? ":" : ""}`,
    ...retried.map((name) => `  ${name}`),
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
  ].join("\n");
}

/**
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>}
 */
function runForeground(args, cwd, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, env, stdio: "inherit" });
    // The terminal sends its signals to vitest as well: this process stays for the closing lines.
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
      process.on(signal, () => child.kill(signal));
    }
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/**
 * @param {string} path
 * @returns {import("./summary-reporter.js").TestSummary | null}
 */
function readSummary(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}
