import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { openScreen } from "../../../src/operation/cli/terminal/screen.ts";
import { formatUnifiedDiff, paintDiff } from "../../../src/operation/cli/envoy-into.ts";

const lines = (...texts: readonly string[]) => texts.map((text) => `${text}\n`).join("");

/** What `patch` makes of it, strictly: every line of a hunk stands where the hunk says. */
function applyDiff(before: string, diff: string): string {
  const old = before.split(/(?<=\n)/u).filter((line) => line !== "");
  const result: string[] = [];
  let at = 0;
  const rest = diff.split("\n").slice(2, -1);
  for (const [index, line] of rest.entries()) {
    const hunk = /^@@ -(?<start>\d+),(?<count>\d+) \+\d+,\d+ @@$/u.exec(line);
    if (hunk?.groups !== undefined) {
      const start = Number(hunk.groups["start"]) - (hunk.groups["count"] === "0" ? 0 : 1);
      result.push(...old.slice(at, start));
      at = start;
      continue;
    }
    if (line.startsWith("\\")) continue;
    const text = line.slice(1) + (rest[index + 1]?.startsWith("\\") === true ? "" : "\n");
    if (!line.startsWith("+")) {
      if (old[at] !== text) throw new Error(`line ${at + 1} is ${old[at]}, not ${text}`);
      at += 1;
    }
    if (!line.startsWith("-")) result.push(text);
  }
  return [...result, ...old.slice(at)].join("");
}

describe("formatUnifiedDiff", () => {
  it("shows what is added and taken away with three lines around it, and nothing of what is equal", () => {
    const before = lines("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l");
    const after = lines("a", "b", "c", "d", "E", "f", "g", "h", "i", "j", "k", "l", "m");
    const hunks = [
      "@@ -2,7 +2,7 @@",
      " b",
      " c",
      " d",
      "-e",
      "+E",
      " f",
      " g",
      " h",
      "@@ -10,3 +10,4 @@",
      " j",
      " k",
      " l",
      "+m",
    ];
    expect(formatUnifiedDiff(before, after, "x.yaml")).toBe(
      lines("--- x.yaml", "+++ x.yaml (merged)", ...hunks),
    );
    expect(formatUnifiedDiff(before, before, "x.yaml")).toBe("");
  });

  it("leads from one text to the other, whatever they are, with or without a break at the end", () => {
    const words = ["a", "b", "a", "c", "", "b"];
    const texts = Array.from({ length: 150 }, (_, seed) => {
      const length = (seed * 7) % 17;
      const chosen = Array.from(
        { length },
        (_word, index) => words[(seed * (index + 3)) % words.length] ?? "",
      );
      return chosen.join("\n") + (seed % 3 === 0 ? "" : "\n");
    });
    for (const [index, before] of texts.entries()) {
      const after = texts[(index * 13 + 5) % texts.length] ?? "";
      expect(applyDiff(before, formatUnifiedDiff(before, after, "x"))).toBe(after);
    }
  });
});

describe("paintDiff", () => {
  it("shows what comes and what goes in colours, and leaves the text as it is without them", () => {
    const diff = formatUnifiedDiff(lines("a", "b"), lines("a", "c"), "envoy.yaml");
    const coloured = paintDiff(openScreen({}, { env: { FORCE_COLOR: "1" } }), diff);
    expect(coloured).toContain("\u001b[31m-b\u001b[0m\n\u001b[32m+c\u001b[0m\n");
    expect(coloured).toContain("\u001b[1m--- envoy.yaml\u001b[0m\n");
    expect(stripVTControlCharacters(coloured)).toBe(diff);
    expect(paintDiff(openScreen({}, { env: {} }), diff)).toBe(diff);
  });
});
