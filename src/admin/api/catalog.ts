/** `GET /api/catalog`: models, capabilities and prices. */
import type { Model } from "../../catalog/catalog.ts";
import { formatPrice } from "../../catalog/format-price.ts";
import { catalogPage } from "../schemas/catalog.ts";
import { answerList } from "./list-answer.ts";
import { defineRoute } from "./route.ts";

const list = defineRoute(
  {
    method: "GET",
    path: "/api/catalog",
    operationId: "listModels",
    tag: "Catalog",
    summary: "All models in the order of the configuration, retired ones included. One page.",
    access: "read",
    query: null,
    body: null,
    answers: { 200: catalogPage },
  },
  async (_call, { catalog }) => answerList({ items: catalog().models, next: null }, formatModel),
);

function formatModel(model: Model) {
  return {
    id: model.id,
    display_name: model.displayName,
    upstream: model.upstream,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    capabilities: [...model.capabilities],
    replaced_by: model.replacedBy,
    prices: Object.fromEntries(
      Array.from(model.prices, ([currency, price]) => [
        currency,
        {
          input: formatPrice(price.input),
          cached_input: formatPrice(price.cachedInput),
          output: formatPrice(price.output),
        },
      ]),
    ),
  };
}

export const catalogRoutes = [list];
