import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import {
  type EnvoyValue,
  formatEnvoyYaml,
  oneLine,
  typed,
} from "../../../src/envoy/bootstrap/yaml-document.ts";
import { runs } from "../../support/extent.ts";

/** What YAML may take for something else. */
const SPECIAL = [
  "null",
  "True",
  "1",
  "1s",
  "0x1",
  "1e3",
  ".inf",
  "-",
  "---",
  "a: b",
  "%A%",
  " a",
  "a\nb\n",
  " \n",
  "\n \n",
];
const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(..."az09 .-_/@%:#,[]{}'\"\\\n\t&*!|>?~`=".split("")) }),
  fc.constantFrom(...SPECIAL),
);
/** A number would be moved to the front; a comment's begins with its mark. */
const names = texts.filter((name) => !/^#|^\d+$|^__proto__$/.test(name));
const { values } = fc.letrec<{ values: EnvoyValue }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 3 },
    texts,
    fc.integer(),
    fc.constantFrom(true, false, null, 0.25),
    fc.array(tie("values"), { maxLength: 3 }),
    fc.dictionary(names, tie("values"), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

describe("formatEnvoyYaml", () => {
  it.each(["off", "Yes", "y", "NO"])("quotes %s, a boolean for Envoy's YAML 1.1", (name) => {
    for (const value of [{ name }, oneLine({ name })]) {
      expect(parse(formatEnvoyYaml({ value }, "h"), { version: "1.1" })).toEqual({ value: { name } });
    }
  });

  it("writes a comment above the key it is about, and above an item of a list", () => {
    const text = formatEnvoyYaml({ "#b": "why b", a: 1, b: [{ "#": "why this", c: true }] }, "heading");
    expect(text).toBe("# heading\n\na: 1\n# why b\nb:\n  # why this\n  - c: true\n");
  });

  it("breaks long comments at spaces and keeps their words", () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
    const comments = formatEnvoyYaml({ "#a": words, a: 1 }, "heading").split("\n").slice(2, -2);
    expect(Math.max(...comments.map((line) => line.length))).toBeLessThanOrEqual(112);
    expect(comments.map((line) => line.replace(/^# /, "")).join(" ")).toBe(words);
  });

  it("writes what is small on one line", () => {
    expect(formatEnvoyYaml({ a: oneLine({ b: [1, 2] }) }, "heading")).toContain("a: {b: [1, 2]}\n");
  });

  it("quotes what begins with a colon, which parsers in Go take for no text", () => {
    expect(formatEnvoyYaml({ a: oneLine({ name: ":authority" }) })).toBe('a: {name: ":authority"}\n');
  });

  it("quotes line breaks on one line", () => {
    for (const root of [{ a: ["-\na"] }, { a: "a:\na" }, { "?\na": 1 }]) {
      expect(parse(formatEnvoyYaml({ root: oneLine(root) }))).toEqual({ root });
    }
  });

  it("repeats equal parts instead of pointing at the first", () => {
    const part = { a: 1 };
    expect(formatEnvoyYaml({ first: part, second: part }, "heading")).not.toMatch(/[&*]/);
  });

  it("reads back as what was written, whatever the texts and names, over several lines and on one", () => {
    const property = fc.property(
      fc.dictionary(names, values, { minKeys: 1, noNullPrototype: true }),
      (root) => {
        const wanted = JSON.stringify(root);
        expect(JSON.stringify(parse(formatEnvoyYaml(root, "heading")))).toBe(wanted);
        expect(JSON.stringify(parse(formatEnvoyYaml({ root: oneLine(root) })))).toBe(`{"root":${wanted}}`);
      },
    );
    fc.assert(property, { numRuns: runs(150) });
  });

  it("begins a typed message with its type", () => {
    expect(Object.keys(typed("some.Message", { a: 1 }))).toEqual(["@type", "a"]);
  });
});
