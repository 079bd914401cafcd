/** What requests cost that did not pass the gateway: their tokens at the catalog's price in force. */
import type { Catalog } from "../../catalog/catalog.ts";
import {
  type ChosenRates,
  chooseRates,
  isPricedTier,
  type Price,
  priceInForce,
} from "../../pricing/price.ts";
import { costMicrocents } from "../../pricing/rates.ts";
import { AdminError } from "../admin-error.ts";
import { MAX_MICROCENTS, type OutsideUsage, type OutsideUsageCreation } from "../schemas/spend-correction.ts";
import { requireModel } from "./key-settings.ts";

interface PricedUsage {
  readonly usage: OutsideUsage;
  readonly microcents: number;
}

/**
 * Rounded up once, on the sum of all requests.
 * @throws AdminError 400 for a model, currency or tier without a price, parts above their whole, and an amount of nothing
 *   or beyond what a correction can be.
 */
export function priceOutsideUsage(
  given: OutsideUsageCreation,
  currency: string,
  catalog: Catalog,
  nowMs: number,
): PricedUsage {
  const counts = completeCounts(given);
  const price = requirePriceInForce(given.model, currency, catalog, nowMs);
  const charged = requireRates(price, given);
  const { rates } = charged;
  const sum = costMicrocents(
    {
      inputTokens: counts.input_tokens,
      cachedInputTokens: counts.cached_input_tokens,
      cacheWriteTokens: counts.cache_write_tokens,
      cacheWrite1hTokens: counts.cache_write_1h_tokens,
      inputAudioTokens: counts.input_audio_tokens,
      outputTokens: counts.output_tokens,
      reasoningTokens: counts.reasoning_tokens,
      outputAudioTokens: counts.output_audio_tokens,
    },
    { ...rates, request: rates.request * BigInt(counts.requests) },
  );
  if (sum === 0n || sum > BigInt(MAX_MICROCENTS)) {
    throw refuse(
      "outside_usage",
      `expected usage that costs more than 0 and at most ${MAX_MICROCENTS} microcents`,
    );
  }
  const { serviceTier, abovePromptTokens, from } = charged;
  const place = { service_tier: serviceTier, above_prompt_tokens: abovePromptTokens, price_from: from };
  return { usage: { model: given.model, ...counts, ...place }, microcents: Number(sum) };
}

function completeCounts(given: OutsideUsageCreation) {
  const counts = {
    requests: given.requests ?? 1,
    input_tokens: given.input_tokens,
    cached_input_tokens: given.cached_input_tokens ?? 0,
    cache_write_tokens: given.cache_write_tokens ?? 0,
    cache_write_1h_tokens: given.cache_write_1h_tokens ?? 0,
    input_audio_tokens: given.input_audio_tokens ?? 0,
    output_tokens: given.output_tokens,
    reasoning_tokens: given.reasoning_tokens ?? 0,
    output_audio_tokens: given.output_audio_tokens ?? 0,
  };
  const ofInput = counts.cache_write_tokens + counts.cache_write_1h_tokens + counts.input_audio_tokens;
  if (ofInput > counts.input_tokens) {
    throw refuse("outside_usage.input_tokens", "expected no fewer than cache writes and audio among them");
  }
  if (counts.reasoning_tokens + counts.output_audio_tokens > counts.output_tokens) {
    throw refuse("outside_usage.output_tokens", "expected no fewer than reasoning and audio among them");
  }
  return counts;
}

function requirePriceInForce(id: string, currency: string, catalog: Catalog, nowMs: number): Price {
  const param = "outside_usage.model";
  requireModel(param, id, catalog);
  const prices = catalog.find(id)?.prices.get(currency);
  if (prices === undefined) throw refuse(param, `the model has no price in ${currency}`);
  return priceInForce(prices, nowMs);
}

/** Sums say nothing of the size of each prompt, so its tier is named, not worked out. */
function requireRates(price: Price, given: OutsideUsageCreation): ChosenRates {
  const tier = given.service_tier?.toLowerCase() ?? null;
  if (tier !== null && !isPricedTier(price, tier)) {
    const known = [...price.serviceTiers.keys()].map((name) => `"${name}"`).join(", ");
    const message = known === "" ? "the model has no prices of service tiers" : `expected one of ${known}`;
    throw refuse("outside_usage.service_tier", message);
  }
  const { above_prompt_tokens: above = null } = given;
  const charged = chooseRates(price, tier, above === null ? 0 : above + 1);
  if (charged.abovePromptTokens !== above) {
    throw refuse("outside_usage.above_prompt_tokens", "the price has no tier of this size");
  }
  return charged;
}

function refuse(param: string, expectation: string): AdminError {
  return new AdminError("invalid_parameter", { message: `\`${param}\`: ${expectation}`, param });
}
