import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readScript } from "../../../src/data-path/store/ioredis/scripts.ts";
import { TOKEN_FIGURES, USAGE_FIGURES } from "../../../src/shared/usage/figures.ts";
import {
  mapTokens,
  plainTokens,
  priceNameOf,
  rateOf,
  TOKEN_KINDS,
} from "../../../src/shared/usage/token-usage.ts";
import {
  addFigures,
  FIGURES,
  FIGURES_BY_POSITION,
  NO_USAGE,
} from "../../../src/shared/usage/usage-figures.ts";

const SOURCE = path.resolve(import.meta.dirname, "../../../src");

/** What records and lists in Redis have: a figure stays where it is, and a new one comes behind. */
const RELEASED = [
  "requests",
  "input",
  "cached",
  "output",
  "reasoning",
  "estimated",
  "microcents",
  "cache_write",
  "cache_write_1h",
  "input_audio",
  "output_audio",
  "tools",
];

describe("the table of figures", () => {
  it("keeps what is released at its position, and has every position once", () => {
    const fields = FIGURES_BY_POSITION.map((figure) => USAGE_FIGURES[figure].field);
    expect(fields.slice(0, RELEASED.length)).toEqual(RELEASED);
    const positions = FIGURES_BY_POSITION.map((figure) => USAGE_FIGURES[figure].position);
    expect(positions).toEqual(FIGURES.map((_, index) => index + 1));
  });

  it("has every name once, and a whole of the table for each part", () => {
    for (const name of ["apiName", "focusName", "field"] as const) {
      expect(new Set(Object.values(USAGE_FIGURES).map((row) => row[name])).size).toBe(FIGURES.length);
    }
    const rates = TOKEN_KINDS.map(rateOf);
    for (const { partOf, price } of Object.values(TOKEN_FIGURES)) {
      expect([null, ...TOKEN_KINDS]).toContain(partOf);
      expect([null, ...rates]).toContain(price.fallback);
    }
  });

  it("is what scripts have, in its order and with the positions that their rules go by", () => {
    const charge = readScript("charge.lua");
    const list = FIGURES_BY_POSITION.map((figure) => `'${USAGE_FIGURES[figure].field}'`).join(", ");
    expect(charge).toContain(`local USAGE_FIGURES = { ${list} }\n`);
    expect(charge).toContain(
      "local REQUESTS, ESTIMATED_REQUESTS, COST_MICROCENTS, INPUT_TOKENS = 1, 6, 7, 2\n",
    );
    expect(charge).toContain("local LISTED_POSITIONS = { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }\n");
    expect(charge).toMatch(/local ESTIMATED_POSITIONS = \{ 2, 3, 4, 5, 7, 8, 9, 10, 11, 12\b/);
    expect(charge).not.toContain("-- @figures");
  });
});

describe("figures", () => {
  it("of plain tokens are all there, in one shape", () => {
    const none = mapTokens(() => 0);
    expect(plainTokens(3, 5)).toEqual({ ...none, inputTokens: 3, outputTokens: 5 });
    expect(Object.keys(plainTokens(3, 5))).toEqual(TOKEN_KINDS);
  });

  it("are added up one by one, amounts exactly", () => {
    const sum = { ...NO_USAGE };
    const row = { ...NO_USAGE, ...mapTokens(() => 2), requests: 1, costMicrocents: 2n ** 60n };
    addFigures(sum, row);
    addFigures(sum, row);
    expect(sum).toMatchObject({ ...mapTokens(() => 4), requests: 2, costMicrocents: 2n ** 61n });
  });
});

describe("a figure's name", () => {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:tsx?|js|lua)$/.test(name))
    .map((name) => [name, readFileSync(path.join(SOURCE, name), "utf8")] as const);

  /**
   * Of the prompt, of the cache and of the answer as wholes, which protocols, estimates and limits are made of, half of the
   * pages and rules speak: they are no facts of this table alone. All that is counted beside them is.
   */
  const further = FIGURES.filter((figure) => figure !== "requests" && figure !== "costMicrocents").filter(
    (figure) =>
      !(figure in TOKEN_FIGURES) || TOKEN_FIGURES[figure as keyof typeof TOKEN_FIGURES].partOf !== null,
  );

  it.each(further)("%s stands in ten files or fewer in every spelling", (figure) => {
    const { apiName, focusName, field } = USAGE_FIGURES[figure];
    const kind = TOKEN_KINDS.find((one) => one === figure);
    const [rate, name] = kind === undefined ? [] : [rateOf(kind), priceNameOf(kind)];
    // A single word, such as "reasoning" or "tools", is one of the language as well.
    const spellings = [figure, apiName, focusName, field, rate ?? "", name ?? ""].filter((word) =>
      /_|[a-z][A-Z]/.test(word),
    );
    const word = new RegExp(`\\b(?:${spellings.join("|")})\\b`);
    const files = sources.filter(([, text]) => word.test(text)).map(([file]) => file);
    expect(files).toContain("shared/usage/figures.ts");
    // What is beyond ten is shown by name.
    expect(files.slice(10)).toEqual([]);
  });
});
