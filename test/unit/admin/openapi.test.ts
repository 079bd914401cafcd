import { describe, expect, it } from "vitest";
import { createOpenApiDocument } from "../../../src/admin/api/openapi.ts";
import { API_ROUTES } from "../../../src/admin/api/routes.ts";

const page = new URL("../../../docs/openapi.json", import.meta.url);
const document = createOpenApiDocument();

describe("the OpenAPI document", () => {
  it("equals docs/openapi.json (vitest -u renews it)", async () => {
    await expect(`${JSON.stringify(document, null, 2)}\n`).toMatchFileSnapshot(page.pathname);
  });

  it("has every route once, each with an id of its own", () => {
    const ids = API_ROUTES.map((route) => route.operationId);
    const places = API_ROUTES.map((route) => `${route.method} ${route.path}`);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(places).size).toBe(places.length);
  });

  it("refers to nothing that it has not", () => {
    const text = JSON.stringify(document);
    const schemas = (document["components"] as { schemas: object }).schemas;
    const missing = Array.from(
      text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g),
      ([, name = ""]) => name,
    ).filter((name) => !(name in schemas));
    expect(missing).toEqual([]);
    expect(text).not.toContain("$defs");
  });

  it("names the bounds of every amount", () => {
    const { schemas } = document["components"] as { schemas: Record<string, { properties: object }> };
    expect(schemas["KeyCreation"]?.properties).toMatchObject({
      hard_cap_cents: { anyOf: [{ type: "integer", minimum: 0, maximum: 9_000_000_000 }, { type: "null" }] },
      requests_per_minute: { type: "integer", minimum: 1, maximum: 1_000_000 },
    });
  });
});
