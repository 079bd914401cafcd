/** Prices usage outside of the gateway: tokens at the catalog's current price. */
import type { Catalog } from "../../../data-path/catalog/catalog.ts";
import {
  type ChosenRates,
  chooseRates,
  isPricedTier,
  type Price,
  priceInForce,
} from "../../../data-path/pricing/price.ts";
import { costMicrocents } from "../../../data-path/pricing/rates.ts";
import {
  mapTokens,
  nameTokens,
  partsOf,
  TOKEN_KINDS,
  TOKEN_NAMES,
  type TokenUsage,
} from "../../../shared/usage/token-usage.ts";
import { invalidField } from "../admin-error.ts";
import { MAX_MICROCENTS, type OutsideUsage, type OutsideUsageCreation } from "../schemas/spend-correction.ts";
import { requireModel } from "./key-settings.ts";

interface PricedUsage {
  readonly usage: OutsideUsage;
  readonly microcents: number;
}

/**
 * Returns the cost, rounded up once on the sum of all requests.
 * @throws AdminError 400 for a model, currency or tier without a price, parts above their whole, and an
 * amount of 0 or above the maximum of a correction.
 */
export function priceOutsideUsage(
  given: OutsideUsageCreation,
  currency: string,
  catalog: Catalog,
  nowMs: number,
): PricedUsage {
  const tokens = readTokens(given);
  const price = requirePriceInForce(given.model, currency, catalog, nowMs);
  const charged = requireRates(price, given);
  const { rates } = charged;
  const requests = given.requests ?? 1;
  const sum = costMicrocents(tokens, { ...rates, request: rates.request * BigInt(requests) });
  if (sum === 0n || sum > BigInt(MAX_MICROCENTS)) {
    throw invalidField(
      "outside_usage",
      `expected usage that costs more than 0 and at most ${MAX_MICROCENTS} microcents`,
    );
  }
  const { serviceTier, abovePromptTokens, from } = charged;
  const place = { service_tier: serviceTier, above_prompt_tokens: abovePromptTokens, price_from: from };
  const counts = { requests, ...nameTokens(tokens) };
  return { usage: { model: given.model, ...counts, ...place }, microcents: Number(sum) };
}

function readTokens(given: OutsideUsageCreation): TokenUsage {
  const tokens = mapTokens((kind) => given[TOKEN_NAMES[kind]] ?? 0);
  for (const kind of TOKEN_KINDS) {
    const parts = partsOf(kind);
    if (parts.reduce((sum, part) => sum + tokens[part], 0) <= tokens[kind]) continue;
    const names = parts.map((part) => `\`${TOKEN_NAMES[part]}\``).join(", ");
    throw invalidField(
      `outside_usage.${TOKEN_NAMES[kind]}`,
      `expected at least the sum of its parts: ${names}`,
    );
  }
  return tokens;
}

function requirePriceInForce(id: string, currency: string, catalog: Catalog, nowMs: number): Price {
  const param = "outside_usage.model";
  requireModel(param, id, catalog);
  const prices = catalog.find(id)?.prices.get(currency);
  if (prices === undefined) throw invalidField(param, `the model has no price in ${currency}`);
  return priceInForce(prices, nowMs);
}

/** The tier of prompt sizes must be given, because sums do not reveal the size of each prompt. */
function requireRates(price: Price, given: OutsideUsageCreation): ChosenRates {
  const tier = given.service_tier?.toLowerCase() ?? null;
  if (tier !== null && !isPricedTier(price, tier)) {
    const known = [...price.serviceTiers.keys()].map((name) => `"${name}"`).join(", ");
    const message = known === "" ? "the model has no prices of service tiers" : `expected one of ${known}`;
    throw invalidField("outside_usage.service_tier", message);
  }
  const { above_prompt_tokens: above = null } = given;
  const charged = chooseRates(price, tier, above === null ? 0 : above + 1);
  if (charged.abovePromptTokens !== above) {
    throw invalidField("outside_usage.above_prompt_tokens", "the price has no tier of this size");
  }
  return charged;
}
