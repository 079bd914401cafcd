import * as z from "zod";
import { shownPrices } from "../../../data-path/catalog/answer-schemas.ts";
import { answer, named, textOrNull } from "./fields.ts";
import { pageOf } from "./page.ts";

const catalogPrice = named("CatalogPrice", shownPrices);

const catalogModel = answer("CatalogModel", {
  id: z.string().meta({ examples: ["acme/echo-small"] }),
  aliases: z.array(z.string()).describe("Other names that clients can send."),
  display_name: z.string(),
  upstream: z.string(),
  context_window: z.int(),
  max_output_tokens: z.int(),
  capabilities: z.array(z.string()),
  replaced_by: textOrNull("Successor of a retired model; null: in service."),
  prices: z.record(z.string(), catalogPrice),
});
export const catalogPage = pageOf("CatalogPage", catalogModel);
