import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** The first cell of each row of docs/responses.md: `responses.request.input`. */
function readDocumentedRules(): string[] {
  const page = readFileSync(join(ROOT, "docs/responses.md"), "utf8");
  return [...page.matchAll(/^\| `(responses\.[a-z_]+\.[a-z_]+)` +\|/gm)].map(([, rule]) => rule!);
}

/** Test names begin with the rules that they hold: "[responses.request.input] is a string or items". */
function readTestedRules(): Set<string> {
  const rules = new Set<string>();
  for (const entry of readdirSync(join(ROOT, "test"), { recursive: true, encoding: "utf8" })) {
    if (!entry.endsWith(".test.ts")) continue;
    const source = readFileSync(join(ROOT, "test", entry), "utf8");
    for (const [, rule] of source.matchAll(/["'`]\[(responses\.[a-z_]+\.[a-z_]+)\] /g)) rules.add(rule!);
  }
  return rules;
}

describe("docs/responses.md", () => {
  const documented = readDocumentedRules();
  const tested = readTestedRules();

  it("names each rule once", () => {
    expect(documented.length).toBeGreaterThan(80);
    expect(documented.filter((rule, index) => documented.indexOf(rule) !== index)).toEqual([]);
  });

  it("names no rule that no test holds", () => {
    expect(documented.filter((rule) => !tested.has(rule))).toEqual([]);
  });

  it("names every rule that a test holds", () => {
    expect([...tested].filter((rule) => !documented.includes(rule))).toEqual([]);
  });
});
