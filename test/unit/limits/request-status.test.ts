import { describe, expect, it } from "vitest";
import { NO_TOKENS } from "../../../src/shared/usage/token-usage.ts";
import { formatRequestStatus, withoutAmounts } from "../../../src/data-path/limits/reports/request-status.ts";
import { UNKNOWN_TRACE } from "../../../src/shared/stored/reporting.ts";
import { createId } from "../../../src/data-path/store/ids.ts";

describe("formatRequestStatus", () => {
  const admittedAtMs = Date.UTC(2026, 10, 21, 12, 30, 15, 250);
  const request = {
    requestId: createId("req", admittedAtMs),
    keyId: "key_1",
    recordedAtMs: admittedAtMs + 5_000,
    route: "POST /v1/messages",
    model: "acme/echo-small",
    refusal: null,
    status: 200,
    tags: "feature=autocomplete,team=search",
    owners: "",
    session: "run 1",
    errorCode: null,
    ...NO_TOKENS,
    inputTokens: 6,
    cachedInputTokens: 4,
    outputTokens: 5,
    reasoningTokens: 2,
    estimated: true,
    costMicrocents: 1_999_999n,
    toolMicrocents: 0n,
    trace: UNKNOWN_TRACE,
    checks: [{ name: "price", passed: true, figures: { currency: "USD" } }],
  };

  it("is the published body, with the time of the admission and whole cents rounded down", () => {
    expect(formatRequestStatus(request)).toEqual({
      object: "request",
      id: request.requestId,
      created_at: "2026-11-21T12:30:15.250Z",
      model: "acme/echo-small",
      requested_model: null,
      route: "POST /v1/messages",
      tags: { feature: "autocomplete", team: "search" },
      session_id: "run 1",
      status: 200,
      error_code: null,
      input_tokens: 6,
      cached_input_tokens: 4,
      output_tokens: 5,
      estimated: true,
      cost_microcents: 1_999_999,
      cost_cents: 1,
      cost_details: null,
      checks: request.checks,
    });
  });

  it("has the name that the client wrote, where it was no catalog id", () => {
    const trace = { ...UNKNOWN_TRACE, requestedModel: "gpt-4o-mini" };
    const shown = formatRequestStatus({ ...request, trace });
    expect(shown).toMatchObject({ model: "acme/echo-small", requested_model: "gpt-4o-mini" });
  });

  it("has the parts of the cost, exactly, by the prices that were in force", () => {
    const figures = {
      currency: "USD",
      input_microcents_per_million: "250000000",
      cached_input_microcents_per_million: "25000000",
      output_microcents_per_million: "1000000000",
      cache_write_microcents_per_million: "312500001",
      service_tier: "flex",
      price_from: "2026-11-01",
    };
    const checks = [{ name: "price", passed: true, figures }];
    expect(
      formatRequestStatus({ ...request, cacheWriteTokens: 2, checks, costMicrocents: 6_726n }).cost_details,
    ).toEqual({
      service_tier: "flex",
      above_prompt_tokens: null,
      price_from: "2026-11-01",
      parts: [
        { name: "input", tokens: 4, price: "2.50", cost: "0.00001000" },
        { name: "cached_input", tokens: 4, price: "0.25", cost: "0.00000100" },
        { name: "cache_write", tokens: 2, price: "3.12500001", cost: "0.00000625000002" },
        { name: "output", tokens: 3, price: "10.00", cost: "0.00003000" },
        { name: "reasoning", tokens: 2, price: "10.00", cost: "0.00002000" },
      ],
    });
    expect(formatRequestStatus({ ...request, checks, costMicrocents: 0n }).cost_details).toBeNull();
  });

  it.each([
    ["unknown_key", 401, "invalid_api_key"],
    ["key_disabled", 403, "key_disabled"],
    ["key_expired", 403, "key_expired"],
    ["user_disabled", 403, "user_disabled"],
    ["organization_suspended", 403, "organization_suspended"],
    ["rate_limited", 429, "rate_limit_exceeded"],
    ["concurrency_limited", 429, "concurrency_limit_exceeded"],
    ["key_cap_reached", 402, "hard_cap_reached"],
    ["organization_cap_reached", 402, "org_hard_cap_reached"],
  ] as const)("says what its client was told when it was refused as %s", (refusal, status, errorCode) => {
    expect(formatRequestStatus({ ...request, refusal, status: null })).toMatchObject({
      status,
      error_code: errorCode,
    });
  });

  it("has no status when the request's worker died", () => {
    expect(formatRequestStatus({ ...request, status: null })).toMatchObject({
      status: null,
      error_code: null,
    });
  });

  it("is without what an organization hides: the figures of caps that are not the key's", () => {
    const figures = { spent_microcents: "5", hard_cap_cents: 1, currency: "USD" };
    const check = (name: string, more: object = {}) => ({
      name,
      passed: false,
      figures: { ...figures, ...more },
    });
    const checks = [
      check("key_hard_cap"),
      check("user_hard_cap", { period: "week" }),
      check("group_hard_cap", { period: "day" }),
      check("organization_hard_cap"),
    ];
    expect(withoutAmounts(formatRequestStatus({ ...request, checks })).checks).toEqual([
      checks[0],
      { name: "user_hard_cap", passed: false, figures: { period: "week" } },
      { name: "group_hard_cap", passed: false, figures: { period: "day" } },
      { name: "organization_hard_cap", passed: false, figures: {} },
    ]);
  });
});
