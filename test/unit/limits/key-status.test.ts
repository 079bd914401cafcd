import { describe, expect, it } from "vitest";
import { formatKeyStatus, type KeyStatusInput } from "../../../src/data-path/limits/reports/key-status.ts";
import { KEY_SETTINGS } from "../../../src/shared/settings/key.ts";
import { defaultsOf } from "../../../src/shared/settings/table.ts";
import type { LimitScope } from "../../../src/shared/stored/decision.ts";
import type { LimitKind } from "../../../src/shared/settings/limits.ts";
import { NO_WATCH } from "../../support/no-watch.ts";
import type { LimitStatus } from "../../../src/shared/stored/reporting.ts";

const CENT = 1_000_000n;

const KEY: KeyStatusInput["key"] = {
  ...defaultsOf(KEY_SETTINGS),
  id: "key_1",
  organizationId: "org_1",
  name: "ci",
  display: "sk-igw-…a1B2",
  requestsPerMinute: 600,
  createdAtMs: 0,
  deletedAtMs: null,
  formerKeyUntilMs: null,
  version: 1,
};

const ORGANIZATION: KeyStatusInput["organization"] = {
  id: "org_1",
  name: "Acme",
  currency: "USD",
  strictCaps: false,
  tokensPerMinute: null,
  inputTokensPerMinute: null,
  outputTokensPerMinute: null,
  countCachedTokens: false,
  onCap: "refuse",
  endUserTag: false,
  sessionCapCents: null,
  hideAmounts: false,
  budgetHeaders: "near_cap",
  maxOwnKeys: 5,
  dayAlerts: "last",
  modelNames: { aliases: {}, defaultModel: null },
  suspended: false,
  notifications: { ...NO_WATCH, dashboard: true, emails: [], webhook: null, webhooks: [] },
  keyDefaults: { requestsPerMinute: null, limits: [] },
  limits: [],
  raises: [],
  memberLimits: [],
  createdAtMs: 0,
  deletedAtMs: null,
  version: 1,
};

interface Figures {
  readonly keySpent?: bigint;
  readonly organizationSpent?: bigint;
  readonly keyCap?: number | null;
  readonly keyBudget?: number | null;
  readonly organizationCap?: number | null;
  readonly month?: string;
  readonly hideAmounts?: boolean;
  readonly keyTokens?: number | null;
  readonly organizationInputTokens?: number | null;
}

function statusOf({
  keySpent = 0n,
  organizationSpent = 0n,
  keyCap = null,
  keyBudget = null,
  organizationCap = null,
  month = "2026-11",
  hideAmounts = false,
  keyTokens = null,
  organizationInputTokens = null,
}: Figures) {
  return formatKeyStatus({
    key: { ...KEY, tokensPerMinute: keyTokens },
    organization: {
      ...ORGANIZATION,
      hideAmounts,
      inputTokensPerMinute: organizationInputTokens,
    },
    spend: {
      month,
      timeMs: 0,
      organizationMicrocents: organizationSpent,
      organizationHeldMicrocents: 0n,
      keyMicrocents: new Map(keySpent === 0n ? [] : [["key_1", keySpent]]),
    },
    limits: {
      timeMs: Date.UTC(2026, 10, 21),
      limits: [
        monthOf("key", "cap", keyCap, keySpent),
        monthOf("key", "budget", keyBudget, keySpent),
        monthOf("organization", "cap", organizationCap, organizationSpent),
      ].flat(),
    },
    user: null,
    group: null,
    remainingRequests: 59,
    burst: 60,
  });
}

function monthOf(
  scope: LimitScope,
  kind: LimitKind,
  cents: number | null,
  spentMicrocents: bigint,
): readonly LimitStatus[] {
  return cents === null ? [] : [{ scope, period: "month", kind, cents, raisedCents: 0, spentMicrocents }];
}

describe("formatKeyStatus", () => {
  it("is the published body", () => {
    const figures = {
      keySpent: 13n * CENT + 1n,
      organizationSpent: 1_201n * CENT,
      keyCap: 5_000,
      keyBudget: 4_000,
      organizationCap: 100_000,
    };
    expect(statusOf(figures)).toEqual({
      object: "key",
      id: "key_1",
      name: "ci",
      display: "sk-igw-…a1B2",
      organization: {
        id: "org_1",
        name: "Acme",
        spent_cents: 1_201,
        hard_cap_cents: 100_000,
        budget_cents: null,
        remaining_cents: 98_799,
      },
      currency: "USD",
      month: "2026-11",
      resets_at: "2026-12-01T00:00:00Z",
      rate_limit: { requests_per_minute: 600, burst: 60, remaining: 59 },
      spent_cents: 13,
      hard_cap_cents: 5_000,
      budget_cents: 4_000,
      remaining_cents: 4_987,
      headroom_cents: 4_987,
      blocked_by: null,
      allowed_models: null,
      expires_at: null,
      user: null,
      group: null,
      limits: [
        {
          scope: "key",
          period: "month",
          kind: "cap",
          cents: 5_000,
          raised_cents: 0,
          spent_cents: 13,
          remaining_cents: 4_987,
          resets_at: "2026-12-01T00:00:00Z",
        },
        {
          scope: "key",
          period: "month",
          kind: "budget",
          cents: 4_000,
          raised_cents: 0,
          spent_cents: 13,
          remaining_cents: 3_987,
          resets_at: "2026-12-01T00:00:00Z",
        },
        {
          scope: "organization",
          period: "month",
          kind: "cap",
          cents: 100_000,
          raised_cents: 0,
          spent_cents: 1_201,
          remaining_cents: 98_799,
          resets_at: "2026-12-01T00:00:00Z",
        },
      ],
      token_limits: [],
    });
  });

  it("names every limit of tokens per minute, the narrowest owner's first", () => {
    expect(statusOf({ keyTokens: 1_000, organizationInputTokens: 90_000 }).token_limits).toEqual([
      { scope: "key", type: "total", tokens_per_minute: 1_000 },
      { scope: "organization", type: "input", tokens_per_minute: 90_000 },
    ]);
  });

  it.each([
    ["no cap", {}, null, null, null],
    ["only the key's", { keyCap: 10 }, 10, 10, null],
    ["only the organization's", { organizationCap: 20 }, null, 20, null],
    ["both, the key's closer", { keyCap: 10, organizationCap: 20 }, 10, 10, null],
    ["both, the organization's closer", { keyCap: 30, organizationCap: 20 }, 30, 20, null],
    ["the key's reached exactly", { keyCap: 10, keySpent: 10n * CENT }, 0, 0, "key"],
    ["the key's reached but for a microcent", { keyCap: 10, keySpent: 10n * CENT - 1n }, 1, 1, null],
    ["the key's overspent", { keyCap: 10, keySpent: 15n * CENT }, 0, 0, "key"],
    [
      "the organization's reached",
      { organizationCap: 10, organizationSpent: 10n * CENT },
      null,
      0,
      "organization",
    ],
    ["both reached: the key's is named", { keyCap: 0, organizationCap: 0 }, 0, 0, "key"],
    ["the largest cap there is", { keyCap: 9_000_000_000, keySpent: 1n }, 9_000_000_000, 9_000_000_000, null],
  ] as const)(
    "tells what is left and what blocks with %s",
    (_name, figures, remaining, headroom, blockedBy) => {
      expect(statusOf(figures)).toMatchObject({
        remaining_cents: remaining,
        headroom_cents: headroom,
        blocked_by: blockedBy,
      });
    },
  );

  it.each([
    ["2026-11", "2026-12-01T00:00:00Z"],
    ["2026-12", "2027-01-01T00:00:00Z"],
    ["2028-02", "2028-03-01T00:00:00Z"],
    ["2027-02", "2027-03-01T00:00:00Z"],
  ])("of %s resets at %s", (month, resetsAt) => {
    expect(statusOf({ month }).resets_at).toBe(resetsAt);
  });

  it("tells only the key's own figures where the organization hides the others", () => {
    const body = statusOf({
      hideAmounts: true,
      keySpent: 13n * CENT,
      organizationSpent: 99_990n * CENT,
      keyCap: 5_000,
      organizationCap: 100_000,
    });
    expect(body.organization).toEqual({
      id: "org_1",
      name: "Acme",
      spent_cents: null,
      hard_cap_cents: null,
      budget_cents: null,
      remaining_cents: null,
    });
    // Not the ten that the organization has left.
    expect(body.headroom_cents).toBe(4_987);
    expect(body.limits).toMatchObject([
      { scope: "key", cents: 5_000, spent_cents: 13, remaining_cents: 4_987 },
      { scope: "organization", cents: null, spent_cents: null, remaining_cents: null, raised_cents: null },
    ]);
    expect(body.limits[1]?.resets_at).toBe("2026-12-01T00:00:00Z");
    const [keySpent, organizationSpent] = [0n, 100_000n * CENT];
    const blocked = { hideAmounts: true, keySpent, organizationSpent, organizationCap: 100_000 };
    expect(statusOf(blocked)).toMatchObject({ blocked_by: "organization", headroom_cents: null });
  });
});
