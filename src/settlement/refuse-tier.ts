import type { Model } from "../catalog/catalog.ts";
import { GatewayError } from "../contract/errors.ts";
import { isPricedTier, type Price } from "../pricing/price.ts";
import type { ClientRequest } from "../translation/client-protocol.ts";

/**
 * A request that asks for a service tier must know what it costs. A model that has none passes the wish on, but for a speed
 * or a place, of which is known that its provider bills more.
 * @throws GatewayError 400 naming the field, and the tiers that have a price or the setting.
 */
export function refuseUnpricedTier(
  price: Price,
  { id }: Pick<Model, "id">,
  { serviceTier: asked, tierField: param }: Pick<ClientRequest, "serviceTier" | "tierField">,
): void {
  const { serviceTiers } = price;
  if (asked === null || isPricedTier(price, asked)) return;
  if (param === "service_tier") {
    if (serviceTiers.size === 0) return;
    const known = ["auto", "default", ...serviceTiers.keys()].map((name) => `\`${name}\``).join(", ");
    const message = `\`service_tier\` must be one of ${known} for the model \`${id}\`: no other has a price.`;
    throw new GatewayError("invalid_parameter", { message, param });
  }
  const message =
    `${param}: it is billed at a price of its own, and the model \`${id}\` has none for \`${asked}\`. Leave it out, or have ` +
    `the operator set \`service_tiers: {${asked}: …}\` in the model's prices.`;
  throw new GatewayError("unsupported_parameter", { message, param });
}
