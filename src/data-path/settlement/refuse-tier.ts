import type { Model } from "../catalog/catalog.ts";
import { GatewayError } from "../../shared/contract/errors.ts";
import { isPricedTier, type Price } from "../pricing/price.ts";
import { listWords } from "../../shared/text/list-words.ts";
import type { ClientRequest } from "../translation/client-protocol.ts";

/**
 * Rejects a service tier without a price. If the model has no prices for tiers at all, a `service_tier` is
 * forwarded; speeds and regions that the provider bills at a higher rate are still rejected.
 * @throws GatewayError 400 naming the field, and either the tiers with a price or the setting to add.
 */
export function refuseUnpricedTier(
  price: Price,
  { id }: Pick<Model, "id">,
  { serviceTier: requested, tierField: param }: Pick<ClientRequest, "serviceTier" | "tierField">,
): void {
  const { serviceTiers } = price;
  if (requested === null || isPricedTier(price, requested)) return;
  if (param === "service_tier") {
    if (serviceTiers.size === 0) return;
    const known = ["auto", "default", ...serviceTiers.keys()].map((name) => `\`${name}\``);
    const message = `\`service_tier\` must be ${listWords(known, "or")} for the model \`${id}\`: no other tier has a price.`;
    throw new GatewayError("invalid_parameter", { message, param });
  }
  const message =
    `${param}: the model \`${id}\` has no price for \`${requested}\`. Remove it, or ask the operator to set ` +
    `\`service_tiers: {${requested}: …}\` in the model's prices.`;
  throw new GatewayError("unsupported_parameter", { message, param });
}
