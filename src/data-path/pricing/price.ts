/**
 * Price of a model in one currency: by prompt size, service tier and start date. The rates of a request are chosen
 * once, when its usage is known; its minimum and maximum cost are known before.
 */
import { completeRates, costMicrocents, type GivenRates, type Rates, ratesOf } from "./rates.ts";
import type { ToolPrices } from "./tool-charges.ts";
import { plainTokens } from "../../shared/usage/token-usage.ts";
import { DEFAULT_SERVICE_TIERS, withoutPlace } from "../../shared/usage/service-tiers.ts";

/** The rates at which a request is charged, and their place in the price. */
export interface ChosenRates {
  readonly rates: Rates;
  /** Null: the default tier. */
  readonly serviceTier: string | null;
  /** Null: below all tiers of prompt size. */
  readonly abovePromptTokens: number | null;
  readonly from: string | null;
}

/** Rates of prompts with more than this many tokens, including cached and written ones. */
export interface PromptTier extends ChosenRates {
  readonly abovePromptTokens: number;
}

/** Rates of one service tier for every prompt size. */
export interface Schedule {
  /** Rates of prompts below all tiers. */
  readonly plain: ChosenRates;
  /** Tiers by prompt size, ascending. */
  readonly tiers: readonly PromptTier[];
}

/** A price in force from a day until the next price. */
export interface Price {
  /** UTC day, "2027-01-01"; null: since the beginning. */
  readonly from: string | null;
  /** Rates of the default service tier, and of tiers without a schedule. */
  readonly base: Schedule;
  /** Schedules by the tier's name in upstream answers, in lower case. */
  readonly serviceTiers: ReadonlyMap<string, Schedule>;
  /** Prices of server tools, the same for every service tier and prompt size. */
  readonly serverTools: ToolPrices;
  /** Minimum of all rates that can apply to a token or a request. */
  readonly cheapest: Rates;
}

/** Prices ordered by start date, the first without one. Never empty. */
export type PriceList = readonly [Price, ...Price[]];

export interface GivenSchedule extends GivenRates {
  readonly tiers: readonly (GivenRates & { readonly abovePromptTokens: number })[];
}

export interface GivenPrice extends GivenSchedule {
  readonly from: string | null;
  readonly serviceTiers: readonly (GivenSchedule & { readonly name: string })[];
  /** Absent: no tool has a price. */
  readonly serverTools?: ToolPrices;
}

const NO_PRICES: ToolPrices = new Map();
const RATES_OF_PROMPT = ratesOf("input");
const RATES_OF_ANSWER = ratesOf("output");

export function createPrice(given: GivenPrice): Price {
  const { from } = given;
  const base = createSchedule(given, { serviceTier: null, from });
  const serviceTiers = new Map(
    given.serviceTiers.map((tier) => [tier.name, createSchedule(tier, { serviceTier: tier.name, from })]),
  );
  const all = [base, ...serviceTiers.values()].flatMap(({ plain, tiers }) =>
    [plain, ...tiers].map(({ rates }) => rates),
  );
  const cheapest = completeRates({
    input: smallest(all.flatMap((one) => RATES_OF_PROMPT.map((rate) => one[rate]))),
    output: smallest(all.flatMap((one) => RATES_OF_ANSWER.map((rate) => one[rate]))),
    request: smallest(all.map((one) => one.request)),
  });
  return Object.freeze({ from, base, serviceTiers, serverTools: given.serverTools ?? NO_PRICES, cheapest });
}

/** Returns the price in force on the UTC day of a time. */
export function priceInForce(prices: PriceList, nowMs: number): Price {
  if (prices.length === 1) return prices[0];
  const today = new Date(nowMs).toISOString().slice(0, 10);
  return prices.findLast(({ from }) => from === null || from <= today) ?? prices[0];
}

/** Lists future prices, the next first. */
export function announcedPrices(prices: PriceList, nowMs: number): Price[] {
  const inForce = priceInForce(prices, nowMs);
  return prices.slice(prices.indexOf(inForce) + 1);
}

/** Returns whether a service tier is the default or has a price of its own. */
export function isPricedTier(price: Price, serviceTier: string): boolean {
  return price.serviceTiers.has(serviceTier) || DEFAULT_SERVICE_TIERS.has(serviceTier);
}

/**
 * Chooses the rates for the service tier that the upstream named and for the size of the whole prompt. A tier without
 * a price falls back to the same tier without location, then to the default. Requests with the same rates get the same
 * object.
 */
export function chooseRates(price: Price, serviceTier: string | null, promptTokens: number): ChosenRates {
  const { plain, tiers } = findSchedule(price, serviceTier) ?? price.base;
  return tiers.findLast(({ abovePromptTokens }) => promptTokens > abovePromptTokens) ?? plain;
}

function findSchedule({ serviceTiers }: Price, serviceTier: string | null): Schedule | undefined {
  if (serviceTier === null || serviceTiers.size === 0) return undefined;
  const own = serviceTiers.get(serviceTier);
  if (own !== undefined) return own;
  const anywhere = withoutPlace(serviceTier);
  return anywhere === null ? undefined : serviceTiers.get(anywhere);
}

/** Computes the minimum cost of a request with this many tokens, whichever rates apply in the end. */
export function leastCost(price: Price, tokens: { inputTokens: number; outputTokens: number }): bigint {
  return costMicrocents(plainTokens(tokens.inputTokens, tokens.outputTokens), price.cheapest);
}

/**
 * Computes the maximum cost of a request with at most this many tokens, over all service tiers and prompt sizes,
 * because an upstream may serve a tier that was not requested.
 */
export function greatestCost(price: Price, most: { inputTokens: number; outputTokens: number }): bigint {
  let greatest = 0n;
  for (const { plain, tiers } of [price.base, ...price.serviceTiers.values()]) {
    const sizes = [{ abovePromptTokens: -1, rates: plain.rates }, ...tiers];
    for (const [index, size] of sizes.entries()) {
      if (size.abovePromptTokens >= most.inputTokens && size.abovePromptTokens >= 0) continue;
      // Larger prompts belong to the next tier.
      const inputTokens = Math.min(most.inputTokens, sizes[index + 1]?.abovePromptTokens ?? Infinity);
      const cost = costMicrocents(plainTokens(inputTokens, most.outputTokens), dearest(size.rates));
      if (cost > greatest) greatest = cost;
    }
  }
  return greatest;
}

function createSchedule(
  given: GivenSchedule,
  { serviceTier, from }: Pick<ChosenRates, "serviceTier" | "from">,
): Schedule {
  const choose = <Size extends number | null>(rates: GivenRates, abovePromptTokens: Size) =>
    Object.freeze({ rates: completeRates(rates), serviceTier, abovePromptTokens, from });
  const tiers = given.tiers.map((tier) => choose(tier, tier.abovePromptTokens));
  return Object.freeze({ plain: choose(given, null), tiers: Object.freeze(tiers) });
}

/** Applies the highest possible rate to every token. */
function dearest(rates: Rates): Rates {
  return completeRates({
    input: largest(RATES_OF_PROMPT.map((rate) => rates[rate])),
    output: largest(RATES_OF_ANSWER.map((rate) => rates[rate])),
    request: rates.request,
  });
}

function smallest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((least, amount) => (amount < least ? amount : least));
}

function largest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((most, amount) => (amount > most ? amount : most));
}
