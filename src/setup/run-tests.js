import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withProgress } from "./progress.js";
import { describeFailure } from "./run-step.js";
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
/** @type {TestRun} */
const NO_RUN = { code: 1, interrupted: false, summary: null, output: "" };

/**
 * What the tests start besides Node, as the environment variables by which they find it.
 *
 * @typedef {object} TestTools
 * @property {NodeJS.ProcessEnv} forStore what tests of units and of the store need
 * @property {Promise<NodeJS.ProcessEnv>} forAll what all tests need; fetched while the first ones run
 */

/**
 * Runs of vitest at the same time.
 *
 * @typedef {object} Step
 * @property {keyof TestTools} tools
 * @property {readonly (readonly string[])[]} runs the arguments of each
 */

/**
 * Runs vitest with its usual output and closes with plain lines that say how it went. Tools that could not be fetched count
 * as one failed test, after a sentence that says why: nothing that needs them has run.
 *
 * @param {string} root the repository
 * @param {readonly string[]} args for vitest
 * @param {TestTools} tools
 * @param {Pick<import("./held-lines.js").HeldLines, "hold" | "release">} lines of what fetches the tools
 * @returns {Promise<number>} exit code: 0 when tests ran and none failed
 */
export async function runTests(root, args, tools, lines) {
  // Told when it is waited for.
  tools.forAll.catch(() => undefined);
  /** @type {TestRun[]} */
  const ended = [];
  try {
    for (const step of planSteps(args)) {
      const env = await withProgress(
        "Waiting for what tests of whole stacks need",
        async () => tools[step.tools],
      );
      lines.hold();
      const runs = await runAtOnce(root, step, env);
      lines.release();
      ended.push(...runs);
      if (runs.some(({ interrupted }) => interrupted)) break;
    }
  } catch (error) {
    process.stderr.write(`\n${describeFailure(error)}\n`);
    ended.push(NO_RUN);
  }
  const summary = addUp(ended);
  process.stdout.write(`\n${formatClosing(summary)}\n`);
  return summary.failed === 0 ? 0 : 1;
}

/**
 * The first one writes to the terminal; what the others wrote comes after it, each as a whole.
 *
 * @param {string} root
 * @param {Step} step
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<readonly TestRun[]>}
 */
async function runAtOnce(root, { runs }, env) {
  const ended = await Promise.all(
    runs.map((args, index) => runVitest(root, args, env, { isShown: index === 0 })),
  );
  for (const { output } of ended) process.stdout.write(output);
  return ended;
}

/**
 * Every test once, in steps one after the other. Those whose coverage is measured come first and by themselves: vitest
 * measures all projects of a run or none. What is asked for with arguments is a part of the tests, whose coverage says
 * nothing.
 *
 * @param {readonly string[]} args
 * @returns {readonly Step[]}
 */
export function planSteps(args) {
  if (args.length > 0) return [{ tools: "forAll", runs: [args] }];
  return [
    { tools: "forStore", runs: [[...MEASURED_PROJECTS.map(selectProject), "--coverage"]] },
    { tools: "forAll", runs: [OTHER_PROJECTS.map(selectProject)] },
    { tools: "forAll", runs: PROJECTS_THAT_WAIT.map((project) => [selectProject(project)]) },
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
async function waitForEnd(child) {
  let interrupted = false;
  // The terminal sends its signals to vitest as well: this process stays for the closing lines.
  const interrupt = (/** @type {NodeJS.Signals} */ signal) => {
    interrupted = true;
    child.kill(signal);
  };
  const signals = /** @type {const} */ (["SIGINT", "SIGTERM"]);
  for (const signal of signals) process.on(signal, interrupt);
  try {
    const [code] = await once(child, "exit");
    return { code: code ?? 1, interrupted };
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
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
