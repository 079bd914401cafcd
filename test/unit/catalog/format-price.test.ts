import { describe, expect, it } from "vitest";

import { formatPrice } from "../../../src/shared/money/money.ts";
import { parsePrice } from "../../../src/shared/money/money.ts";

describe("formatPrice", () => {
  it.each(["0.00", "2.50", "0.075", "10.00", "1234567.12345678", "0.00000001"])(
    "writes %s as it was read",
    (text) => {
      expect(formatPrice(parsePrice(text) ?? -1n)).toBe(text);
    },
  );
});
