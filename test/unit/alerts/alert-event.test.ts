import { describe, expect, it } from "vitest";
import { formatAlertEvent, formatTestEvent } from "../../../src/management/alerts/alert-event.ts";
import type { AlertMessage } from "../../../src/shared/stored/alerts.ts";
import { ALERT, messageOf } from "./alert-fixture.ts";

const PAGES = "https://dashboard.example.com";

const format = (message: AlertMessage) =>
  JSON.stringify(formatAlertEvent({ message, organizationName: "Acme", pagesUrl: PAGES }));

describe("formatAlertEvent", () => {
  it("has the published fields, amounts in whole cents rounded down", () => {
    expect(JSON.parse(format(messageOf()))).toEqual({
      type: "hard_cap.threshold_reached",
      timestamp: "2026-11-20T12:00:00Z",
      data: {
        id: ALERT.id,
        organization_id: ALERT.organizationId,
        scope: "key",
        period: "month",
        window_start: "2026-11-01",
        user_id: null,
        group_id: null,
        owner_name: null,
        key_id: ALERT.keyId,
        key_name: "ci",
        threshold_percent: 90,
        amount_cents: 5000,
        spent_cents: 4507,
        currency: "USD",
        month: "2026-11",
        resets_at: "2026-12-01T00:00:00Z",
        url: `${PAGES}/organizations/${ALERT.organizationId}/keys/${ALERT.keyId}#limits`,
        organization_name: "Acme",
        message:
          'API key "ci" of Acme has spent $45.07 in November 2026: 90% of its monthly hard cap of $50.00 is reached.',
        alerts: [
          {
            id: ALERT.id,
            type: "hard_cap.threshold_reached",
            scope: "key",
            period: "month",
            window_start: "2026-11-01",
            user_id: null,
            group_id: null,
            owner_name: null,
            key_id: ALERT.keyId,
            key_name: "ci",
            threshold_percent: 90,
            amount_cents: 5000,
            spent_cents: 4507,
            resets_at: "2026-12-01T00:00:00Z",
            url: `${PAGES}/organizations/${ALERT.organizationId}/keys/${ALERT.keyId}#limits`,
          },
        ],
      },
    });
  });

  it("says whose user or group it is, and of a total that it never ends", () => {
    const alert = { scope: "user", period: "total", windowStart: null, keyId: null, keyName: null } as const;
    const owner = { ownerId: "user_1", ownerName: "Zoë" };
    expect(JSON.parse(format(messageOf({ ...alert, ...owner })))).toMatchObject({
      data: {
        scope: "user",
        user_id: "user_1",
        group_id: null,
        owner_name: "Zoë",
        window_start: null,
        resets_at: null,
        url: `${PAGES}/organizations/${ALERT.organizationId}/users/user_1#limits`,
        message:
          'User "Zoë" of Acme has spent $45.07 in total: 90% of its total hard cap of $50.00 is reached.',
      },
    });
  });

  it.each([
    { period: "day", windowStart: "2026-11-20", says: "on 2026-11-20: 90% of its daily hard cap" },
    {
      period: "week",
      windowStart: "2026-11-16",
      says: "in the week of 2026-11-16: 90% of its weekly hard cap",
    },
  ] as const)("names the $period in words", ({ period, windowStart, says }) => {
    expect(format(messageOf({ period, windowStart }))).toContain(says);
  });

  it("names no key when the subject is the organization", () => {
    const alert = { kind: "budget", scope: "organization", keyId: null, keyName: null } as const;
    expect(
      JSON.parse(format(messageOf({ ...alert, month: "2026-12", windowStart: "2026-12-01" }))),
    ).toMatchObject({
      type: "budget.threshold_reached",
      data: {
        scope: "organization",
        key_id: null,
        key_name: null,
        resets_at: "2027-01-01T00:00:00Z",
        url: `${PAGES}/organizations/${ALERT.organizationId}/settings#limits`,
      },
    });
  });
});

describe("an event of several alerts", () => {
  it("has the worst of them where one has its own, under the message's id, and all of them in order", () => {
    const message = messageOf(
      { kind: "budget", thresholdPercent: 80 },
      { id: "alert_2", kind: "budget", thresholdPercent: 100 },
      { id: "alert_3", thresholdPercent: 100 },
      { id: "alert_4", scope: "organization", keyId: null, keyName: null, kind: "budget" },
    );
    const event = JSON.parse(format(message)) as { type: string; data: Record<string, unknown> };
    expect(event).toMatchObject({
      type: "hard_cap.threshold_reached",
      data: { id: ALERT.messageId, scope: "key", threshold_percent: 100 },
    });
    expect(event.data["alerts"]).toMatchObject([
      { id: ALERT.id, type: "budget.threshold_reached", threshold_percent: 80 },
      { id: "alert_2", threshold_percent: 100 },
      { id: "alert_3", type: "hard_cap.threshold_reached" },
      { id: "alert_4", scope: "organization", url: expect.stringContaining("/settings#limits") },
    ]);
  });

  it("is the organization's where both have reached their cap", () => {
    const organization = { scope: "organization", keyId: null, keyName: null } as const;
    const message = messageOf({ thresholdPercent: 100 }, { ...organization, thresholdPercent: 100 });
    expect(JSON.parse(format(message))).toMatchObject({ data: { scope: "organization" } });
  });
});

const TEST = {
  id: "alert_1",
  organizationId: "org_1",
  organizationName: "Acme",
  nowMs: ALERT.firedAtMs,
};

describe("formatTestEvent", () => {
  it("is no alert", () => {
    expect(formatTestEvent(TEST)).toEqual({
      type: "webhook.test",
      timestamp: "2026-11-20T12:00:00Z",
      data: { id: "alert_1", organization_id: "org_1" },
    });
  });
});
