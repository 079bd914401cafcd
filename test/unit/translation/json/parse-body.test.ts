import { describe, expect, it } from "vitest";
import { readJsonBody } from "../../../../src/data-path/translation/json/parse-body.ts";
import { atOnce } from "../../../../src/shared/event-loop/steps.ts";

const listNames = (count: number): string =>
  Array.from({ length: count + 1 }, (_, index) => `"n${index}":1`).join();

const parseJsonBody = (bytes: Uint8Array) => atOnce(readJsonBody(bytes));

describe("readJsonBody", () => {
  it.each([
    { name: "an empty body", body: "", message: /empty/ },
    { name: "a blank body", body: " \n", message: /only spaces/ },
    { name: "bytes that are not UTF-8", body: Buffer.from([0x7b, 0xff, 0x7d]), message: /not valid UTF-8/ },
    { name: "an array", body: "[]", message: /must be a JSON object, not an empty array/ },
    { name: "a string", body: '"a"', message: /must be a JSON object, not a string/ },
    { name: "null", body: "null", message: /must be a JSON object, not null/ },
    { name: "a trailing comma", body: '{"a":1,}', message: /not valid JSON: .*position 7/ },
    { name: "a second value", body: '{"a":1} {}', message: /not valid JSON: .*position 8/ },
    { name: "a cut body", body: '{"a":"x', message: /not valid JSON: Unterminated string.*position 7/ },
    { name: "Python's True", body: '{"a":True}', message: /not valid JSON: .*'T'/ },
    { name: "mixed brackets", body: '{"a":[}]}', message: /not valid JSON/ },
    {
      name: "a body nested too deep",
      body: `{"a":${"[".repeat(5_000_000)}`,
      message: /nested deeper than 512/,
    },
    {
      name: "a body of very many objects",
      body: `{"a":[${"{},".repeat(250_000)}1]}`,
      message: /more than 250,000 objects, lists, strings and names of fields.*Send less/,
    },
    {
      name: "a body of very many names",
      body: `{${listNames(250_000)}}`,
      message: /more than 250,000 objects/,
    },
    {
      name: "a body of very many numbers",
      body: `{"a":[${"1,".repeat(2_000_001)}1]}`,
      message: /more than 2,000,000 values/,
    },
  ])("refuses $name as invalid_json", ({ body, message }) => {
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    expect(() => parseJsonBody(bytes)).toThrow(
      expect.objectContaining({ code: "invalid_json", message: expect.stringMatching(message) }),
    );
  });

  it("takes as many objects and numbers as it says, and any number of brackets and commas in a string", () => {
    const objects = `{"a":[${"{},".repeat(249_995)}{}],"b":"${"[{,".repeat(300_000)}"}`;
    expect(parseJsonBody(Buffer.from(objects)).value["a"]).toHaveLength(249_996);
    const numbers = `{"a":[${"1,".repeat(2_000_000)}1]}`;
    expect(parseJsonBody(Buffer.from(numbers)).value["a"]).toHaveLength(2_000_001);
  });

  it("drops a BOM", () => {
    expect(parseJsonBody(Buffer.from('\uFEFF{"a":1}'))).toMatchObject({ text: '{"a":1}', value: { a: 1 } });
  });

  it.each(["word", "wörd", "слово", "字", "🎉"])("reads a large body of %s to the last character", (word) => {
    const text = JSON.stringify({ words: `${word} `.repeat(5_000), last: word });
    const body = parseJsonBody(Buffer.from(`\uFEFF${text}`));
    expect(body.text).toBe(text);
    expect(body.bytes?.toString("utf8")).toBe(text);
    expect(body.value["last"]).toBe(word);
  });

  it("takes a view into a larger buffer for what it is", () => {
    const bytes = new Uint8Array(Buffer.from('xx{"a":1}yy')).subarray(2, 9);
    expect(parseJsonBody(bytes).value).toEqual({ a: 1 });
  });

  it("lets __proto__ be a key like any other", () => {
    const { value } = parseJsonBody(Buffer.from('{"__proto__":{"model":"x"}}'));
    expect(value["model"]).toBeUndefined();
  });
});
