import { describe, expect, it } from "vitest";
import { formatClosingLine } from "../../../src/setup/run-tests.js";

const report = (
  numbers: object = {},
  testResults: { status: string; assertionResults: unknown[] }[] = [],
) => ({
  numPassedTests: 5,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults,
  ...numbers,
});

describe("formatClosingLine", () => {
  it.each([
    { name: "all passed", input: report(), line: "5 passed, 0 failed" },
    { name: "some failed", input: report({ numFailedTests: 2 }), line: "5 passed, 2 failed" },
    {
      name: "some were skipped",
      input: report({ numPendingTests: 2, numTodoTests: 1 }),
      line: "5 passed, 0 failed, 3 skipped",
    },
    {
      name: "a file could not be loaded",
      input: report({}, [
        { status: "failed", assertionResults: [] },
        { status: "passed", assertionResults: [{}] },
      ]),
      line: "5 passed, 1 failed",
    },
    { name: "there is no report", input: null, line: null },
  ])("counts when $name", ({ input, line }) => {
    expect(formatClosingLine(input)).toBe(line);
  });
});
