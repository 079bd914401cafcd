import { describe, expect, it } from "vitest";
import { DemoRequestError } from "../../../src/operation/demo/completion.ts";
import { createDemoEmbeddings } from "../../../src/operation/demo/embedding.ts";
import { createDemoLegacyCompletion } from "../../../src/operation/demo/legacy-completion.ts";

interface Answer {
  readonly data: readonly { readonly embedding: readonly number[] }[];
  readonly usage: object;
}
const embed = (fields: object) => createDemoEmbeddings({ model: "embed", ...fields }) as Answer;

describe("createDemoEmbeddings", () => {
  it("makes vectors of length 1, nearer to each other the more words their texts share", () => {
    const { data, usage } = embed({ input: ["red green blue", "red green", "four five six"] });
    const [first = [], second = [], third = []] = data.map(({ embedding }) => embedding);
    const nearness = (left: readonly number[], right: readonly number[]) =>
      left.reduce((sum, number, index) => sum + number * (right[index] ?? 0), 0);
    expect(nearness(first, first)).toBeCloseTo(1);
    expect(nearness(first, second)).toBeGreaterThan(nearness(first, third));
    expect(usage).toEqual({ prompt_tokens: 8, total_tokens: 8 });
  });

  it.each([
    { input: 7 },
    { input: [true] },
    { input: "a", dimensions: 0 },
    { input: "a", dimensions: "many" },
  ])("refuses %j", (fields) => {
    expect(() => embed(fields)).toThrow(DemoRequestError);
  });

  it("makes a zero vector of no words", () => {
    expect(embed({ input: "", dimensions: 2 }).data[0]?.embedding).toEqual([0, 0]);
  });
});

describe("createDemoLegacyCompletion", () => {
  it("repeats each prompt as often as asked, up to the token limit", () => {
    const body = { model: "echo", prompt: ["a b c", [7, 8]], n: 2, max_tokens: 2 };
    expect(createDemoLegacyCompletion(body)).toMatchObject({
      choices: [
        { tokens: ["a", " b"], finishReason: "length" },
        { tokens: ["a", " b"], finishReason: "length" },
        { tokens: [" 7", " 8"], finishReason: "stop" },
        { tokens: [" 7", " 8"], finishReason: "stop" },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 8, total_tokens: 13 },
    });
  });
});
