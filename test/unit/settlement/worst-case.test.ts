import { describe, expect, it } from "vitest";
import { largestOutputTokens, worstCaseMicrocents } from "../../../src/settlement/worst-case.ts";

const MODEL = {
  contextWindow: 10_000,
  maxOutputTokens: 1_000,
  promptOverheadTokens: 64,
  promptOverheadTokensWithTools: 512,
};
/** One microcent for a prompt token, a tenth for a cached one, 100 for a generated one. */
const PRICE = { input: 1_000_000n, cachedInput: 100_000n, output: 100_000_000n };
const SIZE = { textBytes: 100, messages: 2, hasMedia: false, hasTools: false };

function worstOf(
  size: Partial<typeof SIZE> = {},
  request: { maxOutputTokens?: number | null; choices?: number } = {},
) {
  const { maxOutputTokens = 10, choices = 1 } = request;
  return worstCaseMicrocents(
    { promptSize: () => ({ ...SIZE, ...size }), maxOutputTokens, choices },
    MODEL,
    PRICE,
  );
}

describe("worstCaseMicrocents", () => {
  it("takes a token for each byte, eight for each message and the chat template's", () => {
    expect(worstOf()).toBe(BigInt(100 + 2 * 8 + 64) + 1_000n);
  });

  it("takes more for the template of tools", () => {
    expect(worstOf({ hasTools: true })).toBe(BigInt(100 + 2 * 8 + 512) + 1_000n);
  });

  it.each([
    ["one below", 9_919, 9_999n],
    ["the window itself", 9_920, 10_000n],
    ["one above", 9_921, 10_000n],
    ["far above", 9_000_000, 10_000n],
  ])("takes at most the context window for a text, %s", (_name, textBytes, prompt) => {
    expect(worstOf({ textBytes })).toBe(prompt + 1_000n);
  });

  it("takes the whole context window with images or files", () => {
    expect(worstOf({ hasMedia: true, textBytes: 1 })).toBe(10_000n + 1_000n);
  });

  it.each([
    ["the request's own limit", 999, 999n],
    ["the model's, where the request's is larger", 1_001, 1_000n],
    ["the model's, where the request has none", null, 1_000n],
  ])("takes for the output %s", (_name, maxOutputTokens, tokens) => {
    expect(worstOf({}, { maxOutputTokens })).toBe(180n + tokens * 100n);
  });

  it("takes the output as often as answers were asked for", () => {
    expect(worstOf({}, { choices: 3 })).toBe(180n + 3_000n);
  });

  it("takes the larger of the prices of new and cached input", () => {
    const request = { promptSize: () => SIZE, maxOutputTokens: 0, choices: 1 };
    expect(worstCaseMicrocents(request, MODEL, { ...PRICE, cachedInput: 2_000_000n })).toBe(360n);
  });

  it("is rounded up to a whole microcent", () => {
    const request = { promptSize: () => SIZE, maxOutputTokens: 0, choices: 1 };
    expect(worstCaseMicrocents(request, MODEL, { input: 1n, cachedInput: 0n, output: 0n })).toBe(1n);
  });
});

describe("largestOutputTokens", () => {
  it("is 0 where no output was asked for", () => {
    expect(largestOutputTokens({ maxOutputTokens: 0, choices: 5 }, MODEL)).toBe(0);
  });
});
