import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SUMMARY_FILE } from "./summary-reporter.js";

/**
 * The projects whose coverage has floors (`coverage` of vitest.config.ts): they run the path of a request and of money in
 * their own process, where it can be measured.
 */
const MEASURED_PROJECTS = ["unit", "store"];

/** Most others of vitest.config.ts. By name: of several `--project=!name`, vitest 4.1 takes what any one of them allows. */
const OTHER_PROJECTS = ["cluster", "admin", "system", "dashboard", "packaging"];

/**
 * At the same time, each in a run of its own, since vitest gives projects that run at once the same processes. The load of a
 * fault is the only one on the machine; in the minutes in which it waits for deadlines, and beside it, others wait as well.
 */
const PROJECTS_THAT_WAIT = ["faults", "waiting"];

/**
 * How vitest ended once.
 *
 * @typedef {object} TestRun
 * @property {number} code its exit code
 * @property {boolean} interrupted this process was told to end meanwhile
 * @property {import("./summary-reporter.js").TestSummary | null} summary null: it ended without one
 * @property {string} output what it wrote and was not shown
 */

/** @type {import("./summary-reporter.js").TestSummary} */
const NOTHING_RAN = { passed: 0, failed: 0, skipped: 0, retried: [] };
const NO_SUMMARY = { ...NOTHING_RAN, failed: 1 };

/**
 * Runs vitest with its usual output and closes with plain lines that say how it went. Of runs at the same time the first one
 * writes to the terminal; what the others wrote comes after it, each as a whole.
 *
 * @param {string} root the repository
 * @param {readonly string[]} args for vitest
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<number>} exit code: 0 when tests ran and none failed
 */
export async function runTests(root, args, env) {
  /** @type {TestRun[]} */
  const ended = [];
  for (const runsAtOnce of planRuns(args)) {
    const starts = runsAtOnce.map((runArgs, index) =>
      runVitest(root, runArgs, env, { isShown: index === 0 }),
    );
    const runs = await Promise.all(starts);
    for (const { output } of runs) process.stdout.write(output);
    ended.push(...runs);
    if (runs.some(({ interrupted }) => interrupted)) break;
  }
  const summary = addUp(ended);
  process.stdout.write(`\n${formatClosing(summary)}\n`);
  return summary.failed === 0 ? 0 : 1;
}

/**
 * Every test once. Those whose coverage is measured come first and by themselves: vitest measures all projects of a run or
 * none. What is asked for with arguments is a part of the tests, whose coverage says nothing.
 *
 * @param {readonly string[]} args
 * @returns {readonly (readonly (readonly string[])[])[]} one after the other, runs of vitest at the same time: the arguments
 *   of each
 */
export function planRuns(args) {
  if (args.length > 0) return [[args]];
  return [
    [[...MEASURED_PROJECTS.map(selectProject), "--coverage"]],
    [OTHER_PROJECTS.map(selectProject)],
    PROJECTS_THAT_WAIT.map((project) => [selectProject(project)]),
  ];
}

/** @param {string} project */
function selectProject(project) {
  return `--project=${project}`;
}

/**
 * @param {readonly Pick<TestRun, "code" | "summary">[]} runs
 * @returns {import("./summary-reporter.js").TestSummary} a run that ended badly though none of its tests failed counts as
 *   one that did: its coverage is below a floor, something was thrown outside of a test, or vitest itself died
 */
export function addUp(runs) {
  return runs.reduce((total, { code, summary }) => addRun(total, code, summary ?? NO_SUMMARY), NOTHING_RAN);
}

/**
 * @param {import("./summary-reporter.js").TestSummary} total
 * @param {number} code
 * @param {import("./summary-reporter.js").TestSummary} summary
 * @returns {import("./summary-reporter.js").TestSummary}
 */
function addRun(total, code, { passed, failed, skipped, retried }) {
  return {
    passed: total.passed + passed,
    failed: total.failed + (code !== 0 && failed === 0 ? 1 : failed),
    skipped: total.skipped + skipped,
    retried: [...total.retried, ...retried],
  };
}

/**
 * Which tests were tried more than once and, as the last line, `N passed, N failed[, N skipped]`.
 *
 * @param {import("./summary-reporter.js").TestSummary} summary
 * @returns {string}
 */
export function formatClosing({ passed, failed, skipped, retried }) {
  return [
    `${retried.length} retried${retried.length > 0 ? ":" : ""}`,
    ...retried.map((name) => `  ${name}`),
    `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
  ].join("\n");
}

/**
 * @param {string} root
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @param {{isShown: boolean}} options
 * @returns {Promise<TestRun>}
 */
async function runVitest(root, args, env, { isShown }) {
  const folder = mkdtempSync(join(tmpdir(), "igw-tests-"));
  const summaryFile = join(folder, "summary.json");
  const outputFile = join(folder, "output.txt");
  const output = isShown ? null : openSync(outputFile, "w");
  try {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const own = join(root, "src", "setup", "summary-reporter.js");
    const reporters = ["--reporter=default", `--reporter=${own}`];
    const runEnv = {
      ...env,
      // The set-up has just built: the stacks of the tests need not look again, each for itself.
      IGW_SKIP_BUILD: "1",
      [SUMMARY_FILE]: summaryFile,
    };
    const child = spawn(process.execPath, [vitest, "run", ...reporters, ...args], {
      cwd: root,
      env: runEnv,
      stdio: output === null ? "inherit" : ["ignore", output, output],
    });
    const end = await waitForEnd(child);
    return {
      ...end,
      summary: readSummary(summaryFile),
      output: isShown ? "" : readFileSync(outputFile, "utf8"),
    };
  } finally {
    if (output !== null) closeSync(output);
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<{code: number, interrupted: boolean}>}
 */
function waitForEnd(child) {
  return new Promise((resolve, reject) => {
    let interrupted = false;
    // The terminal sends its signals to vitest as well: this process stays for the closing lines.
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
      process.on(signal, () => {
        interrupted = true;
        child.kill(signal);
      });
    }
    child.on("error", reject);
    child.on("exit", (code) => resolve({ code: code ?? 1, interrupted }));
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
