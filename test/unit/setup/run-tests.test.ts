import { describe, expect, it } from "vitest";
import { formatClosing } from "../../../src/setup/run-tests.js";
import { summarize } from "../../../src/setup/summary-reporter.js";

type Module = Parameters<typeof summarize>[0][number];

/** A file of tests, as vitest hands it to a reporter. */
function moduleOf(state: string, tests: readonly { state: string; retryCount?: number }[]): Module {
  const cases = tests.map((test, index) => ({
    fullName: `test ${index}`,
    result: () => ({ state: test.state }),
    diagnostic: () => ({ retryCount: test.retryCount ?? 0 }),
  }));
  return { state: () => state, children: { allTests: () => cases.values() } } as unknown as Module;
}

describe("the closing lines of a run of the tests", () => {
  it.each([
    { name: "all passed", modules: [moduleOf("passed", [{ state: "passed" }])], last: "1 passed, 0 failed" },
    {
      name: "some failed and some were skipped",
      modules: [
        moduleOf("failed", [{ state: "failed" }, { state: "passed" }]),
        moduleOf("passed", [{ state: "skipped" }]),
      ],
      last: "1 passed, 1 failed, 1 skipped",
    },
    {
      name: "a file could not be loaded",
      modules: [moduleOf("passed", [{ state: "passed" }]), moduleOf("failed", [])],
      last: "1 passed, 1 failed",
    },
    {
      name: "a file could not be set up, so that its tests did not run",
      modules: [moduleOf("failed", [{ state: "skipped" }])],
      last: "0 passed, 1 failed, 1 skipped",
    },
  ])("count when $name", ({ modules, last }) => {
    expect(formatClosing(summarize(modules))).toBe(`0 retried\n${last}`);
  });

  it("name every test that was tried more than once, whether it passed then or not", () => {
    const module = moduleOf("failed", [
      { state: "passed", retryCount: 1 },
      { state: "passed" },
      { state: "failed", retryCount: 1 },
    ]);
    expect(formatClosing(summarize([module]))).toBe("2 retried:\n  test 0\n  test 2\n2 passed, 1 failed");
  });

  it("report a failure when vitest ended without a summary", () => {
    expect(formatClosing(null)).toBe("0 passed, 1 failed");
  });
});
