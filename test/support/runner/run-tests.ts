import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withProgress } from "../../../src/operation/setup/progress.js";
import { describeFailure } from "../../../src/operation/setup/run-step.js";
import { byExtent } from "../extent.ts";
import type { HeldLines } from "./held-lines.ts";
import { SUMMARY_FILE, type TestedFile, type TestSummary } from "./summary-reporter.ts";

/**
 * The projects whose coverage has floors (`coverage` of vitest.config.ts): they run the path of a request and of money in
 * their own process, where it can be measured.
 */
const MEASURED_PROJECTS = ["unit", "store"];
const MEASURING = byExtent({ push: [], nightly: ["--coverage"] });

/** Others that need Redis alone: beside the measured ones, unless these are measured. */
const REDIS_PROJECTS = ["cluster", "admin"];
const STACK_PROJECTS = ["system", "dashboard", "packaging"];

/**
 * At the same time, each in a run of its own, since vitest gives projects that run at once the same processes. The load of a
 * fault is the only one on the machine; in the minutes in which it waits for deadlines, and beside it, others wait as well.
 */
const PROJECTS_THAT_WAIT = ["faults", "waiting"];

/** By itself: what nobody else is to notice would be lost in the load of other tests. */
const PROJECT_ALONE = "hostile";

/** What a whole run says of its extent. */
const EXTENT_LINE = byExtent({
  push: "Each claim is shown once; TEST_EXTENT=nightly repeats what test/support/extent.ts names.",
  nightly: "TEST_EXTENT=nightly: claims are repeated with all that should make no difference.",
});

const REPORTER = fileURLToPath(new URL("summary-reporter.ts", import.meta.url));

/** How vitest ended once. */
interface TestRun {
  /** Its exit code. */
  readonly code: number;
  /** This process was told to end meanwhile. */
  readonly interrupted: boolean;
  /** Null: it ended without one. */
  readonly summary: TestSummary | null;
  /** What it wrote and was not shown. */
  readonly output: string;
}

const NOTHING_RAN: TestSummary = { passed: 0, failed: [], skipped: 0, retried: [], files: [] };
const NO_SUMMARY: TestSummary = { ...NOTHING_RAN, failed: ["vitest ended before it had a summary"] };
const NO_TEST_FAILED =
  "no test, but vitest: a coverage floor was missed, a script ran on no cluster, or vitest itself failed (see its output above)";
const NO_RUN: TestRun = { code: 1, interrupted: false, summary: null, output: "" };

/** What the tests start besides Node, as the environment variables by which they find it. */
export interface TestTools {
  /** What tests of units and of the store need. */
  readonly forStore: NodeJS.ProcessEnv;
  /** What all tests need; fetched while the first ones run. */
  readonly forAll: Promise<NodeJS.ProcessEnv>;
}

interface Step {
  readonly tools: keyof TestTools;
  /** Runs of vitest at the same time: the arguments of each. */
  readonly runs: readonly (readonly string[])[];
}

/**
 * Runs vitest with its usual output and closes with plain lines that say how it went. Tools that could not be fetched count
 * as one failed test, after a sentence that says why: nothing that needs them has run.
 *
 * @param root The repository.
 * @param args For vitest.
 * @param lines Of what fetches the tools.
 * @returns Exit code: 0 when tests ran and none failed.
 */
export async function runTests(
  root: string,
  args: readonly string[],
  tools: TestTools,
  lines: Pick<HeldLines, "hold" | "release">,
): Promise<number> {
  // Told when it is waited for.
  tools.forAll.catch(() => undefined);
  const ended: TestRun[] = [];
  try {
    for (const step of planSteps(args)) {
      const fetched = async (): Promise<NodeJS.ProcessEnv> => tools[step.tools];
      const env = await withProgress("Waiting for what tests of whole stacks need", fetched);
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
  process.stdout.write(`\n${args.length === 0 ? `${EXTENT_LINE}\n` : ""}${formatClosing(summary)}\n`);
  return summary.failed.length === 0 ? 0 : 1;
}

/** The first one writes to the terminal; what the others wrote comes after it, each as a whole. */
async function runAtOnce(root: string, { runs }: Step, env: NodeJS.ProcessEnv): Promise<readonly TestRun[]> {
  const ended = await Promise.all(
    runs.map((args, index) => runVitest(root, args, env, { isShown: index === 0 })),
  );
  for (const { output } of ended) process.stdout.write(output);
  return ended;
}

/**
 * Every test once, in steps one after the other. Those whose coverage is measured at night come first and by themselves:
 * vitest measures all projects of a run or none. Measuring doubles the time of some tests, so on each push a job of its own
 * does it (.github/workflows/ci.yml). What is asked for with arguments is a part of the tests, whose coverage says nothing.
 */
export function planSteps(args: readonly string[]): readonly Step[] {
  if (args.length > 0) return [{ tools: "forAll", runs: [args] }];
  const [first, second] = byExtent({
    push: [[...MEASURED_PROJECTS, ...REDIS_PROJECTS], STACK_PROJECTS],
    nightly: [MEASURED_PROJECTS, [...REDIS_PROJECTS, ...STACK_PROJECTS]],
  });
  return [
    { tools: "forStore", runs: [[...first.map(selectProject), ...MEASURING]] },
    { tools: "forAll", runs: [second.map(selectProject)] },
    { tools: "forAll", runs: PROJECTS_THAT_WAIT.map((project) => [selectProject(project)]) },
    { tools: "forAll", runs: [[selectProject(PROJECT_ALONE)]] },
  ];
}

function selectProject(project: string): string {
  return `--project=${project}`;
}

/**
 * Adds the runs up. A run that ended with an error though nothing in it failed counts as a failed test: its coverage is
 * below a floor, or vitest itself died.
 */
export function addUp(runs: readonly Pick<TestRun, "code" | "summary">[]): TestSummary {
  return runs.reduce((total, { code, summary }) => addRun(total, code, summary ?? NO_SUMMARY), NOTHING_RAN);
}

function addRun(
  total: TestSummary,
  code: number,
  { passed, failed, skipped, retried, files }: TestSummary,
): TestSummary {
  return {
    passed: total.passed + passed,
    failed: [...total.failed, ...(code !== 0 && failed.length === 0 ? [NO_TEST_FAILED] : failed)],
    skipped: total.skipped + skipped,
    retried: [...total.retried, ...retried],
    files: [...total.files, ...files],
  };
}

/** How many files each list of the closing lines names; no more than these ran: none, vitest has shown them. */
const LISTED_FILES = 10;

/**
 * The slowest files, those that take the most processor time, which tests failed, which were tried more than once and, as the last line,
 * `N passed, N failed[, N skipped]`: what is left to read where only the end of the output was kept.
 */
export function formatClosing({ passed, failed, skipped, retried, files }: TestSummary): string {
  return [
    ...listFiles("slowest files", files, ({ milliseconds }) => milliseconds),
    ...listFiles("files with the most processor time", files, ({ processorMilliseconds: time }) => time ?? 0),
    ...(failed.length > 0 ? [`${failed.length} failed:`, ...failed.map(indent)] : []),
    `${retried.length} retried${retried.length > 0 ? ":" : ""}`,
    ...retried.map(indent),
    `${passed} passed, ${failed.length} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`,
  ].join("\n");
}

function listFiles(
  what: string,
  files: readonly TestedFile[],
  measure: (file: TestedFile) => number,
): readonly string[] {
  if (files.length <= LISTED_FILES) return [];
  const most = files.toSorted((one, other) => measure(other) - measure(one)).slice(0, LISTED_FILES);
  const line = (file: TestedFile): string =>
    indent(`${(measure(file) / 1000).toFixed(1).padStart(6)} s  ${file.name}`);
  return [`${LISTED_FILES} ${what}:`, ...most.map(line)];
}

function indent(line: string): string {
  return `  ${line}`;
}

async function runVitest(
  root: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  { isShown }: { readonly isShown: boolean },
): Promise<TestRun> {
  const folder = mkdtempSync(join(tmpdir(), "igw-tests-"));
  const summaryFile = join(folder, "summary.json");
  const outputFile = join(folder, "output.txt");
  const output = isShown ? null : openSync(outputFile, "w");
  try {
    const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
    const reporters = ["--reporter=default", `--reporter=${REPORTER}`];
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

async function waitForEnd(child: ChildProcess): Promise<Pick<TestRun, "code" | "interrupted">> {
  let interrupted = false;
  // The terminal sends its signals to vitest as well: this process stays for the closing lines.
  const interrupt = (signal: NodeJS.Signals): void => {
    interrupted = true;
    child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return { code: code ?? 1, interrupted };
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}

function readSummary(path: string): TestSummary | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as TestSummary;
  } catch {
    return null;
  }
}
