import { describe, expect, it } from "vitest";
import { explain } from "../../../src/cli/explain.ts";

const REQUEST = {
  id: "req_1",
  route: "POST /v1/chat/completions",
  created_at: "2026-11-21T12:00:00.000Z",
  key_id: "key_1",
  model: "acme/echo-small",
  status: 200,
  error_code: null,
  input_tokens: 3,
  cached_input_tokens: 1,
  output_tokens: 2,
  estimated: false,
  cost_microcents: 13,
  checks: [
    {
      name: "price",
      passed: true,
      figures: {
        currency: "USD",
        input_microcents_per_million: "1230000",
        cached_input_microcents_per_million: "123000",
        output_microcents_per_million: "4567890",
      },
    },
  ],
};

describe("explain", () => {
  it("shows how a cost comes about: tokens, prices, one rounding up on the sum", () => {
    const text = explain(REQUEST, "Acme", "USD");
    expect(text).toContain("input: 3 tokens × 1230000 = 3.69 microcents");
    expect(text).toContain("cached input: 1 tokens × 123000 = 0.123 microcents");
    expect(text).toContain("output: 2 tokens × 4567890 = 9.13578 microcents");
    expect(text).toContain("sum: 12.94878, rounded up to 13 microcents");
    expect(text).toContain("cost: 0.00000013 USD");
  });

  it("names the check that refused with its figures", () => {
    const checks = [
      { name: "key_hard_cap", passed: false, figures: { spent_cents: 5013, hard_cap_cents: 5000 } },
    ];
    const refused = { ...REQUEST, status: 402, error_code: "hard_cap_reached", cost_microcents: 0, checks };
    const text = explain(refused, "Acme", "USD");
    expect(text).toContain("answered with 402 hard_cap_reached");
    expect(text).toContain("refused by key_hard_cap: spent_cents 5013, hard_cap_cents 5000");
  });

  it.each([
    [null, "its worker died"],
    [499, "its client went away"],
  ])("says what status %s means", (status, meaning) => {
    expect(explain({ ...REQUEST, status }, "Acme", "USD")).toContain(meaning);
  });
});
