/** The picture of a record's states in docs/internals/settlement.md, read arrow by arrow. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TRANSITIONS } from "../../../src/data-path/settlement/record-state.ts";

const page = readFileSync("docs/internals/settlement.md", "utf8");
const section = /## States of a record\n(?<text>[^]*?)\n## /.exec(page)?.groups?.["text"] ?? "";
const picture = /```mermaid\nstateDiagram-v2\n(?<lines>[^`]*)```/.exec(section)?.groups?.["lines"] ?? "";
const lines = picture.split("\n").filter((line) => line.trim() !== "");
const ARROW = /^ {4}(?<from>\[\*\]|[a-zA-Z]+) --> (?<to>\[\*\]|[a-zA-Z]+) : [^:;]+$/;

/** Each state's row of the first table. */
const table = section;
const rows = [...table.matchAll(/^\| `(?<name>[a-zA-Z]+)` \|/gm)].map(({ groups }) => groups?.["name"] ?? "");

describe("the picture of a record's states", () => {
  it("is made of arrows and says of each when it is gone", () => {
    expect(lines.filter((line) => !ARROW.test(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
  });

  it("has the arrows of the code, and no others", () => {
    const drawn = lines.map((line) => {
      const { from = "", to = "" } = ARROW.exec(line)?.groups ?? {};
      return `${from} --> ${to}`;
    });
    const coded = Object.entries(TRANSITIONS).flatMap(([from, after]) =>
      after.map((to) => `${from} --> ${to === "forgotten" ? "[*]" : to}`),
    );
    expect(drawn.toSorted()).toEqual(["[*] --> entered", ...coded].toSorted());
  });

  it("has a row for each state below it, and no others", () => {
    expect(rows.toSorted()).toEqual(Object.keys(TRANSITIONS).toSorted());
  });
});
