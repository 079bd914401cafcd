/**
 * Cost of the parts of a request. The cost is an exact sum of products, rounded up to a whole microcent once at the
 * end, so that no part is rounded separately.
 */
import { formatPrice } from "../../shared/money/money.ts";
import { compileExpression } from "../../shared/text/compile-expression.ts";
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

/** Rates that are required. */
type BaseRate = "input" | "output";

/** Microcents per million tokens that are in no part with a rate of its own. `request` is in microcents. */
export type Rates = {
  readonly [Name in TokenRate | "request"]: bigint;
};

/** Tokens of a request as billed; no token is in two parts. */
export type BilledTokens = TokenUsage;

/** Cost of one part of a request. */
export interface CostPart {
  /** Name of a rate or of a server tool. */
  readonly name: string;
  /** Null for the fee per request and for tools. */
  readonly tokens: number | null;
  /** Uses of a server tool; null for other parts. */
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

/** Rates with their names in files, records and answers, in display order. */
export const RATE_NAMES: readonly RateName[] = [
  ...TOKEN_KINDS.map((kind): RateName => ({ rate: rateOf(kind), name: priceNameOf(kind) })),
  { rate: "request", name: "request" },
];

type Fallbacks = Readonly<Record<Exclude<TokenRate, BaseRate>, TokenRate>>;

/** The rate that replaces a missing rate. A missing fee is 0. */
const FALLBACKS = Object.fromEntries(
  TOKEN_KINDS.flatMap((kind) => {
    const { fallback } = TOKEN_FIGURES[kind].price;
    return fallback === null ? [] : [[rateOf(kind), fallback]];
  }),
) as Fallbacks;

/** Rates that every displayed price includes: those of kinds of tokens that are not parts of others. */
const ALWAYS_SHOWN: ReadonlySet<keyof Rates> = new Set(WHOLE_KINDS.map(rateOf));

/** Returns whether displayed and stored prices always include a rate. */
export function isAlwaysShown(rate: keyof Rates): boolean {
  return ALWAYS_SHOWN.has(rate);
}

/** Returns the rate that replaces a missing rate; null for required rates and the fee. */
export function fallbackOf(rate: keyof Rates): TokenRate | null {
  return FALLBACKS[rate as keyof Fallbacks] ?? null;
}

/** Lists the rates that apply to tokens of a prompt or of an answer: the base rate and all that fall back to it. */
export function ratesOf(base: BaseRate): readonly TokenRate[] {
  const baseOf = (rate: TokenRate): TokenRate => {
    const fallback = fallbackOf(rate);
    return fallback === null ? rate : baseOf(fallback);
  };
  return TOKEN_KINDS.map(rateOf).filter((rate) => baseOf(rate) === base);
}

const NO_FEE = formatPrice(0n);

/**
 * Lists the rates that differ from their fallbacks, and the fee if there is one; omits those that are always shown.
 */
export function listOtherRates(shown: Readonly<Record<string, unknown>>): PartName[] {
  const nameOf = new Map<keyof Rates, PartName>(RATE_NAMES.map(({ rate, name }) => [rate, name]));
  return RATE_NAMES.filter(({ rate, name }) => {
    if (isAlwaysShown(rate)) return false;
    if (rate === "request") return shown[name] !== NO_FEE;
    return shown[name] !== shown[nameOf.get(fallbackOf(rate) ?? rate) ?? ""];
  }).map(({ name }) => name);
}

/** Rates as configured; all but two are optional. */
export type GivenRates = Pick<Rates, BaseRate> & {
  readonly [Name in Exclude<keyof Rates, BaseRate>]?: Rates[Name] | undefined;
};

export const TOKENS_PER_PRICE_UNIT = 1_000_000n;

/** Fills in missing rates. */
export function completeRates(given: GivenRates): Rates {
  const rateOf = (rate: keyof Rates): bigint => {
    const fallback = fallbackOf(rate);
    return given[rate] ?? (fallback === null ? 0n : rateOf(fallback));
  };
  const rates = RATE_NAMES.map(({ rate }) => [rate, rateOf(rate)]);
  return Object.freeze(Object.fromEntries(rates) as Rates);
}

/** Counts all tokens of a prompt, including cached and written ones. */
export function promptTokensOf(tokens: Pick<TokenUsage, "inputTokens" | "cachedInputTokens">): number {
  return tokens.inputTokens + tokens.cachedInputTokens;
}

/** Charges by rate: the tokens of a kind that are in none of its parts. */
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

/**
 * Multiplies the tokens of each kind by its rate. A negative count is treated as 0, because it would reduce the cost
 * of other kinds.
 */
const amountOfTokens = compileExpression(
  ["tokens", "rates"],
  CHARGED.map(({ kind, parts, rate }) => {
    const count = [kind, ...parts].map((name) => `tokens.${name}`).join(" - ");
    return `(${count} > 0 ? BigInt(${count}) * rates.${rate} : 0n)`;
  }).join(" + "),
) as (tokens: BilledTokens, rates: Rates) => bigint;

/** Computes the cost of a request in microcents, rounding up the sum once. */
export function costMicrocents(
  tokens: BilledTokens,
  rates: Rates,
  tools: readonly ChargedTool[] = NO_TOOLS,
): bigint {
  let sum = rates.request * TOKENS_PER_PRICE_UNIT + amountOfTokens(tokens, rates);
  for (const tool of tools) sum += toolAmount(tool);
  return roundUp(sum);
}

/** Lists the exact parts of a cost, without empty ones. They add up to the cost before rounding. */
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

/** Rounds millionths of a microcent up to whole microcents: the only rounding of a cost. */
export function roundUp(amount: bigint): bigint {
  return (amount + TOKENS_PER_PRICE_UNIT - 1n) / TOKENS_PER_PRICE_UNIT;
}
