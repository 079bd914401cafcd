import { describe, expect, it } from "vitest";

import { getModel, listModels } from "../../../src/data-path/catalog/models-response.ts";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { createCatalogOf } from "./support.ts";

const catalog = createCatalogOf([
  { id: "acme/a", extra: "    display_name: Acme A\n    created_at: 2026-01-31\n" },
  { id: "acme/b" },
  { id: "acme/old", extra: "    replaced_by: acme/a\n" },
  { id: "acme/euro", prices: 'EUR: {input: "1", output: "2"}' },
  { id: "acme/c" },
  { id: "acme/d" },
]);
const listEndpoints = () => ["/v1/embeddings"];
const viewer = { models: null, currency: "USD" };

function list(query: string, models: readonly string[] | null = null) {
  const body = listModels(
    catalog,
    { viewer: { models, currency: "USD" }, nowMs: 0, listEndpoints },
    new URLSearchParams(query),
  );
  return {
    ids: body.data.map((model) => model.id),
    more: body.has_more,
    first: body.first_id,
    last: body.last_id,
  };
}

function errorOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** What `USD: {input: "2.50", output: "10.00"}` comes to. */
const PLAIN = {
  ...Object.fromEntries(
    ["input", "cached_input", "cache_write", "cache_write_1h", "input_audio"].map((name) => [name, "2.50"]),
  ),
  ...Object.fromEntries(["output", "reasoning", "output_audio"].map((name) => [name, "10.00"])),
  request: "0.00",
};

describe("listModels", () => {
  it("carries the fields of both protocols in every object", () => {
    const body = listModels(catalog, { viewer, nowMs: 0, listEndpoints }, new URLSearchParams());
    expect(body).toMatchObject({ object: "list", has_more: false, first_id: "acme/a", last_id: "acme/d" });
    expect(body.data[0]).toEqual({
      id: "acme/a",
      object: "model",
      created: 1_769_817_600,
      owned_by: "acme",
      type: "model",
      display_name: "Acme A",
      created_at: "2026-01-31T00:00:00Z",
      lifecycle: "active",
      line: null,
      capabilities: null,
      max_input_tokens: 128_000,
      max_tokens: 8192,
      deprecated_at: null,
      retires_at: null,
      pricing: {
        currency: "USD",
        ...PLAIN,
        from: null,
        tiers: [],
        service_tiers: {},
        server_tools: {},
        announced: [],
      },
      supported_features: [],
      supported_endpoints: ["/v1/embeddings"],
    });
  });

  it("shows the prices that are in force on the day, with all their tiers, and those that are announced", () => {
    const prices =
      'USD: [{input: "2.50", output: "10.00", tiers: [{above_prompt_tokens: 9, input: "5", output: "15"}], ' +
      'service_tiers: {flex: {input: "1.25", output: "5.00"}}}, {from: 2027-01-01, input: "2", output: "8"}]';
    const priced = createCatalogOf([{ id: "acme/a", prices }]);
    const at = (day: string) =>
      getModel(
        priced,
        { viewer: { models: null, currency: "USD" }, nowMs: Date.parse(day), listEndpoints },
        "acme/a",
      );
    expect(at("2026-12-31").pricing).toMatchObject({
      input: "2.50",
      from: null,
      tiers: [{ above_prompt_tokens: 9, input: "5.00", cache_write_1h: "5.00", output: "15.00" }],
      service_tiers: { flex: { input: "1.25", reasoning: "5.00", tiers: [] } },
      announced: [{ from: "2027-01-01", input: "2.00" }],
    });
    expect(at("2027-01-01").pricing).toMatchObject({ input: "2.00", from: "2027-01-01", announced: [] });
  });

  it.each([
    {
      name: "all in the order of the file",
      query: "",
      ids: ["acme/a", "acme/b", "acme/c", "acme/d"],
      more: false,
    },
    { name: "a first page", query: "limit=2", ids: ["acme/a", "acme/b"], more: true },
    { name: "the next page", query: "limit=2&after_id=acme/b", ids: ["acme/c", "acme/d"], more: false },
    {
      name: "a page that ends in the middle",
      query: "limit=1&after_id=acme%2Fb",
      ids: ["acme/c"],
      more: true,
    },
    { name: "the page before", query: "limit=2&before_id=acme/d", ids: ["acme/b", "acme/c"], more: true },
    {
      name: "the first page, backwards",
      query: "limit=2&before_id=acme/c",
      ids: ["acme/a", "acme/b"],
      more: false,
    },
    {
      name: "a limit above what there is",
      query: "limit=1000",
      ids: ["acme/a", "acme/b", "acme/c", "acme/d"],
      more: false,
    },
    { name: "nothing after the last", query: "after_id=acme/d", ids: [], more: false },
    { name: "nothing before the first", query: "before_id=acme/a", ids: [], more: false },
  ])("gives $name", ({ query, ids, more }) => {
    const page = list(query);
    expect(page).toEqual({ ids, more, first: ids[0] ?? null, last: ids.at(-1) ?? null });
  });

  it("leaves out what the key may not use, what is retired and what has no price in the currency", () => {
    expect(list("", ["acme/b", "acme/old", "acme/euro"]).ids).toEqual(["acme/b"]);
    expect(list("", []).ids).toEqual([]);
  });

  it.each([
    { query: "limit=0", param: "limit" },
    { query: "limit=1001", param: "limit" },
    { query: "limit=ten", param: "limit" },
    { query: "limit=", param: "limit" },
    { query: "after_id=acme/none", param: "after_id" },
    { query: "before_id=acme/old", param: "before_id" },
    { query: "before_id=acme/b&after_id=acme/a", param: "before_id" },
  ])("answers $query with 400 naming $param", ({ query, param }) => {
    const error = errorOf(() => list(query));
    expect([error.status("chat"), error.code, error.param]).toEqual([400, "invalid_parameter", param]);
  });
});

describe("getModel", () => {
  it("gives one model as the list does", () => {
    const [first] = listModels(catalog, { viewer, nowMs: 0, listEndpoints }, new URLSearchParams()).data;
    expect(getModel(catalog, { viewer, nowMs: 0, listEndpoints }, "acme/a")).toEqual(first);
  });

  it.each([
    { name: "an unknown id", id: "acme/x", models: null },
    { name: "a retired model", id: "acme/old", models: null },
    { name: "a model without a price in the currency", id: "acme/euro", models: null },
    { name: "a model that the key may not use", id: "acme/a", models: ["acme/b"] },
  ])("answers $name with 404", ({ id, models }) => {
    const error = errorOf(() =>
      getModel(catalog, { viewer: { models, currency: "USD" }, nowMs: 0, listEndpoints }, id),
    );
    expect([error.status("chat"), error.publicCode]).toEqual([404, "model_not_found"]);
  });
});
