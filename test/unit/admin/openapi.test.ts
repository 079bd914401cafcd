import { Validator } from "@seriousme/openapi-schema-validator";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCustomersDocument } from "../../../src/management/admin/openapi/customers.ts";
import { createOpenApiDocument } from "../../../src/management/admin/openapi/management.ts";
import { API_ROUTES } from "../../../src/management/admin/api/routes.ts";
import { text } from "../../../src/management/admin/schemas/fields.ts";
import { escapeHidden } from "../../../src/shared/text/plain-text.ts";
import { name } from "../../../src/shared/settings/input-schemas.ts";
import { lineOrNull } from "../../../src/shared/settings/kinds.ts";
import { LINE_PATTERN, NAME_PATTERN, TEXT_PATTERN } from "../../../src/shared/settings/published-patterns.ts";
import { listPatterns, OPENAPI_DOCUMENTS } from "../../support/openapi-documents.ts";
import { runs } from "../../support/extent.ts";

const document = createOpenApiDocument();

describe.each([
  ["openapi.json", document],
  ["openapi-customers.json", createCustomersDocument()],
])("docs/%s", (name, made) => {
  it("equals what is made (vitest -u renews it)", async () => {
    const page = new URL(`../../../docs/${name}`, import.meta.url);
    // With escapes for what an editor would show as the end of a line.
    const text = escapeHidden(JSON.stringify(made, null, 2));
    await expect(`${text}\n`).toMatchFileSnapshot(page.pathname);
  });
});

describe("the OpenAPI document of the management API", () => {
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

describe.each(OPENAPI_DOCUMENTS)("docs/$name", ({ content }) => {
  it("is valid by the schema of OpenAPI 3.1, every reference resolved", async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(content))).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
    expect(() => validator.resolveRefs()).not.toThrow();
  });

  it("names a server", () => {
    expect(content["servers"]).toEqual([
      {
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
        description: expect.any(String) as string,
      },
    ]);
  });
});

/**
 * Characters, sets of them, groups and counts: what ECMAScript, Python's `re` and RE2 read alike, which is what JSON Schema
 * recommends. No lookaround, no reference back, no `\p`, `\u`, `\d`, `\w`, `\s`, no flags, no count above RE2's 1,000.
 */
const ESCAPE = String.raw`\\(?:x[0-9a-f]{2}|[.\-/\\])`;
const PIECES = [
  ESCAPE,
  String.raw`\[\^?(?:${ESCAPE}|[^\[\]\\])+\]`,
  String.raw`(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})(?![*+?])`,
  String.raw`\((?:\?:|(?!\?))`,
  String.raw`[)|^$.]`,
  String.raw`[^\\\[\](){}*+?|^$.]`,
];
const SHARED_SYNTAX = new RegExp(`^(?:${PIECES.join("|")})+$`, "u");

describe("patterns of the OpenAPI documents", () => {
  it.each(listPatterns())("%s is of the syntax that all languages share", (pattern) => {
    expect(pattern).toMatch(SHARED_SYNTAX);
    expect(() => new RegExp(pattern, "u")).not.toThrow();
  });

  it.each([
    "^(?=a)",
    "(?<!a)b",
    "(?<name>a)",
    "(?i)a",
    "(a)\\1",
    "\\p{Cc}",
    "[\\u2028]",
    "\\d+",
    "a++",
    "a{2,3}?+",
    "a{1001}",
  ])("%s would be found", (pattern) => {
    expect(pattern).not.toMatch(SHARED_SYNTAX);
  });

  it.each([
    ["a name", name(), NAME_PATTERN],
    ["a text", text(200), TEXT_PATTERN],
    ["a line", lineOrNull(200).input, LINE_PATTERN],
  ])("of %s refuse nothing that the server takes", (_what, schema, pattern) => {
    const published = new RegExp(pattern, "u");
    const unit = fc.oneof(
      fc.constantFrom(" ", "\t", "\u0085", "\u00a0", "\u200b", "\u2028", "\ud800"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 12 }), (given) => {
        expect(published.test(given) || !schema.safeParse(given).success).toBe(true);
      }),
      { numRuns: runs(1_000) },
    );
  });
});
