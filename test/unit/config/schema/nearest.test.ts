import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { editDistance, findNearest, formatSuggestion } from "../../../../src/shared/config/schema/nearest.ts";

describe("editDistance", () => {
  it.each([
    { from: "", to: "abc", distance: 3 },
    { from: "abc", to: "abc", distance: 0 },
    { from: "abc", to: "acb", distance: 1 },
    { from: "upstrem", to: "upstream", distance: 1 },
    { from: "kitten", to: "sitting", distance: 3 },
    { from: "limit", to: "limits", distance: 1 },
  ])("from $from to $to is $distance", ({ from, to, distance }) => {
    expect(editDistance(from, to)).toBe(distance);
    expect(editDistance(to, from)).toBe(distance);
  });
});

describe("findNearest", () => {
  it("gives the nearest first and leaves out what is far", () => {
    expect(findNearest("upstreem", ["catalog", "upstream", "upstreams"], 3)).toEqual([
      "upstream",
      "upstreams",
    ]);
  });

  it("finds what a comparison with every name finds", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", maxLength: 12 }),
        fc.array(fc.string({ maxLength: 12 })),
        (name, names) => {
          const wanted = name.toLowerCase();
          const near = names.filter((known) => {
            const distance = editDistance(wanted, known.toLowerCase());
            const allowed = Math.max(2, Math.floor(Math.max(wanted.length, known.length) / 3));
            return distance <= allowed && distance < known.length;
          });
          expect(findNearest(name, names, names.length).sort()).toEqual(near.sort());
        },
      ),
    );
  });

  it("does not suggest a name that would be rewritten whole", () => {
    expect(findNearest("xy", ["id", "ab"])).toEqual([]);
  });

  it("does not compare names of any length", () => {
    expect(findNearest("a".repeat(1_000_000), ["a"])).toEqual([]);
  });
});

describe("formatSuggestion", () => {
  it.each([
    { name: "portt", known: ["port", "host"], suggestion: "; did you mean `port`?" },
    { name: "prot", known: ["port", "pro"], suggestion: "; did you mean `port` or `pro`?" },
    { name: "nothing like it", known: ["port"], suggestion: "" },
  ])("of $name is '$suggestion'", ({ name, known, suggestion }) => {
    expect(formatSuggestion(name, known)).toBe(suggestion);
  });
});
