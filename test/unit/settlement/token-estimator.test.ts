import { describe, expect, it } from "vitest";
import { TokenEstimator } from "../../../src/settlement/token-estimator.ts";
import { MAX_TOKENIZER_BYTES } from "../../../src/settlement/tokenizer.ts";

const MODEL = "acme/echo-small";
const NOT_COUNTED = { count: () => Promise.resolve(null) };
const COUNTS_WORDS = { count: (text: string) => Promise.resolve(text.split(" ").length) };

function learnOften(estimator: TokenEstimator, promptBytes: number | null, promptTokens: number): void {
  for (let learned = 0; learned < 200; learned += 1) {
    estimator.learn(MODEL, { promptBytes, promptTokens, generatedBytes: 1_000, outputTokens: 500 });
  }
}

describe("TokenEstimator.estimatePrompt", () => {
  it("takes four bytes for a token before it has learned anything, and never says 0", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    expect(estimator.estimatePrompt(MODEL, 4_000)).toBe(1_000);
    expect(estimator.estimatePrompt(MODEL, 0)).toBe(1);
  });

  it("follows what a model's requests came to, and no other model's", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnOften(estimator, 1_000, 400);
    expect(estimator.estimatePrompt(MODEL, 10_000)).toBeGreaterThan(3_990);
    expect(estimator.estimatePrompt(MODEL, 10_000)).toBeLessThanOrEqual(4_000);
    expect(estimator.estimatePrompt("acme/other", 10_000)).toBe(2_500);
  });

  it("moves little for a single odd request", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    estimator.learn(MODEL, { promptBytes: 1_000, promptTokens: 1_000, generatedBytes: 0, outputTokens: 0 });
    expect(estimator.estimatePrompt(MODEL, 10_000)).toBeLessThan(3_000);
  });

  it.each([
    ["absurdly many tokens", 1_000, 900_000_000, 10_000, 10_000],
    ["almost none", 1_000, 1, 200, 10_000],
  ])("stays within what a text can have after %s", (_name, bytes, tokens, expected, asked) => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnOften(estimator, bytes, tokens);
    expect(Math.abs(estimator.estimatePrompt(MODEL, asked) - expected)).toBeLessThanOrEqual(expected / 50);
  });

  it.each([
    ["tiny bodies", 63, 60],
    ["prompts whose bytes say nothing", null, 60],
    ["prompts of no tokens", 1_000, 0],
  ])("learns nothing from %s", (_name, bytes, tokens) => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnOften(estimator, bytes, tokens);
    expect(estimator.estimatePrompt(MODEL, 4_000)).toBe(1_000);
  });
});

describe("TokenEstimator.estimateOutput", () => {
  it("says never fewer tokens than there were deltas", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    expect(estimator.estimateOutput(MODEL, { generatedBytes: 40, generatedDeltas: 3 })).toBe(10);
    expect(estimator.estimateOutput(MODEL, { generatedBytes: 40, generatedDeltas: 30 })).toBe(30);
    expect(estimator.estimateOutput(MODEL, { generatedBytes: 0, generatedDeltas: 0 })).toBe(0);
  });

  it("follows what a model's answers came to", () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    learnOften(estimator, 1_000, 250);
    expect(estimator.estimateOutput(MODEL, { generatedBytes: 1_000, generatedDeltas: 1 })).toBe(500);
  });
});

describe("TokenEstimator.countOutput and countPrompt", () => {
  const generated = { generatedBytes: 11, generatedDeltas: 9, generatedText: "hello world" };

  it("ask the tokenizer", async () => {
    const estimator = new TokenEstimator(COUNTS_WORDS);
    expect(await estimator.countOutput(MODEL, generated)).toBe(2);
    expect(await estimator.countPrompt(MODEL, "one two three")).toBe(3);
  });

  it("estimate by bytes where the tokenizer cannot count", async () => {
    const estimator = new TokenEstimator(NOT_COUNTED);
    expect(await estimator.countOutput(MODEL, generated)).toBe(9);
    expect(await estimator.countPrompt(MODEL, "é".repeat(200))).toBe(100);
    expect(await estimator.countPrompt(MODEL, "")).toBe(1);
  });

  it("estimate by bytes where only a part of the text was kept", async () => {
    const estimator = new TokenEstimator(COUNTS_WORDS);
    const long = { ...generated, generatedBytes: MAX_TOKENIZER_BYTES + 4 };
    expect(await estimator.countOutput(MODEL, long)).toBe(MAX_TOKENIZER_BYTES / 4 + 1);
  });
});
