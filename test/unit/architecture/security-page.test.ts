import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const repository = new URL("../../../", import.meta.url);
const page = readFileSync(new URL("docs/security.md", repository), "utf8");
const threats = page.slice(page.indexOf("\n## Threats"), page.indexOf("\n## What is not bounded"));
const rows = threats
  .split("\n")
  .filter((line) => line.startsWith("|") && !/^\| (?:What \w+ tr|-)|^\|-/.test(line))
  .map((line) => ({ line, threat: line.split("|")[1]?.trim() ?? "", tests: testsOf(line) }));

function testsOf(line: string): string[] {
  return Array.from(line.matchAll(/`(test\/[^`]+)`/g), ([, path = ""]) => path);
}

describe("docs/security.md", () => {
  it("has threats of every attacker", () => {
    expect(threats.match(/^### /gm)).toHaveLength(10);
    expect(rows.length).toBeGreaterThan(30);
  });

  it.each(rows)("names tests that there are for: $threat", ({ tests }) => {
    expect(tests).not.toEqual([]);
    expect(tests.filter((path) => !existsSync(new URL(path, repository)))).toEqual([]);
  });
});
