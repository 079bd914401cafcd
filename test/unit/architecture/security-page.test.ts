import { describe, expect, it } from "vitest";
import { isThere, namedPaths, readPage } from "./named-paths.ts";

const page = readPage("docs/security.md");
const threats = page.slice(page.indexOf("\n## Threats"), page.indexOf("\n## What is not bounded"));
const rows = threats
  .split("\n")
  .filter((line) => line.startsWith("|") && !/^\| (?:What \w+ tr|-)|^\|-/.test(line))
  .map((line) => ({ line, threat: line.split("|")[1]?.trim() ?? "", tests: namedPaths(line, "test") }));

describe("docs/security.md", () => {
  it("has threats of every attacker", () => {
    expect(threats.match(/^### /gm)).toHaveLength(10);
    expect(rows.length).toBeGreaterThan(30);
  });

  it.each(rows)("names tests that there are for: $threat", ({ tests }) => {
    expect(tests).not.toEqual([]);
    expect(tests.filter((path) => !isThere(path))).toEqual([]);
  });
});
