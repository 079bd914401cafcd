import { describe, expect, it } from "vitest";
import { createPrice, type GivenPrice } from "../../../src/data-path/pricing/price.ts";
import type { RequestedTool } from "../../../src/data-path/translation/client-protocol.ts";
import {
  largestOutputTokens,
  worstCaseMicrocents,
} from "../../../src/data-path/settlement/tokens/worst-case.ts";

const MODEL = {
  contextWindow: 10_000,
  maxOutputTokens: 1_000,
  promptOverheadTokens: 64,
  promptOverheadTokensWithTools: 512,
};
/** One microcent for a prompt token, a tenth for a cached one, 100 for a generated one. */
const GIVEN = {
  from: null,
  input: 1_000_000n,
  cachedInput: 100_000n,
  output: 100_000_000n,
  tiers: [],
  serviceTiers: [],
};
const SIZE = {
  textBytes: 100,
  visibleTextBytes: 80,
  messages: 2,
  hasMedia: false,
  hasTools: false,
  predictionBytes: 0,
  isWhole: true,
};
const UPSTREAM_BYTES = 116;

interface WorstCaseOf {
  readonly size?: Partial<typeof SIZE>;
  readonly maxOutputTokens?: number | null;
  readonly choices?: number;
  readonly prompts?: number;
  readonly upstreamBytes?: number;
  readonly learnedOverheadTokens?: number;
  readonly price?: Partial<GivenPrice>;
  readonly serverTools?: readonly RequestedTool[];
}

function worstOf(input: WorstCaseOf = {}): bigint {
  const { size = {}, maxOutputTokens = 10, choices = 1, prompts = 1, serverTools = [] } = input;
  return worstCaseMicrocents({
    request: { promptSize: () => ({ ...SIZE, ...size }), maxOutputTokens, choices, prompts, serverTools },
    upstreamBytes: input.upstreamBytes ?? UPSTREAM_BYTES,
    learnedOverheadTokens: input.learnedOverheadTokens ?? 0,
    model: MODEL,
    affordable: null,
    price: createPrice({ ...GIVEN, ...input.price }),
  });
}

describe("worstCaseMicrocents", () => {
  it("takes a token for each byte that goes upstream, known field or not, and the chat template's", () => {
    expect(worstOf()).toBe(116n + 64n + 1_000n);
  });

  it("takes more for the template of tools", () => {
    expect(worstOf({ size: { hasTools: true } })).toBe(116n + 512n + 1_000n);
  });

  it.each([
    ["configured", 63, 64n],
    ["learned", 2_000, 2_000n],
  ])("takes the larger of the template's tokens, %s", (_name, learnedOverheadTokens, overhead) => {
    expect(worstOf({ learnedOverheadTokens })).toBe(116n + overhead + 1_000n);
  });

  it("takes a context window for each of several prompts, at most", () => {
    expect(worstOf({ upstreamBytes: 50_000, prompts: 3 })).toBe(30_000n + 1_000n);
    expect(worstOf({ prompts: 3, size: { hasMedia: true } })).toBe(30_000n + 1_000n);
  });

  it("never holds more than Redis can count, whatever a batch asks for", () => {
    expect(worstOf({ choices: 1e15 })).toBe(2n ** 53n);
  });

  it("takes a predicted output as output too: it is billed where the answer is another", () => {
    expect(worstOf({ size: { predictionBytes: 7 } })).toBe(180n + 1_700n);
  });

  it.each([
    ["one below", 9_935, 9_999n],
    ["the window itself", 9_936, 10_000n],
    ["one above", 9_937, 10_000n],
    ["far above", 9_000_000, 10_000n],
  ])("takes at most the context window for a text, %s", (_name, upstreamBytes, prompt) => {
    expect(worstOf({ upstreamBytes })).toBe(prompt + 1_000n);
  });

  it("takes the whole context window with images or files", () => {
    expect(worstOf({ size: { hasMedia: true }, upstreamBytes: 1 })).toBe(10_000n + 1_000n);
  });

  it.each([
    ["the request's own limit", 999, 999n],
    ["the model's, where the request's is larger", 1_001, 1_000n],
    ["the model's, where the request has none", null, 1_000n],
  ])("takes for the output %s", (_name, maxOutputTokens, tokens) => {
    expect(worstOf({ maxOutputTokens })).toBe(180n + tokens * 100n);
  });

  it("takes the output as often as answers were asked for", () => {
    expect(worstOf({ choices: 3 })).toBe(180n + 3_000n);
  });

  it("takes the larger of the prices of new and cached input", () => {
    expect(worstOf({ maxOutputTokens: 0, price: { cachedInput: 2_000_000n } })).toBe(360n);
  });

  it("takes the dearest service tier and size of prompt that the request can end in", () => {
    const priority = { name: "priority", input: 3_000_000n, output: 100_000_000n, tiers: [] };
    const large = { abovePromptTokens: 100, input: 5_000_000n, output: 100_000_000n };
    const serviceTiers = [priority];
    expect(worstOf({ maxOutputTokens: 0, price: { serviceTiers } })).toBe(540n);
    expect(worstOf({ maxOutputTokens: 0, price: { serviceTiers, tiers: [large] } })).toBe(900n);
    // No prompt of these bytes is as large.
    const tiers = [{ ...large, abovePromptTokens: 180 }];
    expect(worstOf({ maxOutputTokens: 0, price: { serviceTiers, tiers } })).toBe(540n);
  });

  it("takes a context window more for each use of a tool at the model server, and what the uses cost", () => {
    const serverTools = [{ name: "web_search", param: "tools.0", bound: { kind: "own", uses: 2 } }] as const;
    const prices = new Map([["web_search", 7_000n]]);
    expect(worstOf({ serverTools, price: { serverTools: prices } })).toBe(3n * 10_000n + 1_000n + 14n);
    // A prompt of three windows is at the price of its size.
    const tiers = [{ abovePromptTokens: 20_000, input: 2_000_000n, output: 100_000_000n }];
    expect(worstOf({ serverTools, price: { tiers } })).toBe(60_000n + 1_000n);
  });

  it("takes no more where a tool may not be used", () => {
    const serverTools = [
      { name: "web_search", param: "tools[0]", bound: { kind: "shared", uses: 0 } },
    ] as const;
    expect(worstOf({ serverTools })).toBe(worstOf());
  });

  it("is rounded up to a whole microcent", () => {
    const price = { input: 1n, cachedInput: 0n, output: 0n };
    expect(worstOf({ maxOutputTokens: 0, price })).toBe(1n);
  });
});

describe("largestOutputTokens", () => {
  it("is 0 where no output was asked for", () => {
    expect(largestOutputTokens({ maxOutputTokens: 0, choices: 5 }, MODEL)).toBe(0);
  });
});
