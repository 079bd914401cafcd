import { describe, expect, it } from "vitest";
import {
  chargeTools,
  NO_TOOLS,
  toolAmount,
  toolMicrocents,
  type ToolPrices,
} from "../../../src/data-path/pricing/tool-charges.ts";

/** 10.00 and 0.003333 per thousand; one that passes without a price. */
const PRICES: ToolPrices = new Map([
  ["web_search", 1_000_000_000n],
  ["code_interpreter", 333_300n],
  ["image_generation", null],
]);

describe("chargeTools", () => {
  it("charges the uses of tools that have a price, each at its own", () => {
    const uses = new Map([
      ["web_search", 3],
      ["code_interpreter", 1],
      ["image_generation", 5],
      ["unknown", 2],
    ]);
    expect(chargeTools(PRICES, uses)).toEqual([
      { name: "web_search", uses: 3, rate: 1_000_000_000n },
      { name: "code_interpreter", uses: 1, rate: 333_300n },
    ]);
  });

  it.each([
    { what: "no uses", prices: PRICES, uses: new Map<string, number>() },
    { what: "no prices", prices: new Map<string, bigint>(), uses: new Map([["web_search", 1]]) },
    { what: "uses without a price alone", prices: PRICES, uses: new Map([["image_generation", 1]]) },
    { what: "a tool that was used 0 times", prices: PRICES, uses: new Map([["web_search", 0]]) },
  ])("is the same empty list for $what", ({ prices, uses }) => {
    expect(chargeTools(prices, uses)).toBe(NO_TOOLS);
  });
});

describe("what tools cost", () => {
  it("is exact in millionths of a microcent", () => {
    expect(toolAmount({ uses: 3, rate: 333_300n })).toBe(999_900_000n);
  });

  it.each([
    { uses: 3, rate: 1_000_000_000n, cost: 10_000_000n, microcents: 3_000_000n },
    // 333.3 microcents.
    { uses: 1, rate: 333_300n, cost: 10_000n, microcents: 334n },
    { uses: 1, rate: 333_300n, cost: 333n, microcents: 333n },
    { uses: 0, rate: 333_300n, cost: 10n, microcents: 0n },
  ])("of $uses uses at $rate is $microcents of a cost of $cost", ({ uses, rate, cost, microcents }) => {
    expect(toolMicrocents([{ name: "web_search", uses, rate }], cost)).toBe(microcents);
  });

  it("is nothing without tools", () => {
    expect(toolMicrocents(NO_TOOLS, 5n)).toBe(0n);
  });
});
