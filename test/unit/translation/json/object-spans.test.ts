import { describe, expect, it } from "vitest";
import { JsonBoundError, MAX_NESTING } from "../../../../src/data-path/translation/json/json-bounds.ts";
import {
  applyEdits,
  findMembers,
  removeMembers,
} from "../../../../src/data-path/translation/json/object-spans.ts";

function readPairs(text: string): [string, string][] | null {
  return (
    findMembers(text)?.map(({ key, valueStart, valueEnd }) => [key, text.slice(valueStart, valueEnd)]) ?? null
  );
}

describe("findMembers", () => {
  it.each([
    { name: "an empty object", text: " { } ", expected: [] },
    {
      name: "scalars",
      text: '{"a":1.50e+3,"b":null,"c":true}',
      expected: [
        ["a", "1.50e+3"],
        ["b", "null"],
        ["c", "true"],
      ],
    },
    {
      name: "white space",
      text: '\t{ "a" :\r\n1 , "b": 2 }',
      expected: [
        ["a", "1"],
        ["b", "2"],
      ],
    },
    {
      name: "quotes and backslashes",
      text: String.raw`{"a":"\"}\\","b":"\\\"{","c":"\\\\"}`,
      expected: [
        ["a", String.raw`"\"}\\"`],
        ["b", String.raw`"\\\"{"`],
        ["c", String.raw`"\\\\"`],
      ],
    },
    {
      name: "nested values",
      text: '{"a":{"a":[{"b":"]"}]},"b":[1,{"c":"}"}]}',
      expected: [
        ["a", '{"a":[{"b":"]"}]}'],
        ["b", '[1,{"c":"}"}]'],
      ],
    },
    {
      name: "escaped keys",
      text: String.raw`{"mod\u0065l":1,"a\"b":2}`,
      expected: [
        ["model", "1"],
        ['a"b', "2"],
      ],
    },
    {
      name: "repeated keys",
      text: '{"a":1,"a":2}',
      expected: [
        ["a", "1"],
        ["a", "2"],
      ],
    },
    {
      name: "__proto__ as any other key",
      text: '{"__proto__":{"a":1}}',
      expected: [["__proto__", '{"a":1}']],
    },
    { name: "an array as none", text: '[{"a":1}]', expected: null },
    { name: "a string as none", text: '"{}"', expected: null },
    { name: "no text as none", text: "", expected: null },
    { name: "a cut object as none", text: '{"a":1', expected: null },
    { name: "a missing value as none", text: '{"a":,"b":1}', expected: null },
    { name: "an unended string as none", text: '{"a', expected: null },
  ])("reads $name", ({ text, expected }) => {
    expect(readPairs(text)).toEqual(expected);
  });

  it("takes the deepest nesting allowed and refuses one more, in objects and arrays, ended or not", () => {
    const nest = (levels: number): string => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    expect(findMembers(nest(MAX_NESTING))).toHaveLength(1);
    expect(() => findMembers(nest(MAX_NESTING + 1))).toThrow(JsonBoundError);
    expect(() => findMembers("[".repeat(100_000))).toThrow(JsonBoundError);
    expect(() => findMembers('{"a":'.repeat(100_000))).toThrow(JsonBoundError);
  });
});

describe("removeMembers", () => {
  it.each([
    { name: "the first", text: '{"u":1 , "a":2}', expected: '{"a":2}' },
    { name: "one in the middle", text: '{"a":1, "u":{"x":[1,2]} ,"b":2}', expected: '{"a":1 ,"b":2}' },
    { name: "the last", text: '{"a":1, "u":null }', expected: '{"a":1 }' },
    { name: "the only one", text: '{ "u":1 }', expected: "{  }" },
    { name: "all of several", text: '{"u":1,"u":2}', expected: "{}" },
    {
      name: "several around others",
      text: '{"u":1,"u":2,"a":3,"u":4,"u":5,"b":6,"u":7}',
      expected: '{"a":3,"b":6}',
    },
    { name: "none", text: '{"a":1}', expected: '{"a":1}' },
  ])("takes $name out with its comma", ({ text, expected }) => {
    expect(applyEdits(text, removeMembers(findMembers(text)!, "u"))).toBe(expected);
    expect(() => JSON.parse(expected) as unknown).not.toThrow();
  });
});
