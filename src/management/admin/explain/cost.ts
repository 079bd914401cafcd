/** Calculation of a cost: tokens times prices, rounded up once on the sum. */
import { formatPrice, formatProduct, MIN_SHOWN_DECIMALS } from "../../../shared/money/money.ts";
import { isBoundByHold, parsePriceFigures } from "../../../data-path/pricing/charged-price.ts";
import { costParts, TOKENS_PER_PRICE_UNIT } from "../../../data-path/pricing/rates.ts";
import { mapTokens, TOKEN_NAMES, type TokenKind } from "../../../shared/usage/token-usage.ts";
import { spellOut } from "../format.ts";
import type { ExplainedRequest, Explanation } from "./explained-request.ts";

type Priced = Pick<ExplainedRequest, "checks" | "cost_microcents" | (typeof TOKEN_NAMES)[TokenKind]>;

export function explainCost(request: Priced): Explanation["cost"] {
  const figures = request.checks.find((check) => check.name === "price")?.figures;
  if (figures === undefined) return null;
  const stored = parsePriceFigures(figures);
  if (stored === null) return null;
  const tokens = mapTokens((kind) => request[TOKEN_NAMES[kind]]);
  const parts = costParts(tokens, stored.charged.rates, stored.tools);
  const known = parts.reduce((sum, { amount }) => sum + amount, 0n);
  const charged = BigInt(request.cost_microcents) * TOKENS_PER_PRICE_UNIT;
  const rounding = charged - known;
  const isRounding = rounding >= 0n && rounding < TOKENS_PER_PRICE_UNIT;
  return {
    parts: [
      ...parts.map(({ name, tokens: count, uses, rate, amount }) => ({
        name: name === "request" ? "fee of the request" : spellOut(name),
        tokens: count,
        uses,
        price: count === null && uses === null ? null : formatPrice(rate),
        amount: formatAmount(amount),
      })),
      ...(isRounding
        ? []
        : [
            {
              name: isBoundByHold(figures) ? BOUNDED : UNEXPLAINED,
              tokens: null,
              uses: null,
              price: null,
              amount: formatAmount(rounding),
            },
          ]),
    ],
    sum: formatAmount(isRounding ? known : charged),
    charged: formatAmount(charged),
  };
}

/** Text if its worker died and another charged an estimate, or its record lacks figures. */
const UNEXPLAINED = "difference from the record";
/** Text for an estimate that was bounded by the amount reserved under strict caps. */
const BOUNDED = "estimate above the reservation (strict caps)";

/** Formats "0.003702": without trailing zeros, but at least two decimals. */
function formatAmount(product: bigint): string {
  return formatProduct(product, MIN_SHOWN_DECIMALS);
}
