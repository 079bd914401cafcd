import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatRounded } from "../../../src/shared/money/money.ts";

describe("amounts of a statement", () => {
  it.each([
    [0n, "0.00"],
    [499_999n, "0.00"],
    [500_000n, "0.01"],
    [-499_999n, "0.00"],
    [-500_000n, "-0.01"],
    [9_498_760_000n, "94.99"],
  ] as const)("%s microcents are %s", (microcents, text) => {
    expect(formatRounded(microcents)).toBe(text);
  });

  it("differ from the exact amount by at most half a cent", () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 18n), 10n ** 18n), (microcents) => {
        const shown = BigInt(formatRounded(microcents).replace(".", "")) * 1_000_000n;
        const difference = shown > microcents ? shown - microcents : microcents - shown;
        expect(2n * difference <= 1_000_000n).toBe(true);
      }),
    );
  });
});
