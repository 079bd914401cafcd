import { describe, expect, it } from "vitest";
import { type AttentionInput, listAttention } from "../../../../src/management/admin/dashboard/attention.ts";
import type { LimitView } from "../../../../src/management/admin/dashboard/views.ts";

const limit = (over: Partial<LimitView>): LimitView => ({
  owner: { id: "key_1", name: "dev", user_count: null, key_count: null },
  member_of: null,
  window_start: null,
  raises: [],
  scope: "key",
  period: "day",
  kind: "cap",
  cents: 1,
  raised_cents: 0,
  spent_cents: 13,
  remaining_cents: 0,
  resets_at: "2026-11-22T00:00:00Z",
  ...over,
});

const NOW_MS = Date.parse("2026-11-21T12:00:00Z");

function attentionOf(limits: readonly LimitView[], over: object = {}) {
  // Only what is read of a key and of an organization.
  const key = { id: "key_1", name: "dev", state: "cap_reached" };
  const organization = { id: "org_1", currency: "USD", suspended: false, notifications: { webhooks: [] } };
  return listAttention({
    organization,
    forecastMicrocents: null,
    keys: [key],
    keyLimits: new Map([["key_1", limits]]),
    alerts: [],
    limits: [],
    groups: [],
    names: new Map(),
    recent: { failing: [], stopped: [], isWhole: true },
    nowMs: NOW_MS,
    canChange: true,
    ...over,
  } as unknown as AttentionInput);
}

describe("a key that has reached a cap, on the overview", () => {
  it.each([
    {
      limits: [limit({ period: "month", cents: 8000 }), limit({})],
      text: 'Daily hard cap of 0.01 USD for API key "dev" reached: 0.13 USD spent on 2026-11-21. Requests that cost money return 402 until 00:00 UTC.',
      path: "/organizations/org_1/keys/key_1#limits",
    },
    {
      limits: [limit({ period: "total", cents: 0, spent_cents: 0, resets_at: null })],
      text: 'Total hard cap of 0.00 USD for API key "dev" reached: 0.00 USD spent in total. Requests that cost money return 402.',
      path: "/organizations/org_1/keys/key_1#limits",
    },
    {
      limits: [limit({ period: "month", resets_at: "2026-12-01T00:00:00Z" })],
      text: 'Monthly hard cap of 0.01 USD for API key "dev" reached: 0.13 USD spent in November 2026. Requests that cost money return 402 until 2026-12-01 00:00 UTC.',
      path: "/organizations/org_1/keys/key_1#limits",
    },
  ])("is named with that cap, its window and its field: $text", ({ limits, text, path }) => {
    expect(attentionOf(limits)).toEqual([{ level: "bad", text, label: "Change this cap", path }]);
  });

  it("is named with its user's cap, and not at all beside the organization's", () => {
    const owner = { id: "user_1", name: "Zoë", user_count: null, key_count: 1 };
    const ofUser = limit({ scope: "user", owner });
    const path = "/organizations/org_1/users/user_1#limits";
    expect(attentionOf([ofUser])).toMatchObject([{ path }]);
    const ofAll = limit({ scope: "organization", owner: { ...owner, id: "org_1", name: "Acme" } });
    expect(attentionOf([ofUser], { limits: [ofAll] })).toMatchObject([
      { path: "/organizations/org_1/settings#limits" },
    ]);
  });

  it("offers a viewer to see the cap, not to change it", () => {
    expect(attentionOf([limit({})], { canChange: false })).toMatchObject([{ label: "See this cap" }]);
  });
});

describe("a delivery that failed, on the overview", () => {
  const DAY_MS = 86_400_000;
  const failedAt = (firedAtMs: number) => {
    const failed = { state: "failed", lastError: "550 no such user", attempts: 9, nextAttemptAtMs: null };
    const off = { state: "off", lastError: null, attempts: 0, nextAttemptAtMs: null };
    const deliveries = { email: failed, webhook: off, webhooks: new Map() };
    return { keys: [], alerts: [{ firedAtMs, deliveries }] };
  };

  it("needs attention for a day, and not until newer alerts push it out", () => {
    expect(attentionOf([], failedAt(NOW_MS - DAY_MS / 2))).toMatchObject([{ label: "See the deliveries" }]);
    expect(attentionOf([], failedAt(NOW_MS - 2 * DAY_MS))).toEqual([]);
  });
});

describe("the overview", () => {
  const base = {
    organization: { id: "org_1", currency: "USD", suspended: false, notifications: { webhooks: [] } },
  };
  const entriesOf = (input: object) =>
    listAttention({
      ...base,
      forecastMicrocents: null,
      canChange: true,
      keys: [],
      keyLimits: new Map(),
      alerts: [],
      limits: [],
      groups: [],
      names: new Map(),
      recent: { failing: [], stopped: [], isWhole: true },
      nowMs: Date.parse("2026-11-21T12:00:00Z"),
      ...input,
    } as unknown as AttentionInput);

  it("has one line for each cause, with the list of all that it is about", () => {
    const pool = { id: "group_1", name: "Search", tightest_limit: limit({ scope: "group" }) };
    const stop = {
      scope: "key",
      ownerId: "key_1",
      period: "day",
      errorCode: "hard_cap_reached",
      count: 40,
      lastMs: 0,
    };
    const found = entriesOf({
      keyCounts: { cap: 12, budget: 2 },
      groups: [pool, { ...pool, id: "group_2" }],
      recent: { failing: [], stopped: [stop, { ...stop, period: "week", count: 2 }], isWhole: false },
    });
    expect(found.map(({ text, path }) => [text, path])).toEqual([
      ["2 groups have reached a cap.", "/organizations/org_1/groups?sort=-limit&limit_state=reached"],
      ["12 API keys have reached a cap.", "/organizations/org_1/keys?sort=-limit&state=cap_reached"],
      [
        "Today 2 caps blocked at least 42 requests.",
        "/organizations/org_1/requests?status=402&from=2026-11-21",
      ],
      ["2 API keys are over a budget.", "/organizations/org_1/keys?sort=-limit&state=over_budget"],
    ]);
  });

  it("says that the forecast is past the month's cap, with the cap's field", () => {
    const cap = limit({ scope: "organization", period: "month", cents: 100_000, spent_cents: 0 });
    const input = { limits: [cap], forecastMicrocents: 120_000_000_000 };
    expect(entriesOf(input)).toEqual([
      {
        level: "warn",
        text: "At this pace, this month's spend reaches 1,200.00 USD, above the monthly hard cap of 1,000.00 USD.",
        label: "Change this cap",
        path: "/organizations/org_1/settings#limits",
      },
    ]);
  });
});
