import { describe, expect, it } from "vitest";

import { CatalogReference } from "../../../src/data-path/catalog/catalog-reference.ts";
import { createCatalog, type ModelViewer } from "../../../src/data-path/catalog/catalog.ts";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { createCatalogOf, createConfigOf } from "./support.ts";

const catalog = createCatalogOf([
  { id: "acme/echo-small", extra: "    upstream_model: echo\n    created_at: 2026-01-31\n" },
  { id: "acme/echo-large", prices: 'EUR: {input: "2.30", output: "9.20"}' },
  { id: "acme/echo-old", extra: "    replaced_by: acme/echo-older\n" },
  { id: "acme/echo-older", extra: "    replaced_by: acme/echo-small\n" },
  { id: "zeta/reasoner-v2", prices: 'USD: {input: "1", cached_input: "0.075", output: "2"}' },
]);

const everything: ModelViewer = { models: null, currency: "USD" };

function errorOf(id: string, viewer: ModelViewer = everything): GatewayError {
  try {
    catalog.requireModel(id, viewer);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`${id} was found`);
}

describe("Catalog", () => {
  it("keeps the order of the file and finds by id", () => {
    expect(catalog.models.map((model) => model.id)).toEqual([
      "acme/echo-small",
      "acme/echo-large",
      "acme/echo-old",
      "acme/echo-older",
      "zeta/reasoner-v2",
    ]);
    expect(catalog.find("acme/echo-large")?.id).toBe("acme/echo-large");
    expect(catalog.find("ACME/echo-large")).toBeUndefined();
    expect(catalog.find("__proto__")).toBeUndefined();
  });

  it("gives a model with everything that routing, billing and translation need", () => {
    const model = catalog.find("acme/echo-small");
    expect(model).toMatchObject({
      id: "acme/echo-small",
      vendor: "acme",
      displayName: "acme/echo-small",
      upstream: "local",
      pathPrefix: "/api/v1",
      upstreamModel: "echo",
      contextWindow: 128_000,
      maxOutputTokens: 8192,
      startupSeconds: 10,
      replacedBy: null,
      promptOverheadTokens: 64,
      promptOverheadTokensWithTools: 512,
      createdAtSeconds: 1_769_817_600,
    });
    expect(model?.prices.get("USD")?.map(({ base }) => base.plain.rates)).toMatchObject([
      { input: 250_000_000n, cachedInput: 250_000_000n, output: 1_000_000_000n },
    ]);
    expect(catalog.find("zeta/reasoner-v2")?.prices.get("USD")?.[0].base.plain.rates.cachedInput).toBe(
      7_500_000n,
    );
  });

  it("cannot be changed", () => {
    expect([Object.isFrozen(catalog.models), Object.isFrozen(catalog.models[0])]).toEqual([true, true]);
  });

  it("follows a chain of retired models to the one in service", () => {
    expect(catalog.find("acme/echo-old")?.replacedBy).toBe("acme/echo-small");
  });

  it("is not made of models without an upstream", () => {
    const config = { ...createConfigOf([{ id: "acme/a" }]), upstreams: [] };
    expect(() => createCatalog(config)).toThrow("no upstream local for model acme/a");
  });
});

describe("Catalog.nearest", () => {
  it.each([
    { name: "a typing error", id: "acme/ecoh-small", nearest: ["acme/echo-small"] },
    { name: "other capitals", id: "ACME/Echo-Small", nearest: ["acme/echo-small", "acme/echo-large"] },
    { name: "a name without its vendor", id: "reasoner-v2", nearest: ["zeta/reasoner-v2"] },
    { name: "the wrong vendor", id: "openai/reasoner-v2", nearest: ["zeta/reasoner-v2"] },
    { name: "a part of the name", id: "reasoner", nearest: ["zeta/reasoner-v2"] },
    { name: "nothing near", id: "gpt-4o", nearest: [] },
    { name: "an empty text", id: "", nearest: [] },
    { name: "a text of any length", id: "x".repeat(1_000_000), nearest: [] },
  ])("of $name", ({ id, nearest }) => {
    expect(catalog.nearest(id, 3)).toEqual(nearest);
  });

  it("gives as many as were asked for", () => {
    expect(catalog.nearest("acme/echo-smal", 1)).toEqual(["acme/echo-small"]);
  });
});

describe("Catalog.requireModel", () => {
  it("gives a model that the key may use and that has a price", () => {
    expect(catalog.requireModel("acme/echo-small", everything).upstreamModel).toBe("echo");
    const some = { models: ["acme/echo-large"], currency: "EUR" };
    expect(catalog.requireModel("acme/echo-large", some).id).toBe("acme/echo-large");
  });

  it("answers an unknown model with 400 and the nearest ids that the key can use", () => {
    const error = errorOf("acme/echo-smal");
    expect([error.status("chat"), error.code, error.param]).toEqual([400, "model_not_found", "model"]);
    expect(error.message).toBe(
      "Unknown model `acme/echo-smal`. Nearest: `acme/echo-small`. `GET /v1/models` lists the models that this API key can use.",
    );
    const none = errorOf("acme/echo-smal", { models: ["zeta/reasoner-v2"], currency: "USD" });
    expect(none.message).not.toContain("Nearest");
  });

  it("does not repeat a name of any length", () => {
    expect(errorOf("x".repeat(10_000)).message.length).toBeLessThan(300);
  });

  it("answers a retired model with 400 and its successor", () => {
    const error = errorOf("acme/echo-old");
    expect([error.status("chat"), error.code]).toEqual([400, "model_not_found"]);
    expect(error.message).toBe("The model `acme/echo-old` was retired. Use `acme/echo-small` instead.");
  });

  it("answers a model that the key may not use with 403", () => {
    const error = errorOf("acme/echo-small", { models: ["acme/echo-large"], currency: "USD" });
    expect([error.status("chat"), error.code, error.param]).toEqual([403, "model_not_allowed", "model"]);
    expect(errorOf("acme/echo-small", { models: [], currency: "USD" }).code).toBe("model_not_allowed");
  });

  it("answers a model without a price with 403 and names the currency", () => {
    const error = errorOf("acme/echo-large");
    expect([error.status("chat"), error.code]).toEqual([403, "model_not_available_in_currency"]);
    expect(error.message).toContain("`acme/echo-large` has no price in USD");
  });
});

describe("CatalogReference", () => {
  it("gives the last catalog, while a reader keeps the one that it has", () => {
    const reference = new CatalogReference(catalog);
    const before = reference.current;
    const next = createCatalogOf([{ id: "acme/new" }]);
    reference.replace(next);
    expect([before === catalog, reference.current === next]).toEqual([true, true]);
  });
});
