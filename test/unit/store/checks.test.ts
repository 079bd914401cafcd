import { describe, expect, it } from "vitest";
import { type AdmissionFigures, describeChecks } from "../../../src/data-path/store/admission/checks.ts";
import type { AdmittedCap } from "../../../src/shared/stored/admission.ts";
import { ADMISSION_DECISIONS } from "../../../src/shared/stored/decision.ts";

const FIGURES: AdmissionFigures = {
  decision: "admitted",
  bucket: "requests",
  requestsPerMinute: 600,
  capacity: 60,
  remaining: 3,
  retryAfterSeconds: 0,
  tokenLimit: null,
  expiresAtMs: Date.parse("2027-01-01T00:00:00Z"),
  concurrentRequests: 1,
  maxConcurrentRequests: 2,
  currency: "USD",
  keySpentMicrocents: 2n ** 53n + 1n,
  organizationSpentMicrocents: 5n,
  caps: [{ scope: "organization", period: "month", cents: 100, raisedCents: 0, spentMicrocents: 5n }],
  reachedCap: null,
};

function capOf(scope: AdmittedCap["scope"], period: AdmittedCap["period"]): AdmittedCap {
  return { scope, period, cents: 100, raisedCents: 0, spentMicrocents: 100_000_000n };
}

describe("describeChecks", () => {
  it("shows all checks of an admission, amounts to the microcent", () => {
    expect(describeChecks(FIGURES)).toEqual([
      { name: "key_enabled", passed: true, figures: {} },
      { name: "key_not_expired", passed: true, figures: { expires_at: "2027-01-01T00:00:00.000Z" } },
      { name: "organization_active", passed: true, figures: {} },
      {
        name: "rate_limit",
        passed: true,
        figures: {
          bucket: "requests",
          requests_per_minute: 600,
          burst: 60,
          remaining: 3,
          retry_after_seconds: 0,
        },
      },
      { name: "concurrency", passed: true, figures: { concurrent_requests: 1, max_concurrent_requests: 2 } },
      {
        name: "key_hard_cap",
        passed: true,
        figures: { spent_microcents: "9007199254740993", hard_cap_cents: null, currency: "USD" },
      },
      {
        name: "organization_hard_cap",
        passed: true,
        figures: { spent_microcents: "5", hard_cap_cents: 100, currency: "USD" },
      },
    ]);
  });

  it.each(ADMISSION_DECISIONS.slice(2))("ends with the failed check for %s", (decision) => {
    const isOfOwner = decision === "user_cap_reached" || decision === "group_cap_reached";
    const reachedCap = isOfOwner ? capOf(decision === "user_cap_reached" ? "user" : "group", "week") : null;
    const caps = reachedCap === null ? FIGURES.caps : [reachedCap];
    const isOfTokens = decision === "token_rate_limited";
    const tokenLimit = isOfTokens ? ({ scope: "group", type: "input", limit: 1_000 } as const) : null;
    const checks = describeChecks({ ...FIGURES, decision, caps, reachedCap, tokenLimit });
    expect(checks.map(({ passed }) => passed)).toEqual([...checks.slice(1).map(() => true), false]);
  });

  it("gives the wait for a token limit only with that limit", () => {
    const tokenLimit = { scope: "key", type: "total", limit: 1 } as const;
    const figures = {
      ...FIGURES,
      decision: "token_rate_limited",
      tokenLimit,
      retryAfterSeconds: 180,
    } as const;
    const waits = describeChecks(figures).map(({ name, figures: shown }) => [
      name,
      shown["retry_after_seconds"],
    ]);
    expect(waits.slice(-2)).toEqual([
      ["rate_limit", 0],
      ["token_rate_limit", 180],
    ]);
  });

  it("shows the spend of a key without a cap when the organization's monthly cap is reached", () => {
    const [reachedCap = null] = FIGURES.caps;
    const checks = describeChecks({ ...FIGURES, decision: "organization_cap_reached", reachedCap });
    expect(checks.slice(-2)).toMatchObject([
      { name: "key_hard_cap", passed: true, figures: { hard_cap_cents: null } },
      { name: "organization_hard_cap", passed: false, figures: { hard_cap_cents: 100 } },
    ]);
  });

  it.each([
    { cap: { ...capOf("key", "month"), raisedCents: 50 }, name: "key_hard_cap", period: "month" },
    { cap: capOf("organization", "day"), name: "organization_hard_cap", period: "day" },
  ])(
    "shows a reached cap of $period by itself if a cap is raised or is not monthly",
    ({ cap, name, period }) => {
      const decision = `${cap.scope}_cap_reached` as const;
      const caps = [...FIGURES.caps, cap];
      const checks = describeChecks({ ...FIGURES, decision, caps, reachedCap: cap });
      const shown = checks.filter((check) => check.name.endsWith("_hard_cap"));
      expect(shown).toMatchObject([{ name, passed: false, figures: { period } }]);
    },
  );

  it("names the cap of a window by its owner, and no other cap", () => {
    const reachedCap = { ...capOf("user", "week"), spentMicrocents: 100_000_001n };
    const caps = [...FIGURES.caps, reachedCap];
    const checks = describeChecks({ ...FIGURES, decision: "user_cap_reached", caps, reachedCap });
    expect(checks.filter(({ name }) => name.endsWith("_hard_cap"))).toEqual([
      {
        name: "user_hard_cap",
        passed: false,
        figures: { spent_microcents: "100000001", hard_cap_cents: 100, currency: "USD", period: "week" },
      },
    ]);
  });
});
