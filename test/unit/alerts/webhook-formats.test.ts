import { describe, expect, it } from "vitest";
import { FORMATS } from "../../../src/management/alerts/webhook-formats.ts";
import { pagerDutyEvent, slackMessage, teamsMessage } from "../../support/webhook-format-schemas.ts";
import { ALERT, messageOf } from "./alert-fixture.ts";

const ROUTING_KEY = "0123456789abcdef0123456789abcdef";
const PAGES = "https://dashboard.example.com";
const OWN = { scope: "organization", keyId: null, keyName: null } as const;

const SCHEMAS = { slack: slackMessage, teams: teamsMessage, pagerduty: pagerDutyEvent } as const;
type Format = keyof typeof SCHEMAS;
const FORMAT_NAMES = Object.keys(SCHEMAS) as Format[];

const MESSAGES = [
  { name: "one alert", message: messageOf() },
  {
    name: "everything that one step can reach",
    message: messageOf(
      ...[{}, OWN].flatMap((subject) => [
        { ...subject, kind: "budget", thresholdPercent: 80 } as const,
        { ...subject, kind: "budget", thresholdPercent: 100 } as const,
        { ...subject, thresholdPercent: 90 },
        { ...subject, thresholdPercent: 100 },
      ]),
    ),
  },
  { name: "a key whose name is as long as it may be", message: messageOf({ keyName: "&".repeat(100) }) },
  { name: "a name of surrogate pairs", message: messageOf({ keyName: "😀".repeat(100) }) },
];

const format = (name: Format, message = messageOf(), organizationName = "Acme") =>
  FORMATS[name].formatAlerts({ message, organizationName, pagesUrl: PAGES }, { routingKey: ROUTING_KEY });

describe.each(FORMAT_NAMES)("the format %s", (name) => {
  it.each(MESSAGES)("of $name is what its receiver publishes", ({ message }) => {
    for (const organization of ["Acme", "O".repeat(100), "😀".repeat(100)]) {
      const body = JSON.parse(JSON.stringify(format(name, message, organization))) as unknown;
      expect(SCHEMAS[name].parse(body)).toEqual(body);
    }
  });

  it("of a test is what its receiver publishes, and says that nothing was reached", () => {
    const input = { id: ALERT.id, organizationId: "org_1", organizationName: "Acme", nowMs: 0 };
    const body = FORMATS[name].formatTest(input, { routingKey: ROUTING_KEY });
    expect(SCHEMAS[name].parse(body)).toEqual(body);
    expect(JSON.stringify(body)).toContain("Test alert of Acme. No limit was reached.");
  });

  it("names the organization, what was reached, and the page where it is changed", () => {
    const text = JSON.stringify(format(name));
    expect(text).toContain("Acme");
    expect(text).toContain("$45.07");
    expect(text).toContain(`${PAGES}/organizations/${ALERT.organizationId}/keys/${ALERT.keyId}#limits`);
  });
});

describe("names of people's own", () => {
  const keyName = "<!channel> <https://evil.example|x> *b* [l](https://evil.example) & co";

  it("mention nobody, link nowhere and format nothing in Slack", () => {
    const text = JSON.stringify(slackMessage.parse(format("slack", messageOf({ keyName }))).blocks[1]);
    expect(text).toContain("&lt;!channel&gt; &lt;https://evil.example|x&gt; *\u200Bb*\u200B");
    expect(text).not.toMatch(/<[!@#h]/);
  });

  it("are nothing but text in Teams", () => {
    const [attachment] = teamsMessage.parse(format("teams", messageOf({ keyName }))).attachments;
    expect(attachment!.content.body[1]!.text).toContain("\\[l\\]\\(https://evil.example\\)");
  });
});

describe("PagerDuty", () => {
  it.each([
    { name: "a reached cap", change: { thresholdPercent: 100 }, severity: "critical" },
    { name: "a cap that is nearly reached", change: {}, severity: "error" },
    { name: "a budget", change: { kind: "budget", thresholdPercent: 100 }, severity: "warning" },
  ] as const)("is told of $name as $severity, once however often it is sent", ({ change, severity }) => {
    const event = pagerDutyEvent.parse(format("pagerduty", messageOf(change)));
    expect(event).toMatchObject({
      routing_key: ROUTING_KEY,
      event_action: "trigger",
      dedup_key: ALERT.messageId,
      payload: { severity },
    });
  });

  it("opens nothing for a test", () => {
    const input = { id: ALERT.id, organizationId: "org_1", organizationName: "Acme", nowMs: 0 };
    expect(FORMATS.pagerduty.formatTest(input, { routingKey: ROUTING_KEY })).toMatchObject({
      event_action: "resolve",
    });
  });
});
