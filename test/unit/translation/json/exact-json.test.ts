import { describe, expect, it } from "vitest";
import { formatJson, parseExactJson } from "../../../../src/data-path/translation/json/exact-json.ts";

describe("parseExactJson", () => {
  it.each([
    ["12345678901234567890", 12345678901234567890n],
    ["-9007199254740993", -9007199254740993n],
    [
      '{"a":[1,9007199254740993],"b":{"c":18446744073709551615}}',
      { a: [1, 9007199254740993n], b: { c: 18446744073709551615n } },
    ],
  ])("keeps every digit of the integers in %s", (text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  it.each([
    '{"id":"12345678901234567890","\\"12345678901234567890":1}',
    "9007199254740991",
    "1000000000000000",
    "12345678901234567890.5",
    "12345678901234567890e1",
    "0.12345678901234567890",
    `[${"9".repeat(2_000)}]`,
  ])("reads %s as JSON.parse does", (text) => {
    expect(parseExactJson(text)).toEqual(JSON.parse(text));
  });

  it.each(["12345678901234567890x", '{"a":12345678901234567890', "01234567890123456789"])(
    "refuses %s in the words of JSON.parse",
    (text) => {
      const attempt = (parse: (json: string) => unknown) => {
        try {
          return parse(text);
        } catch (error) {
          return String(error);
        }
      };
      expect(attempt(parseExactJson)).toBe(attempt(JSON.parse));
    },
  );
});

it("refuses very many integers beyond 2^53, each of which would be made a bigint", () => {
  const list = (count: number) => `[${Array.from({ length: count }, () => "12345678901234567").join()}]`;
  expect(parseExactJson(list(100_000))).toHaveLength(100_000);
  expect(() => parseExactJson(list(100_001))).toThrow(/more than 100,000 integers/);
});

describe("formatJson", () => {
  it("writes a bigint as the integer that it is, and everything else as JSON.stringify does", () => {
    const value = {
      big: 12345678901234567890n,
      list: [-9007199254740993n, 1.5, null],
      text: "1",
      none: undefined,
    };
    expect(formatJson(value)).toBe(
      '{"big":12345678901234567890,"list":[-9007199254740993,1.5,null],"text":"1"}',
    );
    expect(formatJson({ text: 'a "b" 5' })).toBe(JSON.stringify({ text: 'a "b" 5' }));
  });
});
