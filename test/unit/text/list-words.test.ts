import { expect, it } from "vitest";
import { formatBytes } from "../../../src/text/format-bytes.ts";
import { listWords } from "../../../src/text/list-words.ts";

it.each([
  [[], ""],
  [["a"], "a"],
  [["a", "b"], "a and b"],
  [["a", "b", "c"], "a, b and c"],
])("lists %j as %j", (items, text) => {
  expect(listWords(items)).toBe(text);
});

it("lists alternatives", () => {
  expect(listWords(["a", "b", "c"], "or")).toBe("a, b or c");
});

it.each([
  [0, "0 bytes"],
  [1, "1 byte"],
  [1001, "1,001 bytes"],
  [1024, "1 KiB"],
  [256 * 1024 ** 2, "256 MiB"],
  [2 * 1024 ** 3, "2 GiB"],
])("writes %i bytes as %s", (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
