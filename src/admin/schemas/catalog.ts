import * as z from "zod";
import { shownPrices } from "../../catalog/answer-schemas.ts";
import { answer, named, textOrNull } from "./fields.ts";
import { pageOf } from "./page.ts";

const catalogPrice = named("CatalogPrice", shownPrices);

const catalogModel = answer("CatalogModel", {
  id: z.string().meta({ examples: ["acme/echo-small"] }),
  aliases: z.array(z.string()).describe("Other names that clients may write for it."),
  display_name: z.string(),
  upstream: z.string(),
  context_window: z.int(),
  max_output_tokens: z.int(),
  capabilities: z.array(z.string()),
  replaced_by: textOrNull("Not null: retired, use this one."),
  prices: z.record(z.string(), catalogPrice),
});
export const catalogPage = pageOf("CatalogPage", catalogModel);
