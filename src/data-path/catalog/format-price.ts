import { formatPrice } from "../../shared/money/money.ts";
import {
  announcedPrices,
  type Price,
  priceInForce,
  type PriceList,
  type Schedule,
} from "../pricing/price.ts";
import { RATE_NAMES, type Rates } from "../pricing/rates.ts";
import type { ShownPrice, ShownPrices, ShownRates, ShownSchedule } from "./answer-schemas.ts";

/** Formats the price in force at a time, and future prices. */
export function formatPrices(prices: PriceList, nowMs: number): ShownPrices {
  return {
    ...formatOne(priceInForce(prices, nowMs)),
    announced: announcedPrices(prices, nowMs).map(formatOne),
  };
}

function formatOne({ from, base, serviceTiers, serverTools }: Price): ShownPrice {
  const tools = Array.from(
    serverTools,
    ([name, rate]) => [name, rate === null ? null : formatPrice(rate)] as const,
  );
  const tiers = Array.from(serviceTiers, ([name, schedule]) => [name, formatSchedule(schedule)] as const);
  return {
    ...formatSchedule(base),
    from,
    service_tiers: Object.fromEntries(tiers),
    server_tools: Object.fromEntries(tools),
  };
}

function formatSchedule({ plain: { rates }, tiers }: Schedule): ShownSchedule {
  return {
    ...formatRates(rates),
    tiers: tiers.map((tier) => ({
      above_prompt_tokens: tier.abovePromptTokens,
      ...formatRates(tier.rates),
    })),
  };
}

function formatRates(rates: Rates): ShownRates {
  return Object.fromEntries(
    RATE_NAMES.map(({ rate, name }) => [name, formatPrice(rates[rate])]),
  ) as ShownRates;
}
