import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** "usage" of "igw:{${organizationId}}:usage:${day}", "igw:sessions" of what is no organization's. */
function listFamilies(source: string): string[] {
  const texts = Array.from(source.matchAll(/["`](igw:[^"`]+)["`]/g), ([, text = ""]) => text);
  const families = texts.flatMap((text) => {
    const own = /^igw:\{\$\{organizationId\}\}:([a-z-]+|\$\{kind\}[a-z-]*)/.exec(text)?.[1];
    if (own !== undefined) return ["user", "group"].map((kind) => own.replace("${kind}", kind));
    // A pattern for a scan, and a channel.
    return text.includes("*") || text === "igw:alerts" ? [] : [text.replace(/:(?:\$.*)?$/, "")];
  });
  return [...new Set(families)].sort();
}

it("each family of keys in Redis has its row in docs/sizing.md: who makes it grow, and its bound", () => {
  const section = read("docs/sizing.md").split("## What Redis holds")[1] ?? "";
  const named = new Set(
    Array.from(section.matchAll(/`([a-z:-]+?)(?::<[a-z]+>)?`/g), ([, family = ""]) => family),
  );
  const families = listFamilies(read("src/data-path/store/redis/keys.ts"));
  expect(families.length).toBeGreaterThan(40);
  expect(families.filter((family) => !named.has(family))).toEqual([]);
});
