/** How a cost comes about: tokens times prices, rounded up once, on the sum. */
import { formatPrice } from "../../money.ts";
import { spellOut } from "../format.ts";
import type { ExplainedRequest } from "./explained-request.ts";

export interface CostPart {
  /** "cached input" */
  readonly name: string;
  readonly tokens: number;
  /** Per million, as gateway.yaml has it: "3.00". */
  readonly price: string;
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

/** Name of a price in the record → the tokens that it is for. */
const KINDS = [
  ["input", "input_tokens"],
  ["cached_input", "cached_input_tokens"],
  ["output", "output_tokens"],
] as const;

/** A unit of currency is 10^8 microcents; a price is for 10^6 tokens. */
const PRODUCT_DECIMALS = 14;
const MICROCENT_DECIMALS = 8;

export function explainCost(
  request: Pick<
    ExplainedRequest,
    "checks" | "cost_microcents" | "input_tokens" | "cached_input_tokens" | "output_tokens"
  >,
): ExplainedCost | null {
  const prices = request.checks.find((check) => check.name === "price")?.figures;
  if (prices === undefined) return null;
  let sum = 0n;
  const parts = KINDS.map(([kind, field]) => {
    const price = BigInt(prices[`${kind}_microcents_per_million`] ?? 0);
    const product = BigInt(request[field]) * price;
    sum += product;
    return {
      name: spellOut(kind),
      tokens: request[field],
      price: formatPrice(price),
      amount: formatDecimal(product, PRODUCT_DECIMALS),
    };
  });
  return {
    parts,
    sum: formatDecimal(sum, PRODUCT_DECIMALS),
    charged: formatDecimal(BigInt(request.cost_microcents), MICROCENT_DECIMALS),
  };
}

/** Without zeros at the end, but for two decimals. */
function formatDecimal(value: bigint, decimals: number): string {
  const digits = value.toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(-decimals).replace(/0+$/, "").padEnd(2, "0");
  return `${digits.slice(0, -decimals)}.${fraction}`;
}
