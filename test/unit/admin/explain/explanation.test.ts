import { describe, expect, it } from "vitest";
import { nameTokens, NO_TOKENS } from "../../../../src/shared/usage/token-usage.ts";
import {
  describeUpstream,
  type ExplainedRequest,
} from "../../../../src/management/admin/explain/explained-request.ts";
import { explain } from "../../../../src/management/admin/explain/explanation.ts";

const PRICE = {
  name: "price",
  passed: true,
  figures: {
    currency: "USD",
    input_microcents_per_million: "300000000",
    cached_input_microcents_per_million: "30000000",
    output_microcents_per_million: "1500000000",
  },
};
const REQUEST: ExplainedRequest = {
  organization_id: "org_1",
  key_id: "key_1",
  key_deleted: false,
  user_id: null,
  user_deleted: false,
  group_id: "group_1",
  group_deleted: false,
  created_at: "2026-11-21T12:00:00.000Z",
  status: 200,
  error_code: null,
  ...nameTokens({ ...NO_TOKENS, inputTokens: 1234, cachedInputTokens: 1, outputTokens: 20 }),
  estimated: false,
  cost_microcents: 400_230,
  duration_ms: 1_920,
  upstream: { name: "local", status: 200, cause: null, envoy_details: null },
  checks: [PRICE],
};
const cap = (name: string, figures: Record<string, string | number>) => [{ name, passed: false, figures }];
const sentenceOf = (request: Partial<ExplainedRequest>) =>
  explain({ ...REQUEST, ...request }, "USD", null).sentence;

describe("the sentence on a request", () => {
  it.each<{ name: string; request: Partial<ExplainedRequest>; sentence: string }>([
    {
      name: "an answer",
      request: {},
      sentence: "Completed in 1.92 s: 1,234 input, 1 cached and 20 output tokens cost 0.0040023 USD.",
    },
    {
      name: "an answer whose tokens nobody told",
      request: { estimated: true, cached_input_tokens: 0, duration_ms: null },
      sentence:
        "Completed: 1,234 input and 20 output tokens cost 0.0040023 USD. The upstream reported no usable token counts, so the gateway estimated them.",
    },
    {
      name: "a key's cap at the admission",
      request: {
        status: 402,
        error_code: "hard_cap_reached",
        checks: cap("key_hard_cap", { spent_microcents: "11041924873", hard_cap_cents: 5000 }),
      },
      sentence:
        "Blocked. Monthly hard cap of 50.00 USD for this API key reached: 110.41 USD spent in November 2026.",
    },
    {
      name: "an organization's strict cap before its record",
      request: {
        status: 402,
        error_code: "org_hard_cap_reached",
        checks: cap("organization_hard_cap", { spent_cents: 4910, hard_cap_cents: 5000, held_cents: 50 }),
      },
      sentence:
        "Blocked. Monthly hard cap of 50.00 USD for the organization would be exceeded: 49.10 USD spent in November 2026, 0.50 USD reserved for requests in flight, and this request may cost more than the rest.",
    },
    {
      name: "a group's weekly cap",
      request: {
        status: 402,
        error_code: "group_hard_cap_reached",
        checks: cap("group_hard_cap", { spent_microcents: "4502525", hard_cap_cents: 2, period: "week" }),
      },
      sentence:
        "Blocked. Weekly hard cap of 0.02 USD for this API key's group reached: 0.04 USD spent in the week of 2026-11-16.",
    },
    {
      name: "a key's total cap",
      request: {
        status: 402,
        error_code: "hard_cap_reached",
        checks: cap("key_hard_cap", { spent_microcents: "0", hard_cap_cents: 0, period: "total" }),
      },
      sentence: "Blocked. Total hard cap of 0.00 USD for this API key reached: 0.00 USD spent in total.",
    },
    {
      name: "a rate",
      request: {
        status: 429,
        error_code: "rate_limit_exceeded",
        checks: cap("rate_limit", {
          requests_per_minute: 60,
          burst: 10,
          remaining: 0,
          retry_after_seconds: 3,
        }),
      },
      sentence:
        "Rejected: rate limit of 60 requests per minute, 10 at once, for this API key reached. A retry could pass 3 s later.",
    },
    {
      name: "a rate of one",
      request: {
        status: 429,
        error_code: "rate_limit_exceeded",
        checks: cap("rate_limit", {
          requests_per_minute: 1,
          burst: 1,
          remaining: 0,
          retry_after_seconds: 60,
        }),
      },
      sentence:
        "Rejected: rate limit of 1 request per minute, 1 at once, for this API key reached. A retry could pass 60 s later.",
    },
    {
      name: "a limit of tokens",
      request: {
        status: 429,
        error_code: "token_rate_limit_exceeded",
        checks: cap("token_rate_limit", {
          scope: "group",
          limit_type: "input",
          tokens_per_minute: 1_000,
          retry_after_seconds: 3,
        }),
      },
      sentence:
        "Rejected: rate limit of 1,000 input tokens per minute for this API key's group reached. A retry could pass 3 s later.",
    },
    {
      name: "a body",
      request: {
        status: 400,
        error_code: "invalid_json",
        checks: cap("body", { message: "The request body is not valid JSON." }),
      },
      sentence: "Rejected: The request body is not valid JSON.",
    },
    {
      name: "an upstream that fails",
      request: {
        status: 502,
        error_code: "upstream_error",
        cost_microcents: 0,
        upstream: { name: "local", status: 500, cause: "out of memory", envoy_details: null },
      },
      sentence: "The upstream local returned 500: out of memory; the client received 502 upstream_error.",
    },
    {
      name: "an upstream that knows no such model",
      request: {
        status: 502,
        error_code: "upstream_model_not_found",
        cost_microcents: 0,
        upstream: {
          name: "local",
          status: 404,
          cause: "The model `echo-7b` does not exist.",
          envoy_details: null,
        },
      },
      sentence:
        "The upstream local returned 404 (unknown model or path): The model `echo-7b` does not exist; the client received 502 upstream_model_not_found.",
    },
    {
      name: "an upstream at which the gateway's account is empty",
      request: {
        status: 502,
        error_code: "upstream_authentication_failed",
        cost_microcents: 0,
        upstream: {
          name: "local",
          status: 429,
          cause: "You exceeded your current quota",
          envoy_details: null,
        },
      },
      sentence:
        "The upstream local returned 429 (the gateway's account or credential was rejected): You exceeded your current quota; the client received 502 upstream_authentication_failed.",
    },
    {
      name: "an upstream that is not there",
      request: {
        status: 503,
        error_code: "model_starting",
        cost_microcents: 0,
        upstream: describeUpstream({ name: "local", status: null, cause: "no_healthy_upstream" }),
      },
      sentence:
        "The upstream local had no server that accepts requests: its name has no address, or all its servers are unhealthy; the client received 503 model_starting.",
    },
    {
      name: "an answer that broke off",
      request: {
        error_code: "upstream_error",
        upstream: { name: "local", status: 200, cause: "the stream ended early", envoy_details: null },
      },
      sentence:
        "The response broke off after 1.92 s: the upstream local returned 200: the stream ended early. Output until then is charged: 0.0040023 USD.",
    },
    {
      name: "a client that went away",
      request: {
        status: 499,
        upstream: describeUpstream({ name: "local", status: 200, cause: "downstream_remote_disconnect" }),
      },
      sentence:
        "The client left after 1.92 s, before the response was complete. Output until then is charged: 0.0040023 USD.",
    },
    {
      name: "a client that did not read",
      request: {
        status: 499,
        upstream: describeUpstream({ name: "local", status: 200, cause: "stream_idle_timeout" }),
      },
      sentence:
        "The client stopped reading and was disconnected after 1.92 s, before the response was complete. Output until then is charged: 0.0040023 USD.",
    },
    {
      name: "an end that is Envoy's",
      request: {
        status: 499,
        upstream: describeUpstream({ name: "local", status: null, cause: "downstream_local_disconnect(x)" }),
      },
      sentence:
        "The request ended after 1.92 s, before its response was complete: Envoy closed the client's connection. Output until then is charged: 0.0040023 USD.",
    },
    {
      name: "an end that nobody knows the reason of",
      request: { status: 499 },
      sentence:
        "The request ended after 1.92 s, before its response was complete: the cause is unknown. Output until then is charged: 0.0040023 USD.",
    },
    {
      name: "a worker that died",
      request: { status: null },
      sentence:
        "The worker died before the request ended. Another worker charged the best known estimate, at least the prompt: 0.0040023 USD.",
    },
  ])("says what $name came to", ({ request, sentence }) => {
    expect(sentenceOf(request)).toBe(sentence);
  });
});

describe("explain", () => {
  it("gives the cost as tokens times prices, with one rounding up on the sum", () => {
    expect(explain(REQUEST, "USD", null).cost).toEqual({
      parts: [
        { name: "input", tokens: 1234, uses: null, price: "3.00", amount: "0.003702" },
        { name: "cached input", tokens: 1, uses: null, price: "0.30", amount: "0.0000003" },
        { name: "output", tokens: 20, uses: null, price: "15.00", amount: "0.0003" },
      ],
      sum: "0.0040023",
      charged: "0.0040023",
    });
  });

  it("gives fees, reasoning and what has rates of its own as parts, which add up to what is charged", () => {
    const figures = {
      ...PRICE.figures,
      reasoning_microcents_per_million: "2000000000",
      cache_write_microcents_per_million: "375000000",
      request_microcents: "1000",
    };
    const request = {
      ...REQUEST,
      cache_write_tokens: 20,
      reasoning_tokens: 5,
      checks: [{ ...PRICE, figures }],
    };
    const cost = explain({ ...request, cost_microcents: 405_230 }, "USD", null).cost;
    expect(cost?.parts.map(({ name, tokens, amount }) => [name, tokens, amount])).toEqual([
      ["input", 1214, "0.003642"],
      ["cached input", 1, "0.0000003"],
      ["cache write", 20, "0.000075"],
      ["output", 15, "0.000225"],
      ["reasoning", 5, "0.0001"],
      ["fee of the request", null, "0.00001"],
    ]);
    expect(cost?.sum).toBe("0.0040523");
    expect(cost?.charged).toBe("0.0040523");
  });

  it("gives each tool of the model server as a part of its own, and its price in the check", () => {
    const figures = {
      ...PRICE.figures,
      web_search_uses: 2,
      web_search_microcents_per_thousand: "1000000000",
    };
    const request = { ...REQUEST, checks: [{ ...PRICE, figures }], cost_microcents: 2_400_230 };
    const { cost, checks } = explain(request, "USD", null);
    const part = { name: "web search", tokens: null, uses: 2, price: "10.00", amount: "0.02" };
    expect(cost?.parts.at(-1)).toEqual(part);
    expect(cost?.sum).toBe("0.0240023");
    expect(checks[0]?.text).toContain("; per thousand uses: web search 10.00 USD");
  });

  it("says what the parts of its record do not come to, whichever of the two is more", () => {
    const costOf = (cost_microcents: number) => explain({ ...REQUEST, cost_microcents }, "USD", null).cost;
    expect([costOf(400_330), costOf(400_130)].map((cost) => [cost?.parts.at(-1), cost?.sum])).toEqual([
      [
        { name: "difference from the record", tokens: null, uses: null, price: null, amount: "0.000001" },
        "0.0040033",
      ],
      [
        { name: "difference from the record", tokens: null, uses: null, price: null, amount: "-0.000001" },
        "0.0040013",
      ],
    ]);
  });

  it("says that strict caps held less than the estimate came to", () => {
    const checks = [{ ...PRICE, figures: { ...PRICE.figures, bounded_by: "hold" } }];
    const { cost, checks: told } = explain({ ...REQUEST, checks, cost_microcents: 400_130 }, "USD", null);
    const name = "estimate above the reservation (strict caps)";
    expect(cost?.parts.at(-1)).toMatchObject({ name, amount: "-0.000001" });
    expect(told[0]?.text).toContain("charged up to the request's reservation");
  });

  it("rounds up what is less than the eighth decimal, and calls it nothing else", () => {
    const figures = { ...PRICE.figures, cached_input_microcents_per_million: "30500000" };
    const cost = explain(
      { ...REQUEST, cost_microcents: 400_231, checks: [{ ...PRICE, figures }] },
      "USD",
      null,
    ).cost;
    expect([cost?.parts.length, cost?.sum, cost?.charged]).toEqual([3, "0.004002305", "0.00400231"]);
  });

  it("leads to the page where the reason is changed", () => {
    const checks = cap("key_hard_cap", { spent_microcents: "0", hard_cap_cents: 0 });
    const refused = { ...REQUEST, status: 402, error_code: "hard_cap_reached", checks };
    const action = { label: "Change this cap", path: "/organizations/org_1/keys/key_1#limits" };
    expect(explain(refused, "USD", null).action).toEqual({ ...action, url: null });
    expect(explain(refused, "USD", "https://dash.example.com").action).toEqual({
      ...action,
      url: `https://dash.example.com${action.path}`,
    });
    expect(explain(REQUEST, "USD", null).action).toBeNull();
  });

  it("leads to no page of a key that is deleted", () => {
    const checks = cap("key_hard_cap", { spent_microcents: "0", hard_cap_cents: 0 });
    const refused = { ...REQUEST, key_deleted: true, status: 402, checks };
    const actionOf = (error_code: string) => explain({ ...refused, error_code }, "USD", null).action;
    expect(actionOf("hard_cap_reached")).toBeNull();
    expect(actionOf("org_hard_cap_reached")?.path).toBe("/organizations/org_1/settings#limits");
  });

  it("says every check in words and money, never in microcents", () => {
    const figures = { spent_microcents: "11041924873", hard_cap_cents: 5000, currency: "USD" };
    const checks = [
      { name: "key_enabled", passed: true, figures: {} },
      { name: "key_not_expired", passed: true, figures: { expires_at: null } },
      {
        name: "rate_limit",
        passed: true,
        figures: { requests_per_minute: 600, burst: 60, remaining: 59, retry_after_seconds: 0 },
      },
      {
        name: "concurrency",
        passed: true,
        figures: { concurrent_requests: 1, max_concurrent_requests: 5 },
      },
      { name: "key_hard_cap", passed: false, figures },
      PRICE,
    ];
    const said = explain({ ...REQUEST, checks }, "USD", null).checks;
    expect(said.map(({ name, text }) => `${name}: ${text}`)).toEqual([
      "key enabled: ",
      "key not expired: no expiry",
      "rate limit: 600 per minute, 60 at once; 59 left after this one",
      "concurrency: 1 of 5 in flight",
      "key hard cap: 110.41 USD spent of the monthly hard cap of 50.00 USD",
      "price: per million tokens: input 3.00, cached input 0.30, output 15.00 USD",
    ]);
    expect(JSON.stringify(said)).not.toContain("microcents");
  });
});
