import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const MAX_WORDS = 25;
const CHANGELOG = readFileSync(new URL("../../../CHANGELOG.md", import.meta.url), "utf8");
/** A link's address is not read. */
const wordsOf = (entry: string) => entry.replaceAll(/\]\([^)]*\)/g, "]").split(/\s+/).length;

it("has entries of one line, of at most 25 words", () => {
  const [, ...sections] = CHANGELOG.split(/^## /m);
  const lines = sections.flatMap((section) => section.split("\n").slice(1));
  const entries = lines.filter((line) => line.startsWith("- ")).map((line) => line.slice("- ".length));
  expect(entries.length).toBeGreaterThan(0);
  expect(lines.filter((line) => !/^(?:- \S.*\.|### \w+)?$/.test(line))).toEqual([]);
  expect(entries.filter((entry) => wordsOf(entry) > MAX_WORDS)).toEqual([]);
});
