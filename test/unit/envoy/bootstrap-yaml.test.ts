import { describe, expect, it } from "vitest";
import { formatEnvoyYaml, oneLine, typed } from "../../../src/envoy/bootstrap/yaml-document.ts";

describe("formatEnvoyYaml", () => {
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

  it("repeats equal parts instead of pointing at the first", () => {
    const part = { a: 1 };
    expect(formatEnvoyYaml({ first: part, second: part }, "heading")).not.toMatch(/[&*]/);
  });

  it("begins a typed message with its type", () => {
    expect(Object.keys(typed("some.Message", { a: 1 }))).toEqual(["@type", "a"]);
  });
});
