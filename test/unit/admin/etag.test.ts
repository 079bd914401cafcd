import { describe, expect, it } from "vitest";
import { AdminError } from "../../../src/management/admin/admin-error.ts";
import { expectVersion, formatETag, parseIfMatch } from "../../../src/management/admin/http/etag.ts";

describe("parseIfMatch", () => {
  it.each([
    { name: "no header", header: undefined, expected: null },
    { name: "the wildcard", header: "*", expected: "any" },
    { name: "the wildcard with blanks", header: " * ", expected: "any" },
    { name: "one validator", header: '"3"', expected: [3] },
    { name: "several validators", header: '"3", "4"', expected: [3, 4] },
    { name: "a weak validator, which never matches", header: 'W/"3"', expected: [] },
    { name: "a validator of another making", header: '"abc"', expected: [] },
    { name: "something that is no validator", header: "3", expected: [] },
    { name: "an empty header", header: "", expected: [] },
  ])("reads $name", ({ header, expected }) => {
    expect(parseIfMatch(header)).toEqual(expected);
  });
});

describe("expectVersion", () => {
  it.each([
    { name: "no header", ifMatch: null, expected: null },
    { name: "the wildcard", ifMatch: "any" as const, expected: null },
    { name: "the current version", ifMatch: [7], expected: 7 },
    { name: "the current version among others", ifMatch: [6, 7], expected: 7 },
  ])("gives what a change must find for $name", ({ ifMatch, expected }) => {
    expect(expectVersion(ifMatch, 7)).toBe(expected);
  });

  it.each([{ ifMatch: [6] }, { ifMatch: [] }])(
    "refuses $ifMatch with 412 and the current version",
    ({ ifMatch }) => {
      const refusal = catchError(() => expectVersion(ifMatch, 7));
      expect(refusal).toBeInstanceOf(AdminError);
      expect(refusal).toMatchObject({
        code: "version_conflict",
        status: 412,
        headers: { etag: formatETag(7) },
      });
    },
  );
});

function catchError(run: () => unknown): unknown {
  try {
    return run();
  } catch (thrown) {
    return thrown;
  }
}
