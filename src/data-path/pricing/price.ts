/**
 * What a model costs in one currency: by size of prompt, by service tier, and from when. Which of its rates a request
 * gets is decided once, when its usage is known; what it can come to at least and at most is known before.
 */
import { completeRates, costMicrocents, type GivenRates, type Rates, ratesOf } from "./rates.ts";
import type { ToolPrices } from "./tool-charges.ts";
import { plainTokens } from "../../shared/usage/token-usage.ts";
import { DEFAULT_SERVICE_TIERS, withoutPlace } from "../../shared/usage/service-tiers.ts";

/** The rates that a request is charged at, and where in the price they stand. */
export interface ChosenRates {
  readonly rates: Rates;
  /** Null: the default. */
  readonly serviceTier: string | null;
  /** Null: of prompts that no tier is for. */
  readonly abovePromptTokens: number | null;
  readonly from: string | null;
}

/** Rates of prompts that are larger than so many tokens, cached and written ones included. */
export interface PromptTier extends ChosenRates {
  readonly abovePromptTokens: number;
}

/** The rates of one service tier, for every size of prompt. */
export interface Schedule {
  /** The rates of prompts that no tier is for. */
  readonly plain: ChosenRates;
  /** Tiers by the size of prompts, in ascending order. */
  readonly tiers: readonly PromptTier[];
}

/** A price that is in force from a day on, until the next. */
export interface Price {
  /** UTC day, "2027-01-01"; null: from the beginning. */
  readonly from: string | null;
  /** The rates of requests that are served at no other service tier. */
  readonly base: Schedule;
  /** Schedules by the name that upstreams answer with, in lower case. */
  readonly serviceTiers: ReadonlyMap<string, Schedule>;
  /** Prices of tools that run at the model's server, the same at every service tier and size of prompt. */
  readonly serverTools: ToolPrices;
  /** The cheapest that a token or a request can get, whichever rates it ends at. */
  readonly cheapest: Rates;
}

/** Prices by the day from which they hold, the first from the beginning. Never empty. */
export type PriceList = readonly [Price, ...Price[]];

export interface GivenSchedule extends GivenRates {
  readonly tiers: readonly (GivenRates & { readonly abovePromptTokens: number })[];
}

export interface GivenPrice extends GivenSchedule {
  readonly from: string | null;
  readonly serviceTiers: readonly (GivenSchedule & { readonly name: string })[];
  /** Left out: none has a price. */
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

/** The price that is in force at a time, by the UTC day that it falls on. */
export function priceInForce(prices: PriceList, nowMs: number): Price {
  if (prices.length === 1) return prices[0];
  const today = new Date(nowMs).toISOString().slice(0, 10);
  return prices.findLast(({ from }) => from === null || from <= today) ?? prices[0];
}

/** Those that are not in force yet, the next first. */
export function announcedPrices(prices: PriceList, nowMs: number): Price[] {
  const inForce = priceInForce(prices, nowMs);
  return prices.slice(prices.indexOf(inForce) + 1);
}

/** Whether a service tier has a price of its own, or is the default. */
export function isPricedTier(price: Price, serviceTier: string): boolean {
  return price.serviceTiers.has(serviceTier) || DEFAULT_SERVICE_TIERS.has(serviceTier);
}

/**
 * The rates of a request: of the service tier that the upstream answered with (where it has no price, of the same at any
 * place, else of the default) and of the size of its whole prompt. The same object for each request that is charged so.
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

/** What a request has cost at least that had so many tokens, whichever rates it ends at. */
export function leastCost(price: Price, tokens: { inputTokens: number; outputTokens: number }): bigint {
  return costMicrocents(plainTokens(tokens.inputTokens, tokens.outputTokens), price.cheapest);
}

/**
 * What a request can cost at most that has so many tokens at most: at the dearest of all service tiers and sizes of
 * prompt that it can end in, since an upstream may serve a tier that nobody asked for.
 */
export function greatestCost(price: Price, most: { inputTokens: number; outputTokens: number }): bigint {
  let greatest = 0n;
  for (const { plain, tiers } of [price.base, ...price.serviceTiers.values()]) {
    const sizes = [{ abovePromptTokens: -1, rates: plain.rates }, ...tiers];
    for (const [index, size] of sizes.entries()) {
      if (size.abovePromptTokens >= most.inputTokens && size.abovePromptTokens >= 0) continue;
      // Prompts beyond the next tier's size are that one's.
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

/** Every token at the dearest rate that one of its kind can get. */
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
