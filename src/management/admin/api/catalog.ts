/** `GET /api/catalog`: models, aliases, capabilities and prices. */
import * as z from "zod";
import type { Model } from "../../../data-path/catalog/catalog.ts";
import { formatPrices } from "../../../data-path/catalog/format-price.ts";
import { answerList } from "./answers.ts";
import { defineRoute } from "./route.ts";
import { shownPrices } from "../../../data-path/catalog/answer-schemas.ts";
import { answer, named, textOrNull } from "../schemas/fields.ts";
import { pageOf } from "../schemas/page.ts";

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

const list = defineRoute({
  method: "GET",
  path: "/api/catalog",
  operationId: "listModels",
  summary: "List models with aliases, capabilities and prices, including retired ones.",
  answers: { 200: catalogPage },
  handle: async (_call, { catalog }) => {
    const nowMs = Date.now();
    return answerList({ items: catalog().models, next: null }, (model) => formatModel(model, nowMs));
  },
});

function formatModel(model: Model, nowMs: number) {
  return {
    id: model.id,
    aliases: [...model.aliases],
    display_name: model.displayName,
    upstream: model.upstream,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    capabilities: [...model.capabilities],
    replaced_by: model.replacedBy,
    prices: Object.fromEntries(
      Array.from(model.prices, ([currency, prices]) => [currency, formatPrices(prices, nowMs)]),
    ),
  };
}

export const catalogRoutes = [list];
