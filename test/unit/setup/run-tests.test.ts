import { describe, expect, it } from "vitest";
import { byExtent } from "../../support/extent.ts";
import { addUp, formatClosing, planSteps } from "../../support/runner/run-tests.ts";
import { summarize } from "../../support/runner/summary-reporter.ts";
import config from "../../../vitest.config.ts";

type Module = Parameters<typeof summarize>[0][number];

/** What vitest.config.ts has, in order of the alphabet. */
function projectNames(): readonly string[] {
  const projects = (config as { test: { projects: { test: { name: string } }[] } }).test.projects;
  return projects.map((project) => project.test.name).sort();
}

/** A file of tests, as vitest hands it to a reporter. */
function moduleOf(
  state: string,
  tests: readonly { state: string; retryCount?: number; message?: string }[],
  errors: readonly { message: string }[] = [],
): Module {
  const cases = tests.map((test, index) => ({
    fullName: `test ${index}`,
    result: () => ({ state: test.state, errors: [{ message: test.message ?? "" }] }),
    diagnostic: () => ({ retryCount: test.retryCount ?? 0 }),
  }));
  const children = { allTests: () => cases.values() };
  return {
    state: () => state,
    errors: () => errors,
    relativeModuleId: "a.test.ts",
    project: { name: "unit" },
    meta: () => ({}),
    diagnostic: () => ({ setupDuration: 100, collectDuration: 400, duration: 1_000 }),
    children,
  } as unknown as Module;
}

describe("the closing lines of a run of the tests", () => {
  it.each([
    {
      name: "all passed",
      modules: [moduleOf("passed", [{ state: "passed" }])],
      lines: ["0 retried", "1 passed, 0 failed"],
    },
    {
      name: "some failed and some were skipped",
      modules: [
        moduleOf("failed", [{ state: "failed", message: "expected 1\nto be 2" }, { state: "passed" }]),
        moduleOf("passed", [{ state: "skipped" }]),
      ],
      lines: ["1 failed:", "  test 0: expected 1", "0 retried", "1 passed, 1 failed, 1 skipped"],
    },
    {
      name: "a file could not be loaded",
      modules: [
        moduleOf("passed", [{ state: "passed" }]),
        moduleOf("failed", [], [{ message: "no module" }]),
      ],
      lines: ["1 failed:", "  a.test.ts: no module", "0 retried", "1 passed, 1 failed"],
    },
    {
      name: "a file could not be set up, so that its tests did not run",
      modules: [moduleOf("failed", [{ state: "skipped" }])],
      lines: ["1 failed:", "  a.test.ts", "0 retried", "0 passed, 1 failed, 1 skipped"],
    },
  ])("count, and name what failed, when $name", ({ modules, lines }) => {
    expect(formatClosing(summarize(modules)).split("\n")).toEqual(lines);
  });

  it("name an error that was thrown outside of a test, and its line", () => {
    const thrown = {
      message: "read ECONNRESET\nmore",
      stack: "Error: read\n    at read (test/a.ts:3:1)\n    at b",
    };
    expect(formatClosing(summarize([moduleOf("passed", [{ state: "passed" }])], [thrown]))).toBe(
      "1 failed:\n  outside of a test (at read (test/a.ts:3:1)): read ECONNRESET\n0 retried\n1 passed, 1 failed",
    );
  });

  it("name every test that was tried more than once, whether it passed then or not, and why", () => {
    const module = moduleOf("failed", [
      { state: "passed", retryCount: 1, message: "too late" },
      { state: "passed" },
      { state: "failed", retryCount: 1 },
    ]);
    expect(formatClosing(summarize([module]))).toBe(
      "1 failed:\n  test 2\n2 retried:\n  test 0: too late\n  test 2\n2 passed, 1 failed",
    );
  });

  it("name the ten slowest files of a run of more, and the ten with the most processor time", () => {
    const files = Array.from({ length: 12 }, (_, index) => ({
      name: `store ${index}.test.ts`,
      milliseconds: 1_000 * index,
      processorMilliseconds: 100 * (12 - index),
    }));
    const summary = { ...summarize([moduleOf("passed", [{ state: "passed" }])]), retried: ["b: too late"] };
    const lines = formatClosing({ ...summary, files: [...summary.files, ...files] }).split("\n");
    expect(lines).toEqual([
      "10 slowest files:",
      "    11.0 s  store 11.test.ts",
      "    10.0 s  store 10.test.ts",
      ...[9, 8, 7, 6, 5, 4, 3, 2].map((index) => `     ${index}.0 s  store ${index}.test.ts`),
      "10 files with the most processor time:",
      ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(
        (index) => `     ${((12 - index) / 10).toFixed(1)} s  store ${index}.test.ts`,
      ),
      "1 retried:",
      "  b: too late",
      "1 passed, 0 failed",
    ]);
  });

  it.each([
    {
      name: "vitest ended without a summary",
      runs: [{ code: 1, summary: null }],
      why: "vitest ended before it had a summary",
      last: "0 passed, 1 failed",
    },
    {
      name: "a floor of coverage was missed though every test passed",
      runs: [
        { code: 1, summary: summarize([moduleOf("passed", [{ state: "passed" }])]) },
        { code: 0, summary: summarize([moduleOf("passed", [{ state: "passed" }])]) },
      ],
      why: "no test, but vitest: a coverage floor was missed, a script ran on no cluster, or vitest itself failed (see its output above)",
      last: "2 passed, 1 failed",
    },
  ])("report a failure when $name", ({ runs, why, last }) => {
    expect(formatClosing(addUp(runs))).toBe(`1 failed:\n  ${why}\n0 retried\n${last}`);
  });

  it("are of both runs together, with a failed test counted once", () => {
    const runs = [
      { code: 1, summary: summarize([moduleOf("failed", [{ state: "failed" }, { state: "passed" }])]) },
      {
        code: 0,
        summary: summarize([
          moduleOf("passed", [{ state: "passed", retryCount: 1 }, { state: "passed" }, { state: "skipped" }]),
        ]),
      },
    ];
    expect(formatClosing(addUp(runs))).toBe(
      "1 failed:\n  test 0\n1 retried:\n  test 0\n3 passed, 1 failed, 1 skipped",
    );
  });
});

describe("the runs of vitest behind `npm test`", () => {
  const steps = planSteps([]);

  it("begin with what needs no whole stack, whose coverage they measure at night", () => {
    const more = byExtent({ push: ["--project=cluster", "--project=admin"], nightly: ["--coverage"] });
    expect(steps[0]).toEqual({ tools: "forStore", runs: [["--project=unit", "--project=store", ...more]] });
    expect(steps.slice(1).map(({ tools }) => tools)).toEqual(["forAll", "forAll", "forAll"]);
  });

  it("run each project once", () => {
    const run = steps.flatMap(({ runs }) => runs.flat()).filter((argument) => argument !== "--coverage");
    expect(run.sort()).toEqual(projectNames().map((name) => `--project=${name}`));
  });

  it("put beside the faults only what mostly waits", () => {
    const besideFaults = steps.find(({ runs }) => runs.flat().includes("--project=faults"));
    expect(besideFaults?.runs).toEqual([["--project=faults"], ["--project=waiting"]]);
  });

  it("put nothing beside what is to hurt nobody", () => {
    const withHostile = steps.find(({ runs }) => runs.flat().includes("--project=hostile"));
    expect(withHostile?.runs).toEqual([["--project=hostile"]]);
  });

  it("are one without floors when a part of the tests is asked for", () => {
    expect(planSteps(["--project", "unit"])).toEqual([{ tools: "forAll", runs: [["--project", "unit"]] }]);
  });
});
