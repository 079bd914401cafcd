/** Usage and price of a request, reported to clients as exact decimals of the currency. */
import { formatDecimal, formatPrice, formatProduct } from "../../shared/money/money.ts";
import type { CostReport } from "../translation/client-protocol.ts";
import { mapTokens, type TokenUsage } from "../../shared/usage/token-usage.ts";
import { parsePriceFigures, type PriceFigures } from "./charged-price.ts";
import type { ChosenRates } from "./price.ts";
import { costMicrocents, costParts } from "./rates.ts";
import type { ChargedTool } from "./tool-charges.ts";

export interface ChargedTokens {
  readonly tokens: TokenUsage;
  readonly tools: readonly ChargedTool[];
  readonly charged: ChosenRates;
  readonly currency: string;
}

export function reportCost({ tokens, tools, charged, currency }: ChargedTokens): CostReport {
  return {
    cost: formatDecimal(costMicrocents(tokens, charged.rates, tools)),
    cost_currency: currency,
    cost_details: {
      service_tier: charged.serviceTier ?? "default",
      above_prompt_tokens: charged.abovePromptTokens,
      price_from: charged.from,
      parts: costParts(tokens, charged.rates, tools).map((part) => ({
        name: part.name,
        tokens: part.tokens,
        ...(part.uses === null ? {} : { uses: part.uses }),
        price: formatPrice(part.rate),
        cost: formatProduct(part.amount),
      })),
    },
  };
}

/** A request as stored in the list of recent requests. */
export interface RecordedCost extends TokenUsage {
  readonly costMicrocents: bigint;
  readonly checks: readonly { readonly name: string; readonly figures: PriceFigures }[];
}

/** Returns null if the request cost nothing, or its record does not contain the price. */
export function reportRecordedCost(request: RecordedCost): CostReport | null {
  const { costMicrocents: cost } = request;
  const figures = request.checks.find(({ name }) => name === "price")?.figures;
  const stored = figures === undefined || cost === 0n ? null : parsePriceFigures(figures);
  if (stored === null) return null;
  const { charged, currency, tools } = stored;
  const tokens = mapTokens((kind) => request[kind]);
  // Report the charged amount even if the tokens would cost more.
  return { ...reportCost({ tokens, tools, charged, currency }), cost: formatDecimal(cost) };
}
