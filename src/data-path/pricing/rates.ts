/**
 * What the parts of one request cost. A request's cost is an exact sum of products, rounded up to a whole microcent once,
 * at its end; so no part is rounded by itself.
 */
import { formatPrice } from "../../shared/money/money.ts";
import { compileExpression } from "../../shared/usage/compile.ts";
import { TOKEN_FIGURES } from "../../shared/usage/figures.ts";
import {
  partsOf,
  priceNameOf,
  rateOf,
  TOKEN_KINDS,
  type TokenPriceName,
  type TokenRate,
  type TokenUsage,
  WHOLE_KINDS,
} from "../../shared/usage/token-usage.ts";
import { type ChargedTool, NO_TOOLS, toolAmount } from "./tool-charges.ts";

/** The rates that have to be given. */
type BaseRate = "input" | "output";

/** Microcents per million tokens, of tokens that have no rate of their own as a part; but `request`, which is in microcents. */
export type Rates = {
  readonly [Name in TokenRate | "request"]: bigint;
};

/** The tokens of a request as they are billed: none is in two parts. */
export type BilledTokens = TokenUsage;

/** What one part of a request came to. */
export interface CostPart {
  /** The name of a rate, or of a server tool. */
  readonly name: string;
  /** Null: the fee of the request, or uses of a tool. */
  readonly tokens: number | null;
  /** How often a server tool was used; null: it is none. */
  readonly uses: number | null;
  /** Per million tokens, per request, or per thousand uses. */
  readonly rate: bigint;
  /** Exact, in millionths of a microcent. */
  readonly amount: bigint;
}

export type PartName = TokenPriceName | "request";

interface RateName {
  readonly rate: keyof Rates;
  readonly name: PartName;
}

/** A rate's name in files, records and answers, beside that of its field, in the order in which they are shown. */
export const RATE_NAMES: readonly RateName[] = [
  ...TOKEN_KINDS.map((kind): RateName => ({ rate: rateOf(kind), name: priceNameOf(kind) })),
  { rate: "request", name: "request" },
];

type Fallbacks = Readonly<Record<Exclude<TokenRate, BaseRate>, TokenRate>>;

/** What a rate is when it is not given. A fee that is not given is none. */
const FALLBACKS = Object.fromEntries(
  TOKEN_KINDS.flatMap((kind) => {
    const { fallback } = TOKEN_FIGURES[kind].price;
    return fallback === null ? [] : [[rateOf(kind), fallback]];
  }),
) as Fallbacks;

/** The rates that prices are always shown with: of the kinds of tokens that are parts of nothing. */
const ALWAYS_SHOWN: ReadonlySet<keyof Rates> = new Set(WHOLE_KINDS.map(rateOf));

/** Whether a rate is always in what is shown and kept of a price, whatever it is. */
export function isAlwaysShown(rate: keyof Rates): boolean {
  return ALWAYS_SHOWN.has(rate);
}

/** What a rate is when it is not given; null: it has to be given, or is the fee. */
export function fallbackOf(rate: keyof Rates): TokenRate | null {
  return FALLBACKS[rate as keyof Fallbacks] ?? null;
}

/** The rates that a token of a prompt, or of an answer, can get: the base and all that come down to it. */
export function ratesOf(base: BaseRate): readonly TokenRate[] {
  const comesTo = (rate: TokenRate): TokenRate => {
    const fallback = fallbackOf(rate);
    return fallback === null ? rate : comesTo(fallback);
  };
  return TOKEN_KINDS.map(rateOf).filter((rate) => comesTo(rate) === base);
}

const NO_FEE = formatPrice(0n);

/**
 * The names of the rates that are not what they fall back to, the fee of a request behind them where there is one; without
 * those that are always shown.
 */
export function listOtherRates(shown: Readonly<Record<string, unknown>>): PartName[] {
  const nameOf = new Map<keyof Rates, PartName>(RATE_NAMES.map(({ rate, name }) => [rate, name]));
  return RATE_NAMES.filter(({ rate, name }) => {
    if (isAlwaysShown(rate)) return false;
    if (rate === "request") return shown[name] !== NO_FEE;
    return shown[name] !== shown[nameOf.get(fallbackOf(rate) ?? rate) ?? ""];
  }).map(({ name }) => name);
}

/** Rates as somebody gave them: all but two may be left out. */
export type GivenRates = Pick<Rates, BaseRate> & {
  readonly [Name in Exclude<keyof Rates, BaseRate>]?: Rates[Name] | undefined;
};

export const TOKENS_PER_PRICE_UNIT = 1_000_000n;

/** Rates with what was left out. */
export function completeRates(given: GivenRates): Rates {
  const rateOf = (rate: keyof Rates): bigint => {
    const fallback = fallbackOf(rate);
    return given[rate] ?? (fallback === null ? 0n : rateOf(fallback));
  };
  const rates = RATE_NAMES.map(({ rate }) => [rate, rateOf(rate)]);
  return Object.freeze(Object.fromEntries(rates) as Rates);
}

/** All tokens of a prompt, cached and written ones included. */
export function promptTokensOf(tokens: Pick<TokenUsage, "inputTokens" | "cachedInputTokens">): number {
  return tokens.inputTokens + tokens.cachedInputTokens;
}

/** What is charged at each rate: the tokens of its kind that are in none of the kind's parts. */
const CHARGED = TOKEN_KINDS.map((kind) => ({
  kind,
  parts: partsOf(kind),
  rate: rateOf(kind),
  name: priceNameOf(kind),
}));

function countCharged(tokens: BilledTokens, { kind, parts }: (typeof CHARGED)[number]): number {
  let count = tokens[kind];
  for (const part of parts) count -= tokens[part];
  return count;
}

/** The tokens of each kind at its rate, never below nothing of one kind, whose cost the others would have to make up for. */
const amountOfTokens = compileExpression(
  ["tokens", "rates"],
  CHARGED.map(({ kind, parts, rate }) => {
    const count = [kind, ...parts].map((name) => `tokens.${name}`).join(" - ");
    return `(${count} > 0 ? BigInt(${count}) * rates.${rate} : 0n)`;
  }).join(" + "),
) as (tokens: BilledTokens, rates: Rates) => bigint;

/** The cost of a request in microcents, rounded up once, on the sum. */
export function costMicrocents(
  tokens: BilledTokens,
  rates: Rates,
  tools: readonly ChargedTool[] = NO_TOOLS,
): bigint {
  let sum = rates.request * TOKENS_PER_PRICE_UNIT + amountOfTokens(tokens, rates);
  for (const tool of tools) sum += toolAmount(tool);
  return roundUp(sum);
}

/** The parts of a cost, exact, without those of which there is nothing: they add up to it before it is rounded up. */
export function costParts(
  tokens: BilledTokens,
  rates: Rates,
  tools: readonly ChargedTool[] = NO_TOOLS,
): CostPart[] {
  const ofTokens = CHARGED.flatMap((charged): CostPart[] => {
    const { name } = charged;
    const [count, rate] = [countCharged(tokens, charged), rates[charged.rate]];
    return count === 0 ? [] : [{ name, tokens: count, uses: null, rate, amount: BigInt(count) * rate }];
  });
  const fee = rates.request;
  const amount = fee * TOKENS_PER_PRICE_UNIT;
  const ofRequest: CostPart[] =
    fee === 0n ? [] : [{ name: "request", tokens: null, uses: null, rate: fee, amount }];
  const ofTools = tools.map((tool): CostPart => ({ ...tool, tokens: null, amount: toolAmount(tool) }));
  return [...ofTokens, ...ofRequest, ...ofTools];
}

/** Millionths of a microcent as whole microcents: the only rounding of a cost. */
export function roundUp(amount: bigint): bigint {
  return (amount + TOKENS_PER_PRICE_UNIT - 1n) / TOKENS_PER_PRICE_UNIT;
}
