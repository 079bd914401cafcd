import { describe, expect, it } from "vitest";
import { formatAlertEvent, formatTestEvent } from "../../../src/alerts/alert-event.ts";
import { ALERT } from "./alert-fixture.ts";

const PAGES = "https://dashboard.example.com";

describe("formatAlertEvent", () => {
  it("has the published fields, amounts in whole cents rounded down", () => {
    expect(JSON.parse(formatAlertEvent(ALERT, PAGES))).toEqual({
      type: "hard_cap.threshold_reached",
      timestamp: "2026-11-20T12:00:00Z",
      data: {
        id: ALERT.id,
        organization_id: ALERT.organizationId,
        scope: "key",
        key_id: ALERT.keyId,
        key_name: "ci",
        threshold_percent: 90,
        amount_cents: 5000,
        spent_cents: 4507,
        currency: "USD",
        month: "2026-11",
        resets_at: "2026-12-01T00:00:00Z",
        url: `${PAGES}/organizations/${ALERT.organizationId}/keys/${ALERT.keyId}#hard_cap_cents`,
      },
    });
  });

  it("names no key when the subject is the organization", () => {
    const alert = { ...ALERT, kind: "budget", scope: "organization", keyId: null, keyName: null } as const;
    expect(JSON.parse(formatAlertEvent({ ...alert, month: "2026-12" }, PAGES))).toMatchObject({
      type: "budget.threshold_reached",
      data: {
        scope: "organization",
        key_id: null,
        key_name: null,
        resets_at: "2027-01-01T00:00:00Z",
        url: `${PAGES}/organizations/${ALERT.organizationId}/settings#budget_cents`,
      },
    });
  });
});

describe("formatTestEvent", () => {
  it("is no alert", () => {
    expect(JSON.parse(formatTestEvent("alert_1", "org_1", ALERT.firedAtMs))).toEqual({
      type: "webhook.test",
      timestamp: "2026-11-20T12:00:00Z",
      data: { id: "alert_1", organization_id: "org_1" },
    });
  });
});
