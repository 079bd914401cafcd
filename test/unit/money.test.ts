import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costMicrocents, formatCents, parsePrice, wholeCents } from "../../src/money.ts";

describe("parsePrice", () => {
  it.each([
    ["2.50", 250_000_000n],
    ["0.25", 25_000_000n],
    ["0.0375", 3_750_000n],
    ["0.00000001", 1n],
    ["0", 0n],
    ["9999999", 999_999_900_000_000n],
  ])("reads %s per million tokens exactly", (text, expected) => {
    expect(parsePrice(text)).toBe(expected);
  });

  it.each(["", "-1", "1.", ".5", "1e3", "0.000000001", "12345678", "1,5", " 1", "NaN", "0x10"])(
    "refuses %j",
    (text) => {
      expect(parsePrice(text)).toBeNull();
    },
  );
});

describe("costMicrocents", () => {
  const price = { input: 250_000_000n, cachedInput: 25_000_000n, output: 1_000_000_000n };

  it("sums tokens times prices", () => {
    expect(costMicrocents({ inputTokens: 4, cachedInputTokens: 10, outputTokens: 3 }, price)).toBe(
      4n * 250n + 250n + 3000n,
    );
  });

  it("rounds up once, on the sum", () => {
    const third = { input: 333_333n, cachedInput: 333_333n, output: 333_333n };
    expect(costMicrocents({ inputTokens: 1, cachedInputTokens: 1, outputTokens: 1 }, third)).toBe(1n);
    expect(costMicrocents({ inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }, third)).toBe(0n);
  });

  it("is exact for every count of tokens", () => {
    const count = fc.integer({ min: 0, max: 1_000_000_000 });
    fc.assert(
      fc.property(count, count, (inputTokens, outputTokens) => {
        const cost = costMicrocents({ inputTokens, cachedInputTokens: 0, outputTokens }, price);
        expect(cost).toBe(BigInt(inputTokens) * 250n + BigInt(outputTokens) * 1000n);
      }),
    );
  });
});

describe("wholeCents", () => {
  it.each([
    [0n, 0],
    [999_999n, 0],
    [1_000_000n, 1],
    [100_000_000_000_001n, 100_000_000],
    [-1n, -1],
    [-1_000_000n, -1],
  ])("rounds %s microcents down", (microcents, cents) => {
    expect(wholeCents(microcents)).toBe(cents);
  });
});

describe("formatCents", () => {
  it.each([
    [5013, "50.13 USD"],
    [0, "0.00 USD"],
    [7, "0.07 USD"],
    [-250, "-2.50 USD"],
  ])("writes %d", (cents, text) => {
    expect(formatCents(cents, "USD")).toBe(text);
  });
});
