import { describe, expect, it } from "vitest";
import { describeAmount } from "../../../../src/management/admin/dashboard/assets/describe-amount.js";
import { describeRate } from "../../../../src/management/admin/dashboard/assets/describe-rate.js";
import { fitLine } from "../../../../src/management/admin/dashboard/parts/plot.tsx";
import { alignDecimals, formatMoney, formatSumMoney } from "../../../../src/management/admin/format.ts";
import { isOverCap } from "../../../../src/management/admin/dashboard/limit-words.ts";
import { bucketCapacity } from "../../../../src/data-path/limits/bucket-capacity.ts";
import { parseCents, parseSignedAmount } from "../../../../src/shared/money/money.ts";

describe("amounts of a column of sums", () => {
  it.each([
    [0, "0.00 USD"],
    [999_999, "< 0.01 USD"],
    [1_999_999, "0.01 USD"],
    [123_456_789_000_000, "1,234,567.89 USD"],
    [-1, "-0.01 USD"],
  ])("%s microcents are %s: all have two decimals", (microcents, text) => {
    expect(formatSumMoney(microcents, "USD")).toBe(text);
  });
});

describe("describeRate", () => {
  it.each([
    [60, "60 rpm: 1 request per second, bursts of 10"],
    [600, "600 rpm: 10 requests per second, bursts of 60"],
    [1, "1 rpm: 1 request every 60 seconds, bursts of 10"],
    [1_000_000, "1,000,000 rpm: 16,666.7 requests per second, bursts of 100,000"],
  ])("says what %i requests a minute mean", (rate, text) => {
    expect(describeRate(rate)).toBe(text);
  });

  it("says the burst that the bucket has, at every rate", () => {
    const wrong = [];
    for (let rate = 1; rate <= 1_000_000; rate += rate < 2_000 ? 1 : 997) {
      const burst = bucketCapacity(rate).toLocaleString("en-US");
      if (!describeRate(rate).endsWith(`, bursts of ${burst}`)) wrong.push(rate);
    }
    expect(wrong).toEqual([]);
  });
});

describe("describeAmount", () => {
  it.each([
    ["", "USD", false, "USD"],
    ["1050", "USD", false, "= 1,050.00 USD"],
    [" 10.50 ", "EUR", false, "= 10.50 EUR"],
    ["10", "", false, "= 10.00"],
    ["10,50", "USD", false, "not an amount: write 50 or 50.00"],
    ["-0.00125", "USD", true, "= -0.00125 USD"],
  ])("says of %j in %j (signed: %s): %s", (text, currency, isSigned, said) => {
    expect(describeAmount(text, currency, isSigned)).toBe(said);
  });

  it("understands what the server takes, and nothing else", () => {
    const texts = [
      "0",
      "00",
      "5.",
      ".5",
      "5.0",
      "5.00",
      "5.000",
      "1,000",
      "1e3",
      "+5",
      "-5",
      "0.12345678",
      "٥",
    ];
    for (const length of [8, 9, 12, 13]) texts.push("9".repeat(length));
    const understood = (isSigned: boolean) =>
      texts.filter((text) => describeAmount(text, "USD", isSigned).startsWith("="));
    expect(understood(false)).toEqual(texts.filter((text) => parseCents(text) !== null));
    expect(understood(true)).toEqual(texts.filter((text) => parseSignedAmount(text) !== null));
  });
});

describe("formatMoney", () => {
  it.each([
    [123_456_789_000_000, "1,234,567.89 USD"],
    [1_999_999, "0.01 USD"],
    [450_000, "0.0045 USD"],
    [0, "0.00 USD"],
    [-500_000, "-0.01 USD"],
  ])("shows %i microcents as %s", (microcents, text) => {
    expect(formatMoney(microcents, "USD")).toBe(text);
  });
});

describe("alignDecimals", () => {
  it("gives every amount of a column as many digits as the longest has", () => {
    expect(alignDecimals(["0.0018075", "10.00", "-0.00008075"])).toEqual([
      "0.00180750",
      "10.00000000",
      "-0.00008075",
    ]);
  });

  it("leaves empty what is no amount", () => {
    expect(alignDecimals(["2.50", ""])).toEqual(["2.50", ""]);
  });
});

describe("fitLine", () => {
  it("cuts a name off where there is no room, and never the value", () => {
    const line = { name: "the old mobile app", text: "3.20 USD" };
    expect(fitLine(line, 40)).toBe("the old mobile app: 3.20 USD");
    expect(fitLine(line, 20)).toBe("the old m…: 3.20 USD");
    expect(fitLine(line, 3)).toBe("t…: 3.20 USD");
    expect(fitLine({ name: null, text: "2026-11-21" }, 3)).toBe("2026-11-21");
  });
});

describe("isOverCap", () => {
  it("takes a forecast of exactly the cap for one that fits", () => {
    expect(isOverCap({ monthCapCents: 5 }, 5_000_000)).toBe(false);
    expect(isOverCap({ monthCapCents: 5 }, 5_000_001)).toBe(true);
    expect(isOverCap({ monthCapCents: null }, 5_000_001)).toBe(false);
  });
});
