import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TOKEN_FIGURES, type TokenFigure } from "../../../src/shared/usage/figures.ts";
import { priceNameOf, rateOf, TOKEN_KINDS } from "../../../src/shared/usage/token-usage.ts";

const PAGE = new URL("../../../docs/costs-and-caps.md", import.meta.url);
const TABLE = /(?<=<!-- parts: begin -->\n).*(?=<!-- parts: end -->)/s;

const PRICE_NAMES = Object.fromEntries(TOKEN_KINDS.map((kind) => [rateOf(kind), priceNameOf(kind)]));

function formatParts(): string {
  const rows = TOKEN_KINDS.map((kind) => {
    const { configured, fallback }: TokenFigure["price"] = TOKEN_FIGURES[kind].price;
    const without = fallback === null ? "" : `\`${PRICE_NAMES[fallback]}\``;
    return `| \`${priceNameOf(kind)}\` | ${configured.replace(/\.$/, "")} | ${without} |`;
  });
  return ["| part and price | tokens | without a price |", "|---|---|---|", ...rows].join("\n");
}

describe("docs/costs-and-caps.md", () => {
  it("has every part of a cost, and the price that replaces a missing one (vitest -u renews it)", async () => {
    const renewed = readFileSync(PAGE, "utf8").replace(TABLE, `\n${formatParts()}\n\n`);
    await expect(renewed).toMatchFileSnapshot(PAGE.pathname);
  });
});
