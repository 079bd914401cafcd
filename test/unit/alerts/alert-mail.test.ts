import { describe, expect, it } from "vitest";
import { createAlertMail } from "../../../src/management/alerts/alert-mail.ts";
import type { AlertRecord } from "../../../src/shared/stored/alerts.ts";
import { ALERT, messageOf } from "./alert-fixture.ts";

const KEY = { spentMicrocents: 6_000_000_000n } as const;
const OWN = { scope: "organization", keyId: null, keyName: null } as const;
/** One charge past everything of a key, and past the first threshold of its organization. */
const MANY = messageOf(
  { ...KEY, kind: "budget", amountCents: 4000, thresholdPercent: 80 },
  { ...KEY, kind: "budget", amountCents: 4000, thresholdPercent: 100 },
  { ...KEY, thresholdPercent: 90 },
  { ...KEY, thresholdPercent: 100 },
  { ...OWN, kind: "budget", amountCents: 25_000, thresholdPercent: 80, spentMicrocents: 20_000_000_000n },
);

const create = (changes: Partial<AlertRecord> = {}, organizationName = "Acme") =>
  createAlertMail({
    message: messageOf(changes),
    organizationName,
    pagesUrl: "https://gateway.example.com",
  });

describe("the mail of an alert", () => {
  it("says what was reached, what it means and where it is changed", async () => {
    const mail = await create();
    expect(mail.subject).toBe('[Acme] 90% of the November 2026 hard cap of API key "ci" is spent');
    expect(mail.text).toBe(
      'API key "ci" of Acme has spent $45.07 in November 2026: 90% of its monthly hard cap of $50.00 is reached.\n\n' +
        "At 100%, requests of this key that cost money will return 402 until the cap resets on " +
        "2026-12-01 00:00 UTC. Raise the cap of $50.00 to prevent this.\n\n" +
        `Change the key's monthly hard cap:\nhttps://gateway.example.com/organizations/${ALERT.organizationId}/keys/${ALERT.keyId}#limits\n\n` +
        "-- \nYou receive this email because the notification settings of Acme contain your address. Remove it there: " +
        `https://gateway.example.com/organizations/${ALERT.organizationId}/settings\nAlert ${ALERT.id}.\n`,
    );
  });

  it.each([
    {
      name: "a key's cap that is reached",
      changes: { thresholdPercent: 100, spentMicrocents: 5_013_000_000n },
      subject: '[Acme] Hard cap reached: API key "ci" has spent $50.13 in November 2026',
      says: "Requests of this key that cost money return 402 until the cap resets on 2026-12-01 00:00 UTC",
    },
    {
      name: "a key's budget",
      changes: { kind: "budget", thresholdPercent: 80 },
      subject: '[Acme] 80% of the November 2026 budget of API key "ci" is spent',
      says: "Budgets don't block requests; a hard cap would.",
    },
    {
      name: "an organization's cap",
      changes: { scope: "organization", keyId: null, keyName: null, thresholdPercent: 100 },
      subject: "[Acme] Hard cap reached: the organization has spent $45.07 in November 2026",
      says: "Requests of all keys of the organization that cost money return 402",
    },
  ] as const)("tells $name", async ({ changes, subject, says }) => {
    const mail = await create(changes);
    expect(mail.subject).toBe(subject);
    expect(mail.text).toContain(says);
    expect(mail.html).toContain(says.replaceAll('"', "&quot;").replaceAll("'", "&#39;"));
  });

  it("names all that was reached in one step, what is worst in its subject, and each page", async () => {
    const mail = await createAlertMail({
      message: MANY,
      organizationName: "Acme",
      pagesUrl: "https://gateway.example.com",
    });
    const page = `https://gateway.example.com/organizations/${ALERT.organizationId}`;
    expect(mail.subject).toBe('[Acme] Hard cap reached: API key "ci" has spent $60.00 in November 2026');
    expect(mail.text.split("\n\n")).toEqual([
      'API key "ci" of Acme has spent $60.00 in November 2026: 80% and 100% of its monthly budget of $40.00, 90% and 100% of its monthly hard cap of $50.00 are reached.',
      "The organization Acme has spent $200.00 in November 2026: 80% of its monthly budget of $250.00 is reached.",
      "Requests of this key that cost money return 402 until the cap resets on 2026-12-01 00:00 UTC. To continue before, raise the cap of $50.00.",
      `Change the key's monthly hard cap:\n${page}/keys/${ALERT.keyId}#limits`,
      `Change the key's monthly budget:\n${page}/keys/${ALERT.keyId}#limits`,
      `Change the organization's monthly budget:\n${page}/settings#limits`,
      expect.stringContaining("notification settings of Acme contain your address"),
    ]);
    const links = [...mail.html.matchAll(/href="([^"]+)"/g)].map(([, url]) => url);
    expect(links).toHaveLength(3);
    for (const url of links) expect(mail.text).toContain(url);
  });

  it.each([
    ["USD", "$90,000,000.00"],
    ["EUR", "€90,000,000.00"],
    ["GBP", "£90,000,000.00"],
    ["CHF", "CHF 90,000,000.00"],
    ["HUF", "HUF 90,000,000.00"],
    ["CAD", "CA$90,000,000.00"],
  ])("writes amounts of %s as %s", async (currency, expected) => {
    const { text } = await create({ currency, amountCents: 9_000_000_000 });
    expect(text.replaceAll("\u00A0", " ")).toContain(`hard cap of ${expected} is reached`);
  });

  it("has no line that a name brings along, and no markup", async () => {
    const keyName = 'x\r\nBcc: evil@example.com\u2028<img src=x onerror="a()">\u202Eabc';
    const mail = await create({ keyName }, "<b>Acme</b>\nX: y");
    expect(mail.subject).not.toMatch(/[\r\n\u2028\u202E]/);
    expect(mail.text).not.toMatch(/^Bcc:/m);
    expect(mail.html).not.toContain("<img");
    expect(mail.html).not.toContain("<b>");
    expect(mail.html).toContain("&lt;img src=x onerror=&quot;a()&quot;&gt;");
  });
});
