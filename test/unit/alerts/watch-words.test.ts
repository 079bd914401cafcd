import { describe, expect, it } from "vitest";
import { formatAlertEvent } from "../../../src/management/alerts/alert-event.ts";
import { createAlertMail } from "../../../src/management/alerts/alert-mail.ts";
import { pathOf } from "../../../src/management/alerts/alert-words.ts";
import { FORMATS } from "../../../src/management/alerts/webhook-formats.ts";
import { alertNameOf } from "../../../src/management/alerts/webhooks.ts";
import type { AlertRecord } from "../../../src/shared/stored/alerts.ts";
import { ALERT, messageOf } from "./alert-fixture.ts";

const PAGES = "https://gateway.example.com";
const OWN = { scope: "organization", keyId: null, keyName: null } as const;
const BASE = `/organizations/${ALERT.organizationId}`;

const CASES: readonly {
  readonly name: string;
  readonly changes: Partial<AlertRecord>;
  readonly subject: string;
  readonly says: string;
  readonly path: string;
  readonly type: string;
  readonly chosenBy: string | null;
}[] = [
  {
    name: "a forecast above a key's cap",
    changes: { kind: "hard_cap_forecast", thresholdPercent: 120 },
    subject: '[Acme] Forecast: 120% of the monthly hard cap of API key "ci"',
    says: 'API key "ci" will spend 120% of its monthly hard cap of $50.00 in November 2026 at the pace of the last seven days. It has spent $45.07.\n\nWhen the cap is reached, requests that cost money return 402.',
    path: `${BASE}/keys/${ALERT.keyId}#limits`,
    type: "hard_cap.forecast_exceeded",
    chosenBy: "forecast",
  },
  {
    name: "a forecast above the organization's budget",
    changes: { ...OWN, kind: "budget_forecast", thresholdPercent: 101 },
    subject: "[Acme] Forecast: 101% of the monthly budget of the organization",
    says: "The organization will spend 101% of its monthly budget of $50.00",
    path: `${BASE}/settings#limits`,
    type: "budget.forecast_exceeded",
    chosenBy: "forecast",
  },
  {
    name: "sudden spend of a key",
    changes: { kind: "sudden_spend", period: "day", windowStart: "2026-11-20", thresholdPercent: 300 },
    subject: '[Acme] Sudden spend: 300% of a usual day by API key "ci"',
    says: 'API key "ci" has spent $45.07 on 2026-11-20: 300% of a usual day, $50.00.',
    path: `${BASE}/keys/${ALERT.keyId}`,
    type: "spend.sudden",
    chosenBy: "sudden_spend",
  },
  {
    name: "a summary",
    changes: { ...OWN, kind: "summary", period: "week", windowStart: "2026-11-16" },
    subject: "[Acme] Spend in the week of 2026-11-16: $45.07",
    says: "The organization has spent $45.07 in the week of 2026-11-16, $50.00 the week before.",
    path: `${BASE}/usage?from=2026-11-16&to=2026-11-22`,
    type: "spend.summary",
    chosenBy: null,
  },
];

describe.each(CASES)("$name", ({ changes, subject, says, path, type, chosenBy }) => {
  const message = messageOf(changes);

  it("is a mail with its link", async () => {
    const mail = await createAlertMail({
      message,
      organizationName: "Acme",
      pagesUrl: PAGES,
      details: ["More."],
    });
    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain(says);
    expect(mail.text).toContain("\n\nMore.\n\n");
    expect(mail.text).toContain(`:\n${PAGES}${path}\n`);
  });

  it("has a type, a path and a name that webhooks choose", () => {
    expect(pathOf(message.alerts[0])).toBe(path);
    expect(alertNameOf(message.alerts[0])).toBe(chosenBy);
    const event = formatAlertEvent({ message, organizationName: "Acme", pagesUrl: PAGES });
    expect(event).toMatchObject({ type, data: { url: `${PAGES}${path}` } });
  });

  it("is a warning to PagerDuty", () => {
    const input = { message, organizationName: "Acme", pagesUrl: PAGES };
    const body = FORMATS.pagerduty.formatAlerts(input, { routingKey: "k" });
    expect(body).toMatchObject({ payload: { severity: "warning", summary: subject } });
  });
});
