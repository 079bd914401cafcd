import { describe, expect, it } from "vitest";

import { camelCase, snakeKey } from "../../../../src/shared/config/schema/camel-case.ts";

describe("camelCase", () => {
  it("turns keys at every depth, and no values", () => {
    const { max_stop: _, ...rest } = {
      max_stop: 1,
      a_b: [{ top_k: "to_do" }],
      prices: { USD: { cached_input: "1" } },
    };
    expect(camelCase(rest)).toEqual({ aB: [{ topK: "to_do" }], prices: { USD: { cachedInput: "1" } } });
  });

  it("has types with the same keys", () => {
    const value: { readonly maxBodyBytes: number } = camelCase({ max_body_bytes: 1 });
    expect(value.maxBodyBytes).toBe(1);
  });
});

describe("snakeKey", () => {
  it.each([
    { key: "maxBodyBytes", name: "max_body_bytes" },
    { key: "topK", name: "top_k" },
    { key: "USD", name: "USD" },
  ])("of $key is $name", ({ key, name }) => {
    expect(snakeKey(key)).toBe(name);
  });
});
