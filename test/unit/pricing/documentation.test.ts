import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { fallbackOf, type Rates } from "../../../src/data-path/pricing/rates.ts";
import { TOKEN_FIGURES } from "../../../src/shared/usage/figures.ts";
import {
  partsOf,
  priceNameOf,
  rateOf,
  TOKEN_KINDS,
  type TokenKind,
} from "../../../src/shared/usage/token-usage.ts";

const PAGE = fileURLToPath(new URL("../../../docs/costs-and-caps.md", import.meta.url));
const BEGIN = "<!-- parts of a cost -->\n";

const nameOf = new Map<keyof Rates, string>(TOKEN_KINDS.map((kind) => [rateOf(kind), priceNameOf(kind)]));

function listPrices(rate: keyof Rates): string[] {
  const fallback = fallbackOf(rate);
  return [`\`${nameOf.get(rate)}\``, ...(fallback === null ? [] : listPrices(fallback))];
}

function formatPart(kind: TokenKind): string {
  const [sentence = ""] = TOKEN_FIGURES[kind].price.configured.split(". ");
  const rest = partsOf(kind).length === 0 ? "" : ", without those of other parts";
  const tokens = `${sentence.replace(/\.$/, "")}${rest}`;
  return `| \`${priceNameOf(kind)}\` | ${tokens} | ${listPrices(rateOf(kind)).join(", ")} |`;
}

function renewTable(page: string): string {
  const lines = [
    "| part | what is counted | price, or the next one if it is not set |",
    "|---|---|---|",
    ...TOKEN_KINDS.map(formatPart),
    "| `request` | Once for each request that is charged | `request`, nothing |",
    "| a tool's name | Uses of a [tool that runs at the model server](#tools-of-the-model-server) | `server_tools`, a thousandth of it for each use |",
  ];
  const [before = "", rest = ""] = page.split(BEGIN);
  return `${before}${BEGIN}${lines.join("\n")}\n${rest.slice(rest.indexOf("<!-- end -->"))}`;
}

describe("docs/costs-and-caps.md", () => {
  it("has every part of a cost with its prices (vitest -u renews the table)", async () => {
    await expect(renewTable(readFileSync(PAGE, "utf8"))).toMatchFileSnapshot(PAGE);
  });
});
