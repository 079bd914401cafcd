import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  completeRates,
  costMicrocents,
  costParts,
  RATE_NAMES,
  type Rates,
} from "../../../src/data-path/pricing/rates.ts";
import { NO_TOKENS, type TokenUsage } from "../../../src/shared/usage/token-usage.ts";
import { createUsageArbitrary } from "./usage-arbitrary.ts";

/** Each count and each rate another power, so that none can stand for another. */
const TOKENS: TokenUsage = {
  inputTokens: 1_111_111,
  cachedInputTokens: 10_000_000,
  cacheWriteTokens: 10_000,
  cacheWrite1hTokens: 100_000,
  inputAudioTokens: 1_000_000,
  outputTokens: 111_000,
  reasoningTokens: 10_000,
  outputAudioTokens: 100_000,
};
const RATES: Rates = {
  input: 1_000_000n,
  cachedInput: 2_000_000n,
  cacheWrite: 3_000_000n,
  cacheWrite1h: 4_000_000n,
  inputAudio: 5_000_000n,
  output: 6_000_000n,
  reasoning: 7_000_000n,
  outputAudio: 8_000_000n,
  request: 9n,
};
const COST = 1_111n + 20_000_000n + 30_000n + 400_000n + 5_000_000n + 6_000n + 70_000n + 800_000n + 9n;

const rate = fc.bigInt({ min: 0n, max: 999_999_999_999_999n });
const rates = fc.record(
  Object.fromEntries(RATE_NAMES.map((one) => [one.rate, rate])) as Record<keyof Rates, typeof rate>,
);
const tokens = createUsageArbitrary(300_000_000);

describe("costMicrocents", () => {
  it("charges each part of a request once, at its own rate, and the fee once", () => {
    expect(costMicrocents(TOKENS, RATES)).toBe(COST);
  });

  it("charges the fee of a request without tokens, and nothing of one that has neither", () => {
    expect(costMicrocents(NO_TOKENS, RATES)).toBe(9n);
    expect(costMicrocents(NO_TOKENS, { ...RATES, request: 0n })).toBe(0n);
  });

  it("lets no kind of token cost less than nothing, whatever its parts say", () => {
    const parts = { ...NO_TOKENS, inputTokens: 1, cacheWriteTokens: 3, outputTokens: 1, reasoningTokens: 2 };
    const fee = RATES.request * 1_000_000n;
    const cost = 3n * RATES.cacheWrite + 2n * RATES.reasoning + fee;
    expect(costMicrocents(parts, RATES)).toBe(cost / 1_000_000n);
  });

  it("rounds up once, on the sum", () => {
    const third = completeRates({ input: 333_333n, output: 333_333n });
    const one = { ...NO_TOKENS, inputTokens: 1, cachedInputTokens: 1, outputTokens: 1 };
    expect(costMicrocents(one, third)).toBe(1n);
    expect(costMicrocents({ ...one, outputTokens: 2 }, third)).toBe(2n);
  });

  it("equals the sum in rational numbers, rounded up, of whatever counts and rates", () => {
    fc.assert(
      fc.property(tokens, rates, ({ parts, usage }, given) => {
        const products: [number, bigint][] = [
          [parts.plain, given.input],
          [parts.cached, given.cachedInput],
          [parts.written, given.cacheWrite],
          [parts.hour, given.cacheWrite1h],
          [parts.audio, given.inputAudio],
          [parts.text, given.output],
          [parts.thought, given.reasoning],
          [parts.speech, given.outputAudio],
        ];
        let numerator = given.request * 1_000_000n;
        for (const [one, price] of products) numerator += BigInt(one) * price;
        const whole = numerator / 1_000_000n;
        const expected = whole * 1_000_000n === numerator ? whole : whole + 1n;
        expect(costMicrocents(usage, given)).toBe(expected);
      }),
    );
  });
});

describe("costParts", () => {
  it("names what was used alone, exactly", () => {
    const used = { ...NO_TOKENS, inputTokens: 3, cacheWriteTokens: 1 };
    expect(costParts(used, { ...RATES, cacheWrite: 1n, request: 0n })).toEqual([
      { name: "input", tokens: 2, uses: null, rate: 1_000_000n, amount: 2_000_000n },
      { name: "cache_write", tokens: 1, uses: null, rate: 1n, amount: 1n },
    ]);
  });

  it("has the uses of tools in it, a thousandth of their price each", () => {
    const search = { name: "web_search", uses: 3, rate: 1_000_000_001n };
    expect(costParts(NO_TOKENS, { ...RATES, request: 0n }, [search])).toEqual([
      { ...search, tokens: null, amount: 3_000_000_003_000n },
    ]);
    // 3,000,000.003 microcents
    expect(costMicrocents(NO_TOKENS, { ...RATES, request: 0n }, [search])).toBe(3_000_001n);
  });

  it("adds up to the cost before it is rounded up", () => {
    const tools = fc.array(fc.record({ name: fc.string(), uses: fc.nat(), rate: fc.bigInt({ min: 0n }) }));
    fc.assert(
      fc.property(tokens, rates, tools, ({ usage }, given, used) => {
        const sum = costParts(usage, given, used).reduce((total, { amount }) => total + amount, 0n);
        const cost = costMicrocents(usage, given, used) * 1_000_000n;
        expect(cost - sum >= 0n && cost - sum < 1_000_000n).toBe(true);
      }),
    );
  });
});

describe("completeRates", () => {
  it("falls back: an hour's write to a write, all else to its plain side, and there is no fee", () => {
    expect(completeRates({ input: 2n, output: 5n })).toEqual({
      input: 2n,
      cachedInput: 2n,
      cacheWrite: 2n,
      cacheWrite1h: 2n,
      inputAudio: 2n,
      output: 5n,
      reasoning: 5n,
      outputAudio: 5n,
      request: 0n,
    });
    expect(completeRates({ input: 2n, output: 5n, cacheWrite: 3n }).cacheWrite1h).toBe(3n);
  });
});
