import { z } from "zod";
import { named } from "./fields.ts";
import { pageOf } from "./page.ts";

const price = z.string().meta({ description: "Per million tokens, a decimal.", examples: ["2.50"] });

const catalogModel = named(
  "CatalogModel",
  z.strictObject({
    id: z.string().meta({ examples: ["acme/echo-small"] }),
    display_name: z.string(),
    upstream: z.string(),
    context_window: z.int(),
    max_output_tokens: z.int(),
    capabilities: z.array(z.string()),
    replaced_by: z.string().nullable().meta({ description: "Not null: retired, use this one." }),
    prices: z.record(z.string(), z.strictObject({ input: price, cached_input: price, output: price })),
  }),
);
export const catalogPage = pageOf("CatalogPage", catalogModel);
