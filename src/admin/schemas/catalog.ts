import * as z from "zod";
import { answer } from "./fields.ts";
import { pageOf } from "./page.ts";

const price = (description: string) => z.string().meta({ description, examples: ["2.50"] });
const rates = {
  input: price("Per million tokens, a decimal, as every price but `request`."),
  cached_input: price("From the upstream's cache."),
  cache_write: price("Written to the upstream's cache for 5 minutes."),
  cache_write_1h: price("Written to the upstream's cache for an hour."),
  input_audio: price("Audio of the prompt."),
  output: price("Generated tokens."),
  reasoning: price("Generated tokens of reasoning."),
  output_audio: price("Generated audio."),
  request: price("Once for each request, an amount of the currency."),
};
const schedule = {
  ...rates,
  tiers: z
    .array(z.strictObject({ above_prompt_tokens: z.int(), ...rates }))
    .describe("Prices of larger prompts, ascending: the whole request takes one."),
};
const shownPrice = {
  ...schedule,
  from: z
    .string()
    .nullable()
    .meta({ description: "UTC day; null: from the beginning.", examples: ["2027-01-01"] }),
  service_tiers: z
    .record(z.string(), z.strictObject(schedule))
    .describe("Prices of requests that the upstream serves at a tier of this name."),
  server_tools: z
    .record(z.string(), z.string().nullable())
    .describe("Tools that run at the model's server, per thousand uses; null: they pass without a price."),
};
const catalogPrice = answer("CatalogPrice", {
  ...shownPrice,
  announced: z
    .array(z.strictObject(shownPrice))
    .describe("Prices that are not in force yet, the next first."),
});

const catalogModel = answer("CatalogModel", {
  id: z.string().meta({ examples: ["acme/echo-small"] }),
  aliases: z.array(z.string()).describe("Other names that clients may write for it."),
  display_name: z.string(),
  upstream: z.string(),
  context_window: z.int(),
  max_output_tokens: z.int(),
  capabilities: z.array(z.string()),
  replaced_by: z.string().nullable().describe("Not null: retired, use this one."),
  prices: z.record(z.string(), catalogPrice),
});
export const catalogPage = pageOf("CatalogPage", catalogModel);
