/**
 * The price that a request was charged at, as its records keep it: so that its cost can be told and checked later,
 * whatever the catalog says by then. A rate that equals what it falls back to is left out.
 */
import type { ChosenRates } from "./price.ts";
import { completeRates, fallbackOf, isAlwaysShown, RATE_NAMES, type Rates } from "./rates.ts";
import { type ChargedTool, NO_TOOLS } from "./tool-charges.ts";

/** The figures of a check named "price". */
export type PriceFigures = Readonly<Record<string, string | number | boolean | null>>;

/** The price that was in force, so that a cost can be explained later. */
export interface PriceCheck {
  readonly name: "price";
  readonly passed: true;
  readonly figures: PriceFigures;
}

const HOLD = "hold";
const PER_MILLION = "_microcents_per_million";
/** Ends the name of a server tool's price. */
const PER_THOUSAND = "_microcents_per_thousand";
const USES = "_uses";

/** A price in the words of each record. */
interface KeptWords {
  /** The rates that must be kept, in microcents. */
  readonly rates: PriceFigures;
  /** Where in the price they stand; only what is not the default. */
  readonly place: PriceFigures;
  readonly json: string;
  /** The check of the last currency, for requests without uses of tools. */
  check: PriceCheck | null;
}

/** Chosen rates live as long as their catalog: they are put into words once, not twice with every request. */
const kept = new WeakMap<ChosenRates, KeptWords>();

function wordsOf(charged: ChosenRates): KeptWords {
  const known = kept.get(charged);
  if (known !== undefined) return known;
  const { rates } = charged;
  const listed = RATE_NAMES.filter(({ rate }) => !isLeftOut(rates, rate));
  const place = describePlace(charged);
  const members = [
    ...listed.map(({ rate, name }) => `"${name}":${rates[rate]}`),
    ...Object.entries(place).map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
  ];
  const words: KeptWords = {
    rates: Object.fromEntries(listed.map(({ rate, name }) => [figureOf(name), String(rates[rate])])),
    place,
    json: `{${members.join(",")}}`,
    check: null,
  };
  kept.set(charged, words);
  return words;
}

/** A price as JSON: microcents per million tokens, of the fee microcents; and which of the model's prices they are. */
export function formatChargedPrice(charged: ChosenRates): string {
  return wordsOf(charged).json;
}

function isLeftOut(rates: Rates, rate: keyof Rates): boolean {
  if (rate === "request") return rates.request === 0n;
  const fallback = fallbackOf(rate);
  return !isAlwaysShown(rate) && fallback !== null && rates[rate] === rates[fallback];
}

function describePlace({ serviceTier, abovePromptTokens, from }: ChosenRates): PriceFigures {
  return {
    ...(serviceTier === null ? {} : { service_tier: serviceTier }),
    ...(abovePromptTokens === null ? {} : { above_prompt_tokens: abovePromptTokens }),
    ...(from === null ? {} : { price_from: from }),
  };
}

export interface KeptPrice {
  readonly charged: ChosenRates;
  readonly currency: string;
  /** Uses of server tools that have a price. */
  readonly tools: readonly ChargedTool[];
}

/** The same object for all requests at a price that have no uses of tools. */
export function describePrice(price: KeptPrice): PriceCheck {
  if (price.tools.length > 0) return createCheck(price);
  const words = wordsOf(price.charged);
  if (words.check?.figures["currency"] !== price.currency) words.check = createCheck(price);
  return words.check;
}

function createCheck(price: KeptPrice): PriceCheck {
  return Object.freeze({ name: "price", passed: true, figures: Object.freeze(formatPriceFigures(price)) });
}

/** What the tokens come to is more than strict caps held for the request, and that is what it costs. */
export function boundByHold({ figures, ...check }: PriceCheck): PriceCheck {
  return { ...check, figures: { ...figures, bounded_by: HOLD } };
}

export function isBoundByHold(figures: PriceFigures): boolean {
  return figures["bounded_by"] === HOLD;
}

export function formatPriceFigures({ charged, currency, tools }: KeptPrice): PriceFigures {
  const counts: Record<string, number | string> = {};
  for (const { name, uses, rate } of tools) {
    counts[`${name}${USES}`] = uses;
    counts[`${name}${PER_THOUSAND}`] = String(rate);
  }
  const { rates, place } = wordsOf(charged);
  return { currency, ...rates, ...counts, ...place };
}

/** Null: the figures are not those of a price. */
export function parsePriceFigures(figures: PriceFigures): KeptPrice | null {
  const read = (name: string): bigint | undefined => readRate(figures[figureOf(name)]);
  const given = Object.fromEntries(RATE_NAMES.map(({ rate, name }) => [rate, read(name)]));
  const { input, output } = given;
  const { currency, service_tier: serviceTier, above_prompt_tokens: size, price_from: from } = figures;
  if (input === undefined || output === undefined || typeof currency !== "string") return null;
  return {
    currency,
    tools: readTools(figures),
    charged: {
      rates: completeRates({ ...given, input, output }),
      serviceTier: typeof serviceTier === "string" ? serviceTier : null,
      abovePromptTokens: typeof size === "number" ? size : null,
      from: typeof from === "string" ? from : null,
    },
  };
}

function readRate(figure: PriceFigures[string] | undefined): bigint | undefined {
  return typeof figure === "string" && /^\d{1,20}$/.test(figure) ? BigInt(figure) : undefined;
}

function readTools(figures: PriceFigures): readonly ChargedTool[] {
  const tools = Object.entries(figures).flatMap(([figure, value]): ChargedTool[] => {
    if (!figure.endsWith(PER_THOUSAND)) return [];
    const name = figure.slice(0, -PER_THOUSAND.length);
    const [uses, rate] = [figures[`${name}${USES}`], readRate(value)];
    return typeof uses === "number" && rate !== undefined ? [{ name, uses, rate }] : [];
  });
  return tools.length === 0 ? NO_TOOLS : tools;
}

function figureOf(name: string): string {
  return name === "request" ? "request_microcents" : `${name}${PER_MILLION}`;
}
