import { describe, expect, it } from "vitest";
import { measurePrompts } from "../../../../src/data-path/translation/openai/prompts.ts";

describe("measurePrompts", () => {
  it.each([
    ["a text", { count: 1, tokens: null, hasMedia: false }],
    [["a", "b"], { count: 2, tokens: null, hasMedia: false }],
    [[1, 2, 3], { count: 1, tokens: 3, hasMedia: false }],
    [[[1, 2], [3]], { count: 2, tokens: 3, hasMedia: false }],
    [["a", [1, 2]], { count: 2, tokens: null, hasMedia: false }],
    [[{ image: "data:" }, "a"], { count: 2, tokens: null, hasMedia: true }],
  ])("reads %j", (value, prompts) => {
    expect(measurePrompts(value)).toEqual(prompts);
  });

  it.each([[[]], [[true]], [[null]], [[1, "a"]], [{}], [7], [null], [undefined]])("refuses %j", (value) => {
    expect(measurePrompts(value)).toBeNull();
  });

  it("takes an empty list of token ids for no text", () => {
    expect(measurePrompts([[]])).toEqual({ count: 1, tokens: null, hasMedia: true });
  });
});
