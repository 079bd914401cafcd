import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode } from "../../../src/shared/contract/errors.ts";
import {
  findErrorTest,
  formatTestIndex,
  isThere,
  readDocumentedRules,
  readRuleTests,
  RULE_PAGES,
} from "../../support/test-index.ts";

const CODES = Object.keys(ERRORS) as ErrorCode[];

describe("test/test-index.md", () => {
  it("is what is made of the table of errors, the pages with rules and the tests' names", async () => {
    const page = join(import.meta.dirname, "../../../test/test-index.md");
    await expect(formatTestIndex()).toMatchFileSnapshot(page);
  });
});

describe("an error code", () => {
  it.each(CODES)("%s is shown by a test that is there", (code) => {
    const test = findErrorTest(code);
    expect(test === null ? `no test shows ${code}` : isThere(test)).toBe(true);
  });
});

describe.each([
  ["docs/messages.md", 75],
  ["docs/responses.md", 60],
] as const)("a rule of %s", (page, least) => {
  const documented = readDocumentedRules(page);
  const tested = readRuleTests();

  it("stands there once", () => {
    expect(RULE_PAGES).toContain(page);
    expect(documented.length).toBeGreaterThan(least);
    expect(documented.filter((rule, index) => documented.indexOf(rule) !== index)).toEqual([]);
  });

  it("is held by a test whose name begins with it", () => {
    expect(documented.filter((rule) => !tested.has(rule))).toEqual([]);
  });
});
