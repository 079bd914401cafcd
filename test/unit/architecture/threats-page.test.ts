/** docs/threats.md has the threats for people, test/threats.md the tests that try each: the same rows in both. */
import { describe, expect, it } from "vitest";
import { isThere, namedPaths, readPage } from "./named-paths.ts";

const page = readPage("docs/threats.md");

/** Rows of tables below headings of this level: who → what they try. */
function readRows(
  text: string,
  heading: string,
): readonly { attacker: string; threat: string; line: string }[] {
  return text.split(`\n${heading} `).flatMap((section, index) => {
    if (index === 0) return [];
    const [attacker = "", ...lines] = section.split("\n");
    return lines
      .filter((line) => line.startsWith("| ") && !/^\| (?:They try|Threat) \|/.test(line))
      .map((line) => ({ attacker, threat: line.split("|")[1]?.trim() ?? "", line }));
  });
}

const described = readRows(page, "##");
const tried = readRows(readPage("test/threats.md"), "##");

describe("docs/threats.md and test/threats.md", () => {
  it("have the same threats of the same attackers", () => {
    const namesOf = (rows: typeof tried) => rows.map(({ attacker, threat }) => `${attacker}: ${threat}`);
    expect(namesOf(tried)).toEqual(namesOf(described));
    expect(new Set(described.map(({ attacker }) => attacker)).size).toBe(10);
    expect(described.length).toBeGreaterThan(30);
  });

  it.each(tried)("name tests that exist for: $threat", ({ line }) => {
    const tests = namedPaths(line, "test");
    expect(tests).not.toEqual([]);
    expect(tests.filter((path) => !isThere(path))).toEqual([]);
  });
});
