/**
 * Bodies of `GET /v1/models` and `GET /v1/models/{vendor}/{model}`. They contain the fields of both protocols: the
 * OpenAI SDKs read `object`, `created` and `owned_by`, the Anthropic SDKs `type`, `display_name`, `created_at` and the
 * paging fields, and each ignores the others. Only models that the key can use are listed.
 */
import { GatewayError } from "../../shared/contract/errors.ts";
import type { ModelBody, ModelListBody } from "./answer-schemas.ts";
import type { Catalog, Model, ModelViewer } from "./catalog.ts";
import { formatPrices } from "./format-price.ts";

/** Viewer and time of a query. */
export interface ModelQuestion {
  readonly viewer: ModelViewer;
  /** Decides which prices are in force. */
  readonly nowMs: number;
  /** Whether the client speaks Anthropic's protocol; absent: false. */
  readonly isAnthropic?: boolean;
  /** Lists the endpoints of a model: "/v1/chat/completions". */
  readonly listEndpoints: (model: Model) => readonly string[];
}

/** Largest page of the Anthropic protocol. */
const MAX_LIMIT = 1000;

/** Names that Claude Code accepts from a gateway's list. */
const CLAUDE_NAME = /^(?:claude|anthropic)/i;

/**
 * Lists the models that a key can use, in the order of the file. Returns all of them without `limit`, because the
 * OpenAI SDKs read only one page. `include=aliases` adds each model's other names after it; for Anthropic's protocol,
 * names that Claude Code accepts are always added. `limit`, `after_id` and `before_id` page as in the Anthropic
 * protocol.
 * @throws GatewayError 400 `invalid_parameter` for an invalid query.
 */
export function listModels(catalog: Catalog, question: ModelQuestion, query: URLSearchParams): ModelListBody {
  const { viewer, isAnthropic = false } = question;
  const showsAll = readInclude(query);
  const isShown = (alias: string): boolean => showsAll || (isAnthropic && CLAUDE_NAME.test(alias));
  const models = catalog.listFor(viewer).flatMap((model) => {
    const aliases = showsAll || isAnthropic ? catalog.listAliases(model, viewer).filter(isShown) : [];
    return [model.id, ...aliases].map((name) => ({ name, model }));
  });
  const limit = readLimit(query) ?? models.length;
  const [after, before] = [readCursor(query, "after_id", models), readCursor(query, "before_id", models)];
  if (after !== null && before !== null) {
    const message = "before_id: can't be combined with `after_id`.";
    throw new GatewayError("invalid_parameter", { message, param: "before_id" });
  }
  const start = before === null ? (after ?? -1) + 1 : Math.max(0, before - limit);
  const end = before ?? start + limit;
  const page = models.slice(start, end);
  return {
    object: "list",
    data: page.map(({ name, model }) => describeModel(model, name, question)),
    has_more: before === null ? end < models.length : start > 0,
    first_id: page[0]?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  };
}

/**
 * Describes one model.
 * @throws GatewayError 404 if the id is not in the catalog or the key cannot use it.
 */
export function getModel(catalog: Catalog, question: ModelQuestion, id: string): ModelBody {
  const { viewer } = question;
  const usable = catalog.listFor(viewer);
  const model = catalog.findByName(id, viewer);
  if (model !== undefined && usable.includes(model)) return describeModel(model, id, question);
  const nearest = catalog.nearest(id, 3, usable).map((one) => `\`${one}\``);
  const hint = nearest.length === 0 ? "" : ` Nearest: ${nearest.join(", ")}.`;
  throw new GatewayError("unknown_endpoint", {
    publicCode: "model_not_found",
    message: `This API key can't use a model of this name.${hint}`,
    param: "model",
  });
}

function describeModel(model: Model, name: string, question: ModelQuestion): ModelBody {
  const { viewer, nowMs, listEndpoints } = question;
  const { currency } = viewer;
  const prices = model.prices.get(currency);
  // Models in a viewer's list always have a price in its currency.
  if (prices === undefined) throw new GatewayError("model_not_available_in_currency");
  return {
    id: name,
    ...(name === model.id ? {} : { alias_of: model.id }),
    object: "model",
    created: model.createdAtSeconds,
    owned_by: model.vendor,
    type: "model",
    display_name: model.displayName,
    created_at: new Date(model.createdAtSeconds * 1000).toISOString().replace(".000Z", "Z"),
    lifecycle: "active",
    line: null,
    capabilities: null,
    supported_features: [...model.capabilities],
    supported_endpoints: [...listEndpoints(model)],
    max_input_tokens: model.contextWindow,
    max_tokens: model.maxOutputTokens,
    deprecated_at: null,
    retires_at: null,
    pricing: { currency, ...formatPrices(prices, nowMs) },
  };
}

/** Returns whether aliases are requested in addition to ids. */
function readInclude(query: URLSearchParams): boolean {
  const given = query.get("include");
  if (given === null || given === "aliases") return given !== null;
  throw new GatewayError("invalid_parameter", { message: "include: expected `aliases`.", param: "include" });
}

function readLimit(query: URLSearchParams): number | null {
  const given = query.get("limit");
  if (given === null) return null;
  const limit = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  const message = `limit: expected a whole number from 1 to ${MAX_LIMIT}.`;
  throw new GatewayError("invalid_parameter", { message, param: "limit" });
}

/** Returns the position of the model that a cursor names. */
function readCursor(
  query: URLSearchParams,
  name: "after_id" | "before_id",
  models: readonly { readonly name: string }[],
): number | null {
  const id = query.get(name);
  if (id === null || id === "") return null;
  const index = models.findIndex(({ name: one }) => one === id);
  if (index >= 0) return index;
  const message = `${name}: expected the id of a model of this list.`;
  throw new GatewayError("invalid_parameter", { message, param: name });
}
