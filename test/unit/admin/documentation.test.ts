import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { USAGE_COLUMNS } from "../../../src/management/admin/usage-export/usage-table.ts";

const read = (name: string): string =>
  readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
const page = read("management-api.md");
/** Nothing of a token is ever changed. */
const TOKENS_STAY = "token.updated";

describe("docs/usage-exports.md", () => {
  it("has every column of the tables of usage, in their order", () => {
    const table = /### Columns\n[^]*?\n\n(\|[^]*?)\n\n/.exec(read("usage-exports.md"))?.[1] ?? "";
    const columns = table
      .split("\n")
      .slice(2)
      .flatMap((line) => Array.from((line.split("|")[1] ?? "").matchAll(/`(\w+)`/g), ([, name]) => name));
    expect(columns).toEqual(USAGE_COLUMNS.map(([name]) => name));
  });
});

describe("docs/management-api.md", () => {
  it("has every action of the audit log", () => {
    const folder = new URL("../../../src/management/admin/api/", import.meta.url);
    const source = readdirSync(folder)
      .map((name) => readFileSync(new URL(name, folder), "utf8"))
      .join("");
    const listed = Array.from(source.matchAll(/entriesOf\("([a-z]+)"/g), ([, type = ""]) => type);
    const actions = [
      ...listed.flatMap((type) => [`${type}.created`, `${type}.updated`, `${type}.deleted`]),
      ...Array.from(source.matchAll(/action: "([a-z]+\.[a-z]+)"/g), ([, action = ""]) => action),
    ].filter((action) => action !== TOKENS_STAY);
    expect(actions.length).toBeGreaterThanOrEqual(20);
    expect(actions.filter((action) => !page.includes(`\`${action}\``))).toEqual([]);
  });
});
