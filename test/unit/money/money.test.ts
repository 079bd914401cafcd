import { describe, expect, it } from "vitest";
import {
  columnDecimals,
  formatCents,
  formatDecimal,
  formatFixed,
  formatProduct,
  isReached,
  parseCents,
  parsePrice,
  parseSignedAmount,
  wholeCents,
} from "../../../src/shared/money/money.ts";

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

describe("parseCents", () => {
  it.each([
    ["0", 0],
    ["50", 5_000],
    ["50.00", 5_000],
    ["50.5", null],
    ["10,50", null],
    ["1,000", null],
    ["1,000.00", null],
    ["1e3", null],
    [" 5", null],
    ["0.01", 1],
    ["-1", null],
    ["1.005", null],
    ["5.", null],
    ["", null],
  ])("reads %j as %s", (text, cents) => {
    expect(parseCents(text)).toBe(cents);
  });
});

describe("parseSignedAmount", () => {
  it.each([
    ["12.50", 1_250_000_000],
    ["+1", 100_000_000],
    ["-0.00000001", -1],
    ["-0", 0],
    ["0.000000001", null],
    ["--1", null],
    ["", null],
  ])("reads %j as %s", (text, microcents) => {
    expect(parseSignedAmount(text)).toBe(microcents);
  });
});

describe("formatFixed", () => {
  it.each([
    [123_400, 2, "0.00"],
    [123_400, 8, "0.00123400"],
    [-1_250_000_000, 2, "-12.50"],
    [9_000_000_000_000_000, 2, "90000000.00"],
  ])("writes %s with %s decimals: %s", (microcents, decimals, text) => {
    expect(formatFixed(microcents, decimals)).toBe(text);
  });
});

describe("columnDecimals", () => {
  it("is what the longest amount needs, two at least", () => {
    expect(columnDecimals([])).toBe(2);
    expect(columnDecimals([0, 100_000_000])).toBe(2);
    expect(columnDecimals([-123_400, 50])).toBe(7);
    expect(columnDecimals([123_400])).toBe(6);
  });
});

describe("formatDecimal", () => {
  it.each([
    [0n, "0.00000000"],
    [123_400n, "0.00123400"],
    [100_000_000n, "1.00000000"],
    [-1n, "-0.00000001"],
    [2n ** 63n, "92233720368.54775808"],
  ])("writes %s microcents with all their decimals: %s", (microcents, text) => {
    expect(formatDecimal(microcents)).toBe(text);
  });
});

describe("formatProduct", () => {
  it.each([
    [0n, 8, "0.00000000"],
    [123_400_000_000n, 8, "0.00123400"],
    [123_400_000_500n, 8, "0.001234000005"],
    [123_400_000_000n, 2, "0.001234"],
    [-1n, 2, "-0.00000000000001"],
  ])("writes %s millionths of a microcent with at least %d decimals: %s", (product, shown, text) => {
    expect(formatProduct(product, shown)).toBe(text);
  });
});

describe("isReached", () => {
  it.each([
    { cents: 50, spent: 49_999_999n, reached: false },
    { cents: 50, spent: 50_000_000n, reached: true },
    { cents: 50, spent: 50_000_001n, reached: true },
    { cents: 0, spent: 0n, reached: true },
    { cents: 0, spent: -1n, reached: false },
    { cents: 9_000_000_000, spent: 8_999_999_999_999_999n, reached: false },
    { cents: 9_000_000_000, spent: 9_000_000_000_000_000n, reached: true },
  ])("of $cents cents by $spent microcents: $reached", ({ cents, spent, reached }) => {
    expect(isReached(cents, spent)).toBe(reached);
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
