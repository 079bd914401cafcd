import { expect, it } from "vitest";
import { listWords } from "../../../src/shared/text/list-words.ts";

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
