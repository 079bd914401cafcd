/**
 * The price at which a request was charged, as stored in its records, so that its cost can be explained and verified
 * after the catalog changes. Rates that equal their fallbacks are omitted.
 */
import type { ChosenRates } from "./price.ts";
import { completeRates, fallbackOf, isAlwaysShown, RATE_NAMES, type Rates } from "./rates.ts";
import { type ChargedTool, NO_TOOLS } from "./tool-charges.ts";

/** Figures of a check named "price". */
export type PriceFigures = Readonly<Record<string, string | number | boolean | null>>;

/** The price in force, stored to explain the cost later. */
export interface PriceCheck {
  readonly name: "price";
  readonly passed: true;
  readonly figures: PriceFigures;
}

const HOLD = "hold";
const PER_MILLION = "_microcents_per_million";
/** Suffix of the name of a server tool's price. */
const PER_THOUSAND = "_microcents_per_thousand";
const USES = "_uses";

/** A price in the form of each record. */
interface FormattedPrice {
  /** Rates that must be stored, in microcents. */
  readonly rates: PriceFigures;
  /** Place of the rates in the price: tier, prompt size and start, unless default. */
  readonly place: PriceFigures;
  readonly json: string;
  /** Cached check of the last currency, for requests without uses of tools. */
  check: PriceCheck | null;
}

/** Chosen rates live as long as their catalog, so each is formatted once, not twice per request. */
const cache = new WeakMap<ChosenRates, FormattedPrice>();

function formatOnce(charged: ChosenRates): FormattedPrice {
  const known = cache.get(charged);
  if (known !== undefined) return known;
  const { rates } = charged;
  const listed = RATE_NAMES.filter(({ rate }) => !isOmitted(rates, rate));
  const place = describePlace(charged);
  const members = [
    ...listed.map(({ rate, name }) => `"${name}":${rates[rate]}`),
    ...Object.entries(place).map(([name, value]) => `"${name}":${JSON.stringify(value)}`),
  ];
  const formatted: FormattedPrice = {
    rates: Object.fromEntries(listed.map(({ rate, name }) => [figureOf(name), String(rates[rate])])),
    place,
    json: `{${members.join(",")}}`,
    check: null,
  };
  cache.set(charged, formatted);
  return formatted;
}

/**
 * Formats a price as JSON: microcents per million tokens, the fee in microcents, and the place of the rates in the
 * model's price.
 */
export function formatChargedPrice(charged: ChosenRates): string {
  return formatOnce(charged).json;
}

function isOmitted(rates: Rates, rate: keyof Rates): boolean {
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

export interface StoredPrice {
  readonly charged: ChosenRates;
  readonly currency: string;
  /** Uses of server tools with a price. */
  readonly tools: readonly ChargedTool[];
}

/** Returns the same object for all requests at a price without uses of tools. */
export function describePrice(price: StoredPrice): PriceCheck {
  if (price.tools.length > 0) return createCheck(price);
  const formatted = formatOnce(price.charged);
  if (formatted.check?.figures["currency"] !== price.currency) formatted.check = createCheck(price);
  return formatted.check;
}

function createCheck(price: StoredPrice): PriceCheck {
  return Object.freeze({ name: "price", passed: true, figures: Object.freeze(formatPriceFigures(price)) });
}

/** Marks a cost that was lowered to the reservation of strict caps, because the tokens would cost more. */
export function boundByHold({ figures, ...check }: PriceCheck): PriceCheck {
  return { ...check, figures: { ...figures, bounded_by: HOLD } };
}

export function isBoundByHold(figures: PriceFigures): boolean {
  return figures["bounded_by"] === HOLD;
}

export function formatPriceFigures({ charged, currency, tools }: StoredPrice): PriceFigures {
  const counts: Record<string, number | string> = {};
  for (const { name, uses, rate } of tools) {
    counts[`${name}${USES}`] = uses;
    counts[`${name}${PER_THOUSAND}`] = String(rate);
  }
  const { rates, place } = formatOnce(charged);
  return { currency, ...rates, ...counts, ...place };
}

/** Returns null if the figures are not those of a price. */
export function parsePriceFigures(figures: PriceFigures): StoredPrice | null {
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
