import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPriceFigures, parsePriceFigures } from "../../../src/data-path/pricing/charged-price.ts";
import {
  announcedPrices,
  chooseRates,
  createPrice,
  type GivenPrice,
  greatestCost,
  isPricedTier,
  leastCost,
  type Price,
  priceInForce,
  type PriceList,
} from "../../../src/data-path/pricing/price.ts";
import { costMicrocents, promptTokensOf } from "../../../src/data-path/pricing/rates.ts";
import { createUsageArbitrary } from "./usage-arbitrary.ts";
import { runs } from "../../support/extent.ts";

const PLAIN: GivenPrice = { from: null, input: 10n, output: 20n, tiers: [], serviceTiers: [] };
const TIERED: GivenPrice = {
  ...PLAIN,
  tiers: [
    { abovePromptTokens: 100, input: 11n, output: 21n },
    { abovePromptTokens: 200, input: 12n, output: 22n },
  ],
  serviceTiers: [
    { name: "flex", input: 5n, output: 9n, tiers: [{ abovePromptTokens: 150, input: 6n, output: 8n }] },
  ],
};

describe("chooseRates", () => {
  const price = createPrice(TIERED);
  const inputAt = (tier: string | null, prompt: number): bigint =>
    chooseRates(price, tier, prompt).rates.input;

  it.each([
    [0, 10n],
    [100, 10n],
    [101, 11n],
    [200, 11n],
    [201, 12n],
    [1_000_000_000, 12n],
  ])("takes one size for the whole prompt: %s tokens at %s", (prompt, input) => {
    expect(inputAt(null, prompt)).toBe(input);
  });

  it("takes the sizes of the service tier that was answered, not of the default", () => {
    expect([inputAt("flex", 150), inputAt("flex", 151), inputAt("flex", 201)]).toEqual([5n, 6n, 6n]);
  });

  it.each(["default", "auto", "standard", "priority", "x"])("takes the default's for %s", (tier) => {
    expect(chooseRates(price, tier, 0)).toMatchObject({ serviceTier: null, abovePromptTokens: null });
    expect(inputAt(tier, 0)).toBe(10n);
  });

  it("takes the same tier's at any place where the place has no price", () => {
    expect(["flex-us", "us", "x-us"].map((tier) => inputAt(tier, 0))).toEqual([5n, 10n, 10n]);
    expect(isPricedTier(price, "flex-us")).toBe(false);
  });

  it("knows which service tiers have a price", () => {
    expect(
      ["flex", "default", "auto", "standard", "priority"].map((tier) => isPricedTier(price, tier)),
    ).toEqual([true, true, true, true, false]);
  });
});

describe("priceInForce", () => {
  const at = (from: string | null): Price => createPrice({ ...PLAIN, from });
  const prices: PriceList = [at(null), at("2026-12-01"), at("2027-01-01")];

  it.each([
    ["1970-01-01T00:00:00.000Z", null, ["2026-12-01", "2027-01-01"]],
    ["2026-11-30T23:59:59.999Z", null, ["2026-12-01", "2027-01-01"]],
    ["2026-12-01T00:00:00.000Z", "2026-12-01", ["2027-01-01"]],
    ["2026-12-31T23:59:59.999Z", "2026-12-01", ["2027-01-01"]],
    ["2027-01-01T00:00:00.000Z", "2027-01-01", []],
    ["2099-01-01T00:00:00.000Z", "2027-01-01", []],
  ])("at %s it is that of %s, and %j are announced", (time, from, announced) => {
    expect(priceInForce(prices, Date.parse(time)).from).toBe(from);
    expect(announcedPrices(prices, Date.parse(time)).map((price) => price.from)).toEqual(announced);
  });
});

describe("what a request can come to", () => {
  const amount = fc.bigInt({ min: 0n, max: 10_000_000n });
  const rates = {
    input: amount,
    output: amount,
    cachedInput: fc.option(amount, { nil: undefined }),
    cacheWrite: fc.option(amount, { nil: undefined }),
    cacheWrite1h: fc.option(amount, { nil: undefined }),
    inputAudio: fc.option(amount, { nil: undefined }),
    reasoning: fc.option(amount, { nil: undefined }),
    outputAudio: fc.option(amount, { nil: undefined }),
    request: fc.option(amount, { nil: undefined }),
  };
  const tiers = fc
    .uniqueArray(fc.integer({ min: 1, max: 900 }), { maxLength: 3 })
    .chain((sizes) =>
      fc.tuple(
        ...sizes
          .toSorted((left, right) => left - right)
          .map((size) => fc.record({ ...rates, abovePromptTokens: fc.constant(size) })),
      ),
    );
  const schedule = fc.record({ ...rates, tiers });
  const prices = fc
    .record({ base: schedule, flex: schedule, priority: schedule })
    .map(({ base, flex, priority }) =>
      createPrice({
        ...base,
        from: null,
        serviceTiers: [
          { ...flex, name: "flex" },
          { ...priority, name: "priority" },
        ],
      }),
    );
  const part = fc.integer({ min: 0, max: 200 });
  const tools = fc.uniqueArray(
    fc.record({ name: fc.constantFrom("web_search", "mcp"), uses: fc.nat(), rate: amount }),
    { selector: ({ name }) => name },
  );
  const usages = createUsageArbitrary(200).map(({ usage }) => usage);
  const tier = fc.constantFrom(null, "flex", "priority", "unknown");

  it("is never below its lower bound nor above its worst case, whatever it ends as", () => {
    fc.assert(
      fc.property(prices, usages, tier, part, (price, usage, named, more) => {
        const prompt = promptTokensOf(usage);
        const cost = costMicrocents(usage, chooseRates(price, named, prompt).rates);
        const { outputTokens } = usage;
        expect(leastCost(price, { inputTokens: prompt, outputTokens }) <= cost).toBe(true);
        const most = { inputTokens: prompt + more, outputTokens: outputTokens + more };
        expect(greatestCost(price, most) >= cost).toBe(true);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it("is kept with the request so that its records say the same rates again", () => {
    fc.assert(
      fc.property(prices, usages, tier, tools, (price, usage, named, tools) => {
        const charged = chooseRates(price, named, promptTokensOf(usage));
        const kept = { charged, currency: "EUR", tools };
        const figures = formatPriceFigures(kept);
        expect(parsePriceFigures(JSON.parse(JSON.stringify(figures)) as typeof figures)).toEqual(kept);
      }),
    );
  });

  it("falls back where a rate is left out", () => {
    const figures = {
      currency: "USD",
      input_microcents_per_million: "250000000",
      cached_input_microcents_per_million: "25000000",
      output_microcents_per_million: "1000000000",
    };
    const rates = { cacheWrite: 250_000_000n, reasoning: 1_000_000_000n, request: 0n };
    expect(parsePriceFigures(figures)?.charged).toMatchObject({ rates, serviceTier: null, from: null });
    expect(parsePriceFigures({ currency: "USD" })).toBeNull();
  });
});
