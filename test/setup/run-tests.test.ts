/** `npm test` from the moment when its tests can begin, with a program in the place of vitest that says what it was told. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Child, startChild } from "../support/child.ts";
import { planSteps } from "../support/runner/run-tests.ts";
import { waitFor } from "../support/wait.ts";
import { createTestFolder, endWithTest } from "./support/stand-in-stack.ts";

const [FIRST, SECOND] = planSteps([]).map(({ runs }) =>
  runs[0]!.flatMap((argument) => /^--project=(.*)/.exec(argument)?.[1] ?? []).join("+"),
) as [string, string];

/** Says which projects and tools it has, ends once there is no file `hold-<projects>`, and fails where one says so. */
const VITEST = `
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
const projects = process.argv.filter((one) => one.startsWith("--project=")).map((one) => one.slice(10)).join("+");
console.log(projects + " begins with " + process.env.TOOLS);
appendFileSync("begun", projects + "\\n");
while (existsSync("hold-" + projects)) await new Promise((resolve) => setTimeout(resolve, 10));
const failed = existsSync("fail-" + projects) ? ["a test of " + projects] : [];
const summary = { passed: 1 - failed.length, failed, skipped: 0, retried: [], files: [] };
writeFileSync(process.env.TEST_SUMMARY_FILE, JSON.stringify(summary));
console.log(projects + " ends");
process.exit(failed.length);
`;

const TYPESCRIPT = ["--import", import.meta.resolve("tsx")];

interface Started {
  readonly child: Child;
  /** Lets a run end that is held. */
  readonly release: (projects: string) => void;
  readonly hasBegun: (projects: string) => boolean;
}

interface Options {
  readonly held?: readonly string[];
  readonly failing?: readonly string[];
  /** What is fetched while the first tests run: the body of an async function, which can use `lines`. */
  readonly fetching?: string;
}

function startTests({ held = [], failing = [], fetching = "" }: Options): Started {
  const folder = createTestFolder();
  const vitest = join(folder, "node_modules", "vitest");
  mkdirSync(vitest, { recursive: true });
  writeFileSync(join(vitest, "vitest.mjs"), VITEST);
  for (const projects of held) writeFileSync(join(folder, `hold-${projects}`), "");
  for (const projects of failing) writeFileSync(join(folder, `fail-${projects}`), "");
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { existsSync, rmSync } from "node:fs";
    const { runTests } = await import(${module("../support/runner/run-tests.ts")});
    const { createHeldLines } = await import(${module("../support/runner/held-lines.ts")});
    const { SetupError } = await import(${module("../../src/operation/setup/setup-error.js")});
    const lines = createHeldLines(console.log);
    const fetchTools = async () => { ${fetching} };
    const withTools = (TOOLS) => ({ ...process.env, TOOLS });
    const tools = { forStore: withTools("some"), forAll: fetchTools().then(() => withTools("all")) };
    process.exit(await runTests(process.cwd(), [], tools, lines));
  `;
  const child = startChild(process.execPath, [...TYPESCRIPT, "--input-type=module", "-e", script], {
    cwd: folder,
  });
  endWithTest(child);
  return {
    child,
    release: (projects) => rmSync(join(folder, `hold-${projects}`)),
    hasBegun: (projects) => {
      try {
        return readFileSync(join(folder, "begun"), "utf8").split("\n").includes(projects);
      } catch {
        return false;
      }
    },
  };
}

const FETCHES_DURING_FIRST = `
  while (!existsSync("begun")) await new Promise((resolve) => setTimeout(resolve, 10));
  lines.progress("Building Helm …");
  lines.notice("There is no Chromium.");
  rmSync("hold-${FIRST}");
`;

const NEVER_FETCHED = "await new Promise((resolve) => setTimeout(resolve, 3_600_000));";

describe("npm test", () => {
  it("begins while tools are fetched for later tests, runs others beside the faults, and shows the output of each as a whole", async () => {
    const { child, release, hasBegun } = startTests({
      held: [FIRST, "faults"],
      fetching: FETCHES_DURING_FIRST,
    });
    await waitFor("the run beside the faults", () => hasBegun("waiting"), { timeoutMs: 60_000 });
    release("faults");
    expect(await child.waitForEnd()).toBe(0);
    expect(child.stdoutLines).toEqual([
      `${FIRST} begins with some`,
      `${FIRST} ends`,
      "There is no Chromium.",
      `${SECOND} begins with all`,
      `${SECOND} ends`,
      "faults begins with all",
      "faults ends",
      "waiting begins with all",
      "waiting ends",
      "hostile begins with all",
      "hostile ends",
      "",
      expect.stringContaining("TEST_EXTENT=nightly"),
      "0 retried",
      "5 passed, 0 failed",
    ]);
  });

  it("fails when what runs beside the faults does", async () => {
    const { child } = startTests({ failing: ["waiting"] });
    expect(await child.waitForEnd()).toBe(1);
    expect(child.stdoutLines.slice(-4)).toEqual([
      "1 failed:",
      "  a test of waiting",
      "0 retried",
      "4 passed, 1 failed",
    ]);
  });

  it("says what could not be fetched after the first tests, and fails", async () => {
    const fetching = 'throw new SetupError("There is no Envoy: install it.");';
    const { child, hasBegun } = startTests({ fetching });
    expect(await child.waitForEnd()).toBe(1);
    expect(child.stderr).toBe("\nThere is no Envoy: install it.\n");
    expect(child.stdoutLines.slice(-2)).toEqual(["0 retried", "1 passed, 1 failed"]);
    expect(hasBegun(SECOND)).toBe(false);
  });

  it("ends everything that runs when it is told to, with its closing lines", async () => {
    const { child, hasBegun } = startTests({ held: ["faults", "waiting"] });
    const isRunning = () => hasBegun("faults") && hasBegun("waiting");
    await waitFor("both runs", isRunning, { timeoutMs: 60_000 });
    child.signal("SIGTERM");
    expect(await child.waitForEnd()).toBe(1);
    expect(child.stdoutLines.at(-1)).toBe("2 passed, 2 failed");
  });

  it("runs nothing more after that, though tools are still being fetched", async () => {
    const { child, hasBegun } = startTests({ held: [FIRST], fetching: NEVER_FETCHED });
    await waitFor("the first run", () => hasBegun(FIRST), { timeoutMs: 60_000 });
    child.signal("SIGINT");
    expect(await child.waitForEnd()).toBe(1);
    expect(child.stdoutLines.at(-1)).toBe("0 passed, 1 failed");
    expect(hasBegun(SECOND)).toBe(false);
  });

  it("ends at once when it is told to while it only waits for tools", async () => {
    const { child, hasBegun } = startTests({ fetching: NEVER_FETCHED });
    await waitFor("the first run", () => hasBegun(FIRST), { timeoutMs: 60_000 });
    const isWaiting = () => child.stderr.includes("Waiting for what tests of whole stacks need …");
    await waitFor("the wait for tools", isWaiting, { timeoutMs: 60_000 });
    child.signal("SIGTERM");
    expect(await child.waitForEnd()).toBe("SIGTERM");
  });
});
