import { describe, expect, it } from "vitest";
import { formatExactJson, parseExactJson } from "../../../src/shared/text/exact-json.ts";

describe("exact JSON", () => {
  it.each([
    ["an integer beyond 2^53", 2n ** 53n + 1n, "9007199254740993"],
    ["a negative one", -(2n ** 63n), "-9223372036854775808"],
  ])("keeps all digits of %s, written and read", (_what, value, text) => {
    expect(formatExactJson({ data: [{ spent: value }] })).toBe(`{"data":[{"spent":${text}}]}`);
    expect(parseExactJson(`{"data":[{"spent":${text}}]}`)).toEqual({ data: [{ spent: value }] });
  });

  it("has everything else as JSON has it", () => {
    const value = { small: 5, none: null, part: 0.5, large: 1e300, text: "9007199254740993" };
    expect(parseExactJson(formatExactJson(value))).toEqual(value);
    expect(formatExactJson(5n)).toBe("5");
  });
});
