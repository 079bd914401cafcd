/** Schemas of models and their prices, for customers and the management API. */
import * as z from "zod";
import type { PartName } from "../pricing/rates.ts";
import { TOKEN_FIGURES } from "../../shared/usage/figures.ts";
import { priceNameOf, TOKEN_KINDS } from "../../shared/usage/token-usage.ts";

const price = (description: string) => z.string().meta({ description, examples: ["2.50"] });

/** Every rate by its name in `gateway.yaml`, with fallbacks filled in. */
const rates = {
  ...tokenRates(),
  request: price("Once for each request, an amount of the currency."),
} satisfies Record<PartName, z.ZodType>;

function tokenRates() {
  const shape = TOKEN_KINDS.map((kind) => [priceNameOf(kind), price(TOKEN_FIGURES[kind].price.shown)]);
  return Object.fromEntries(shape) as Record<Exclude<PartName, "request">, ReturnType<typeof price>>;
}
const schedule = z.strictObject({
  ...rates,
  tiers: z
    .array(z.strictObject({ above_prompt_tokens: z.int(), ...rates }))
    .describe("Prices of larger prompts, ascending: the whole request takes one."),
});
const shownPrice = z.strictObject({
  ...schedule.shape,
  from: z
    .string()
    .nullable()
    .meta({ description: "UTC day; null: from the beginning.", examples: ["2027-01-01"] }),
  service_tiers: z.record(z.string(), schedule).describe("Prices of the service tier with this name."),
  server_tools: z
    .record(z.string(), z.string().nullable())
    .describe("Price of a thousand uses of a tool of the model server; null: unpriced."),
});

/** Current and future prices of a model in one currency. */
export const shownPrices = z.strictObject({
  ...shownPrice.shape,
  announced: z.array(shownPrice).describe("Future prices, the next first."),
});
export type ShownSchedule = z.output<typeof schedule>;
export type ShownRates = Omit<ShownSchedule, "tiers">;
export type ShownPrice = z.output<typeof shownPrice>;
export type ShownPrices = z.output<typeof shownPrices>;

/** A model in the formats of both SDK families. */
export const modelBody = z.strictObject({
  id: z.string().meta({
    description: "Id of the catalog, or another name.",
    examples: ["acme/echo-small"],
  }),
  alias_of: z
    .string()
    .optional()
    .describe("Id of the model that this is another name of; otherwise omitted."),
  object: z.literal("model"),
  created: z.int().describe("Unix seconds."),
  owned_by: z.string(),
  type: z.literal("model"),
  display_name: z.string(),
  created_at: z.iso.datetime().meta({ examples: ["2026-11-01T00:00:00Z"] }),
  lifecycle: z.literal("active"),
  line: z.null(),
  capabilities: z.null().describe("Anthropic's field, always null."),
  supported_features: z
    .array(z.string())
    .meta({ description: "Abilities of the model.", examples: [["tools", "vision"]] }),
  supported_endpoints: z
    .array(z.string())
    .meta({ description: "Endpoints of the model.", examples: [["/v1/chat/completions"]] }),
  max_input_tokens: z.int(),
  max_tokens: z.int(),
  deprecated_at: z.null(),
  retires_at: z.null(),
  pricing: z
    .strictObject({ currency: z.string(), ...shownPrices.shape })
    .describe("In the organization's currency."),
});
export type ModelBody = z.output<typeof modelBody>;

/** A page of models in the formats of both SDK families. */
export const modelListBody = z.strictObject({
  object: z.literal("list"),
  data: z.array(modelBody),
  has_more: z.boolean(),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
});
export type ModelListBody = z.output<typeof modelListBody>;
