/** How a cost comes about: tokens times prices, rounded up once, on the sum. */
import { formatPrice } from "../../money.ts";
import { spellOut } from "../format.ts";
import type { ExplainedRequest, Figures } from "./explained-request.ts";

export interface CostPart {
  /** "cached input" */
  readonly name: string;
  /** Null: what is not counted in tokens, or of which the record does not keep how many there were. */
  readonly tokens: number | null;
  /** Per million, as gateway.yaml has it: "3.00". Null with `tokens`. */
  readonly price: string | null;
  /** To its last digit: "0.003702". */
  readonly amount: string;
}

export interface ExplainedCost {
  readonly parts: readonly CostPart[];
  /** To its last digit. */
  readonly sum: string;
  /** What is charged: the sum, rounded up to the eighth decimal. */
  readonly charged: string;
}

/** A unit of currency is 10^8 microcents; a price is for 10^6 tokens. */
const TOKENS_PER_PRICE = 1_000_000n;
const PRODUCT_DECIMALS = 14;
const MICROCENT_DECIMALS = 8;

type Priced = Pick<
  ExplainedRequest,
  "checks" | "cost_microcents" | "input_tokens" | "cached_input_tokens" | "output_tokens" | "reasoning_tokens"
>;

export function explainCost(request: Priced): ExplainedCost | null {
  const prices = request.checks.find((check) => check.name === "price")?.figures;
  if (prices === undefined) return null;
  const products = listProducts(request, prices);
  const fee = BigInt(prices["request_microcents"] ?? 0) * TOKENS_PER_PRICE;
  const charged = BigInt(request.cost_microcents);
  const known = products.reduce((sum, { product }) => sum + product, fee);
  // Writes to a cache and audio have rates of their own, and the record does not say how many of the tokens they were.
  const rest = ceilToMicrocents(known) === charged ? 0n : charged * TOKENS_PER_PRICE - known;
  const parts = products.map(({ kind, tokens, rate, product }) => ({
    name: spellOut(kind),
    tokens,
    price: formatPrice(rate),
    amount: formatDecimal(product, PRODUCT_DECIMALS),
  }));
  return {
    parts: [...parts, ...otherPart("fee of the request", fee), ...otherPart("cache writes and audio", rest)],
    sum: formatDecimal(known + rest, PRODUCT_DECIMALS),
    charged: formatDecimal(charged, MICROCENT_DECIMALS),
  };
}

function listProducts(request: Priced, prices: Figures) {
  const rateOf = (kind: string): bigint | null => {
    const rate = prices[`${kind}_microcents_per_million`];
    return rate === undefined || rate === null ? null : BigInt(rate);
  };
  const input = rateOf("input") ?? 0n;
  const output = rateOf("output") ?? 0n;
  const reasoning = rateOf("reasoning");
  const reasoningTokens = reasoning === null ? 0 : request.reasoning_tokens;
  const kinds = [
    { kind: "input", tokens: request.input_tokens, rate: input },
    { kind: "cached_input", tokens: request.cached_input_tokens, rate: rateOf("cached_input") ?? input },
    { kind: "output", tokens: request.output_tokens - reasoningTokens, rate: output },
    ...(reasoning === null ? [] : [{ kind: "reasoning", tokens: reasoningTokens, rate: reasoning }]),
  ];
  return kinds.map((part) => ({ ...part, product: BigInt(part.tokens) * part.rate }));
}

function otherPart(name: string, amount: bigint): CostPart[] {
  if (amount === 0n) return [];
  return [{ name, tokens: null, price: null, amount: formatDecimal(amount, PRODUCT_DECIMALS) }];
}

function ceilToMicrocents(product: bigint): bigint {
  return (product + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE;
}

/** Without zeros at the end, but for two decimals. */
function formatDecimal(value: bigint, decimals: number): string {
  const sign = value < 0n ? "-" : "";
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "").padEnd(2, "0");
  return `${sign}${digits.slice(0, -decimals)}.${fraction}`;
}
