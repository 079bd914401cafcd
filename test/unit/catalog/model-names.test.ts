import { describe, expect, it } from "vitest";
import type { ModelViewer } from "../../../src/data-path/catalog/catalog.ts";
import { getModel, listModels } from "../../../src/data-path/catalog/models-response.ts";
import { GatewayError } from "../../../src/shared/contract/errors.ts";
import { createCatalogOf } from "./support.ts";

const catalog = createCatalogOf([
  { id: "acme/a", extra: "    aliases: [gpt-4o, claude-haiku-4-5]\n" },
  { id: "acme/b" },
  { id: "acme/old", extra: "    aliases: [old]\n    replaced_by: acme/a\n" },
]);
const viewer = (changes: Partial<ModelViewer> = {}): ModelViewer => ({
  models: null,
  currency: "USD",
  ...changes,
});
const names = (aliases: Record<string, string>, defaultModel: string | null = null) => ({
  modelNames: { aliases, defaultModel },
});
const find = (name: string, changes: Partial<ModelViewer> = {}) =>
  catalog.requireModel(name, viewer(changes)).id;
function errorOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("a model's name", () => {
  it("is its id, an alias, or an organization's own name, which comes before an alias", () => {
    expect([find("acme/a"), find("gpt-4o")]).toEqual(["acme/a", "acme/a"]);
    expect(find("mine", names({ mine: "acme/b" }))).toBe("acme/b");
    expect(find("gpt-4o", names({ "gpt-4o": "acme/b" }))).toBe("acme/b");
  });

  it("never hides an id, even one that came into the catalog after the name", () => {
    expect(find("acme/a", names({ "acme/a": "acme/b" }))).toBe("acme/a");
  });

  it("leads to an id and never to a further name", () => {
    const own = names({ one: "two", two: "one", three: "gpt-4o" });
    for (const name of ["one", "two", "three"]) {
      expect(errorOf(() => find(name, own))).toMatchObject({ code: "model_not_found", param: "model" });
    }
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])("is not %s", (name) => {
    expect(errorOf(() => find(name, names({ mine: "acme/a" }))).code).toBe("model_not_found");
  });

  it.each(["GPT-4o", "gpt-4o ", "gpt-4о"])("is the same letters: not %j", (name) => {
    expect(errorOf(() => find(name)).code).toBe("model_not_found");
  });

  it("whose target is gone says so, and where to change it", () => {
    const { message } = errorOf(() => find("mine", names({ mine: "acme/gone" }, "acme/b")));
    expect(message).toContain("The name `mine` of this organization stands for `acme/gone`");
    expect(message).toContain('under "Model names"');
  });

  it("of a retired model is refused with the model's successor", () => {
    expect(errorOf(() => find("old")).message).toBe(
      "The model `acme/old` (asked for as `old`) was retired. Use `acme/a` instead.",
    );
  });

  it("goes by its target for what a key may use and what it costs", () => {
    const denied = errorOf(() => find("gpt-4o", { models: ["gpt-4o", "acme/b"] }));
    expect(denied).toMatchObject({ code: "model_not_allowed" });
    expect(denied.message).toContain("`acme/a` (asked for as `gpt-4o`)");
    expect(find("gpt-4o", { models: ["acme/a"] })).toBe("acme/a");
    expect(errorOf(() => find("gpt-4o", { currency: "EUR" })).code).toBe("model_not_available_in_currency");
  });
});

describe("ten thousand aliases", () => {
  it("are checked and found like one", () => {
    const entries = Array.from({ length: 10 }, (_, model) => {
      const aliases = Array.from({ length: 1_000 }, (_, index) => `name-${model}-${index}`);
      return { id: `acme/m${model}`, extra: `    aliases: [${aliases.join(", ")}]\n` };
    });
    const large = createCatalogOf(entries);
    expect(large.requireModel("name-9-999", viewer()).id).toBe("acme/m9");
    expect(large.requireModel("name-0-0", viewer()).id).toBe("acme/m0");
  });
});

describe("an organization's default model", () => {
  const own = names({ mine: "acme/a" }, "acme/b");

  it("stands for every name that nobody knows, and for no other", () => {
    expect([find("gpt-99", own), find("mine", own), find("gpt-4o", own)]).toEqual([
      "acme/b",
      "acme/a",
      "acme/a",
    ]);
    expect(errorOf(() => find("gpt-99", names({}))).code).toBe("model_not_found");
  });

  it("goes by itself for what a key may use, and says when it is gone", () => {
    expect(errorOf(() => find("gpt-99", { ...own, models: ["acme/a"] })).code).toBe("model_not_allowed");
    expect(errorOf(() => find("gpt-99", names({}, "acme/gone"))).message).toContain(
      "The default model of this organization stands for `acme/gone`",
    );
  });
});

describe("the list of models", () => {
  const question = (changes: Partial<ModelViewer> = {}) => ({
    viewer: viewer(changes),
    nowMs: 0,
    listEndpoints: () => [],
  });
  const list = (query: string, changes: Partial<ModelViewer> = {}) =>
    listModels(catalog, question(changes), new URLSearchParams(query)).data.map(({ id }) => id);

  it("has names only when they are asked for, each behind its model", () => {
    expect(list("")).toEqual(["acme/a", "acme/b"]);
    expect(list("include=aliases")).toEqual(["acme/a", "gpt-4o", "claude-haiku-4-5", "acme/b"]);
    const own = names({ "gpt-4o": "acme/b", mine: "acme/a", "acme/b": "acme/a", gone: "acme/gone" });
    expect(list("include=aliases", own)).toEqual(["acme/a", "claude-haiku-4-5", "mine", "acme/b", "gpt-4o"]);
    expect(list("include=aliases", { models: ["acme/b"] })).toEqual(["acme/b"]);
  });

  it("has the names that Claude Code keeps if Anthropic's protocol asks for it", () => {
    const ask = (query: string, changes: Partial<ModelViewer> = {}) => {
      const asked = { ...question(changes), isAnthropic: true };
      return listModels(catalog, asked, new URLSearchParams(query)).data.map(({ id }) => id);
    };
    expect(ask("limit=1000")).toEqual(["acme/a", "claude-haiku-4-5", "acme/b"]);
    expect(ask("limit=1000", names({ "anthropic.opus": "acme/b" }))).toContain("anthropic.opus");
    expect(ask("include=aliases")).toContain("gpt-4o");
  });

  it("is paged with names as it is without", () => {
    expect(list("include=aliases&limit=2&after_id=gpt-4o")).toEqual(["claude-haiku-4-5", "acme/b"]);
    expect(errorOf(() => list("limit=1&after_id=gpt-4o")).param).toBe("after_id");
    expect(errorOf(() => list("include=everything"))).toMatchObject({ param: "include" });
  });

  it("answers for a single name, with the id that it stands for", () => {
    expect(getModel(catalog, question(), "gpt-4o")).toMatchObject({ id: "gpt-4o", alias_of: "acme/a" });
    expect(getModel(catalog, question(), "acme/a")).not.toHaveProperty("alias_of");
    expect(errorOf(() => getModel(catalog, question({ models: ["acme/b"] }), "gpt-4o")).publicCode).toBe(
      "model_not_found",
    );
  });
});
