/** `GET /api/catalog`: models, aliases, capabilities and prices. */
import type { Model } from "../../../data-path/catalog/catalog.ts";
import { formatPrices } from "../../../data-path/catalog/format-price.ts";
import { catalogPage } from "../schemas/catalog.ts";
import { answerList } from "./list-answer.ts";
import { defineRoute } from "./route.ts";

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
