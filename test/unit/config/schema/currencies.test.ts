import { describe, expect, it } from "vitest";

import { CURRENCIES, explainCurrency } from "../../../../src/shared/config/schema/currencies.ts";

describe("explainCurrency", () => {
  it.each(["USD", "EUR", "GBP", "CHF", "INR", "BRL", "SEK", "HUF"])("takes %s", (code) => {
    expect(explainCurrency(code)).toBeNull();
  });

  it.each(["JPY", "KRW", "KWD", "CLF"])("says that %s has no two-digit minor unit", (code) => {
    expect(explainCurrency(code)).toContain("no two-digit minor unit");
  });

  it.each(["", "dollar", "XXX", "XAU", "EURO"])("refuses '%s'", (code) => {
    expect(explainCurrency(code)).not.toBeNull();
  });

  it("knows only codes of three capitals", () => {
    expect([...CURRENCIES].filter((code) => !/^[A-Z]{3}$/.test(code))).toEqual([]);
  });
});
