import { describe, expect, it } from "vitest";
import {
  formatAmount,
  formatExactAmount,
  formatExactAmounts,
  parseAmount,
  parseCorrection,
  parseTokenCounts,
} from "../../../../src/operation/cli/management/option-values.ts";

describe("parseAmount", () => {
  it.each([
    ["0", 0],
    ["50", 5000],
    ["50.00", 5000],
    ["0.01", 1],
    ["1.10", 110],
    ["90000000.00", 9_000_000_000],
    ["none", "none"],
  ] as const)("reads %s as %s", (text, cents) => {
    expect(parseAmount(text)).toBe(cents);
  });

  it.each(["", "-1", "1,5", "1.5", "50.0", "1.005", ".5", "5.", "1e3", "90000000.01", "1 USD", "None"])(
    "refuses %j",
    (text) => {
      expect(() => parseAmount(text)).toThrow("expected an amount");
    },
  );
});

describe("parseCorrection", () => {
  it.each([
    ["12.50", 1_250_000_000],
    ["-12.50", -1_250_000_000],
    ["+1", 100_000_000],
    ["-0.00000001", -1],
    ["0.00125", 125_000],
    ["90000000", 9_000_000_000_000_000],
  ] as const)("reads %s as %d microcents", (text, microcents) => {
    expect(parseCorrection(text)).toBe(microcents);
  });

  it.each(["0", "-0.00", "", "1.000000001", "90000000.01", "x"])("refuses %j", (text) => {
    expect(() => parseCorrection(text)).toThrow("expected an amount");
  });
});

describe("parseTokenCounts", () => {
  it("reads counts by their names", () => {
    expect(parseTokenCounts("input=1200000, output=0")).toEqual({ input: 1_200_000, output: 0 });
  });

  it.each(["", "input", "input=", "input=-1", "input=1,", "input=1,input=2", "input=1.5", "INPUT=1"])(
    "refuses %j",
    (text) => {
      expect(() => parseTokenCounts(text)).toThrow("expected counts such as");
    },
  );
});

describe("formatAmount", () => {
  it.each([
    [5000, "50.00 USD"],
    [0, "0.00 USD"],
    [-1, "-0.01 USD"],
    [null, "none"],
  ] as const)("writes %s as %s", (cents, text) => {
    expect(formatAmount(cents, "USD")).toBe(text);
  });
});

describe("formatExactAmount", () => {
  it.each([
    [0, "0.00 USD"],
    [1, "0.00000001 USD"],
    [1_125_000, "0.01125 USD"],
    [-125_000, "-0.00125 USD"],
    [1_250_000_000, "12.50 USD"],
    [100_000_000, "1.00 USD"],
  ] as const)("writes %d as %s", (microcents, text) => {
    expect(formatExactAmount(microcents, "USD")).toBe(text);
  });
});

describe("formatExactAmounts", () => {
  it("gives all amounts of a column the same number of decimals", () => {
    expect(formatExactAmounts([0, 2_500_000, -125_000, 0], "USD")).toEqual([
      "0.00000 USD",
      "0.02500 USD",
      "-0.00125 USD",
      "0.00000 USD",
    ]);
    expect(formatExactAmounts([100_000_000, null], "EUR")).toEqual(["1.00 EUR", "none"]);
    expect(formatExactAmounts([], "EUR")).toEqual([]);
  });
});
