/** The OpenAPI documents as they stand under `docs/`, and what of them programs in other languages must make sense of. */
import { readFileSync } from "node:fs";

export interface OpenApiDocument {
  readonly name: string;
  readonly content: Record<string, unknown>;
}

export const OPENAPI_DOCUMENTS: readonly OpenApiDocument[] = ["openapi.json", "openapi-customers.json"].map(
  (name) => ({
    name,
    content: JSON.parse(
      readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8"),
    ) as OpenApiDocument["content"],
  }),
);

/** Every `pattern` of all documents, each once. */
export function listPatterns(): string[] {
  const found = new Set<string>();
  for (const { content } of OPENAPI_DOCUMENTS) collectPatterns(content, found);
  return [...found];
}

/** A field of an answer may be called so, too: its description is no text. */
function collectPatterns(value: unknown, found: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (name === "pattern" && typeof inner === "string") found.add(inner);
    else collectPatterns(inner, found);
  }
}

/** Texts at which expressions part that look alike: digits and blanks of other scripts, controls, breaks, pairs. */
export const PARTING_TEXTS: readonly string[] = [
  "",
  " ",
  "a",
  "Acme GmbH",
  " Acme ",
  "a\tb",
  "a\nb",
  "\u0000",
  "a\u007fb",
  "a\u0085b",
  "\u00a0",
  "a\u2028b",
  "a\u2029b",
  "\u200b",
  "\u0663\u0664\u0665\u0666-\u0661\u0662",
  "Zürich 日本 😀",
  "2026-11",
  "2026-11-21",
  "2026-11-21 key_1 acme/echo -",
  "402",
  "5xx",
  "6xx",
  "hard_cap_reached",
  "org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11",
  "key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11",
  "token_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11",
  "req_01934f6e-7d3a",
  "1763720415250-0",
  "1763720415250-0_-",
  "0123456789abcdefABCDEF0123456789",
];
