import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { slackMessage } from "../support/webhook-format-schemas.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { type AdminUnderTest, createOrganization, startAdmin } from "./admin-fixture.ts";

const ROUTING_KEY = "0123456789abcdef0123456789abcdef";
const SLACK_URL = "https://hooks.slack.com/services/T000/B000/s3cretXYZ";
const ALL = [
  "budget_near",
  "budget_reached",
  "hard_cap_near",
  "hard_cap_reached",
  "forecast",
  "sudden_spend",
];

let admin: AdminUnderTest;
let receiver: WebhookReceiver;
beforeAll(async () => {
  admin = await startAdmin({ allowPrivateWebhooks: true });
  receiver = await startWebhookReceiver();
});
afterEach(() => {
  receiver.received.length = 0;
});
afterAll(async () => {
  await receiver.close();
  await admin.stop();
});

interface Shown {
  readonly id: string;
  readonly url: string;
  readonly secret?: string;
  readonly [field: string]: unknown;
}

async function createPath(): Promise<string> {
  return `/api/organizations/${await createOrganization(admin)}`;
}

async function set(path: string, webhooks: readonly object[]): Promise<Shown[]> {
  const changed = await admin.ok("PATCH", path, { body: { notifications: { webhooks } } });
  return (changed["notifications"] as { webhooks: Shown[] }).webhooks;
}

async function read(path: string): Promise<Shown[]> {
  return ((await admin.ok("GET", path))["notifications"] as { webhooks: Shown[] }).webhooks;
}

interface AuditedWebhooks {
  readonly notifications: { readonly webhooks: readonly { url: string; fingerprint: string }[] };
}

describe("notifications.webhooks", () => {
  it("are made with ids, all alerts where none were chosen, and a secret that is shown once", async () => {
    const path = await createPath();
    const made = await set(path, [
      { url: receiver.url },
      { format: "slack", url: SLACK_URL, alerts: ["hard_cap_reached", "hard_cap_near"] },
      { format: "pagerduty", routing_key: ROUTING_KEY },
    ]);
    expect(made).toEqual([
      {
        id: expect.stringMatching(/^webhook_/),
        format: "standard",
        url: receiver.url,
        routing_key: null,
        alerts: ALL,
        disabled_at: null,
        secret: expect.stringMatching(/^whsec_/),
      },
      {
        id: expect.stringMatching(/^webhook_/),
        format: "slack",
        url: "https://hooks.slack.com/…tXYZ",
        routing_key: null,
        alerts: ["hard_cap_near", "hard_cap_reached"],
        disabled_at: null,
      },
      {
        id: expect.stringMatching(/^webhook_/),
        format: "pagerduty",
        url: "https://events.pagerduty.com/v2/enqueue",
        routing_key: "…cdef",
        alerts: ALL,
        disabled_at: null,
      },
    ]);
    const { secret: _secret, ...first } = made[0]!;
    expect(await read(path)).toEqual([first, ...made.slice(1)]);
  });

  it("are given whole: what is named by its id stays or changes, what is left out is gone", async () => {
    const path = await createPath();
    const [standard, slack, pager] = await set(path, [
      { url: receiver.url },
      { format: "slack", url: SLACK_URL },
      { format: "pagerduty", routing_key: ROUTING_KEY },
    ]);
    const changed = await set(path, [{ id: standard!.id }, { id: slack!.id, alerts: ["budget_near"] }]);
    const { secret: _secret, ...first } = standard!;
    expect(changed).toEqual([first, { ...slack, alerts: ["budget_near"] }]);
    expect(changed.map(({ id }) => id)).not.toContain(pager!.id);
    const id = path.slice("/api/organizations/".length);
    const record = await admin.store.getOrganization(id);
    expect(record?.notifications.webhooks[0]?.secrets).toMatchObject([{ secret: standard!.secret }]);
    expect(record?.notifications.webhooks[1]?.url).toBe(SLACK_URL);
    // Other settings leave them alone.
    await admin.ok("PATCH", path, { body: { notifications: { dashboard: false } } });
    expect(await read(path)).toEqual(changed);
  });

  it("are nowhere to be read whole: answers, audit log and log lines", async () => {
    const path = await createPath();
    await set(path, [
      { format: "slack", url: SLACK_URL },
      { format: "pagerduty", routing_key: ROUTING_KEY },
    ]);
    await set(path, []);
    const bad = { notifications: { webhooks: [{ format: "pagerduty", routing_key: `${ROUTING_KEY}!` }] } };
    const refusal = await admin.refused("PATCH", path, { body: bad });
    const audit = await admin.ok("GET", `${path}/audit`);
    const told = JSON.stringify([audit, refusal, admin.logs]);
    expect(told).toContain("https://hooks.slack.com/…tXYZ");
    expect(told).not.toContain("s3cret");
    expect(told).not.toContain(ROUTING_KEY);
    expect(told).not.toContain("whsec_");
  });

  it("leave a trace in the audit log where what is hidden of them alone was changed", async () => {
    const path = await createPath();
    const [slack] = await set(path, [{ format: "slack", url: SLACK_URL }]);
    const other = SLACK_URL.replace("T000", "T666");
    const [changed] = await set(path, [{ id: slack!.id, url: other }]);
    expect(changed).toEqual(slack);
    const audit = await admin.ok("GET", `${path}/audit`);
    const [entry] = audit["data"] as { before: AuditedWebhooks; after: AuditedWebhooks }[];
    const [before, after] = [entry!.before, entry!.after].map(
      ({ notifications }) => notifications.webhooks[0],
    );
    expect(before!.url).toBe(after!.url);
    expect(before!.fingerprint).toMatch(/^[0-9a-f]{32}$/);
    expect(after!.fingerprint).not.toBe(before!.fingerprint);
    expect(JSON.stringify(audit)).not.toMatch(/T000|T666/);
  });

  it("take no routing key along to another address", async () => {
    const path = await createPath();
    const [pager] = await set(path, [{ format: "pagerduty", routing_key: ROUTING_KEY }]);
    const elsewhere = { id: pager!.id, url: receiver.url };
    const body = { notifications: { webhooks: [elsewhere] } };
    expect(await admin.refused("PATCH", path, { body })).toMatchObject({
      status: 400,
      param: "notifications.webhooks.0.routing_key",
    });
    const key = "f".repeat(32);
    const [moved] = await set(path, [{ ...elsewhere, routing_key: key }]);
    await admin.ok("POST", `${path}/webhooks/${moved!.id}/test`);
    const sent = JSON.stringify(receiver.received);
    expect(sent).toContain(key);
    expect(sent).not.toContain(ROUTING_KEY);
    // The same address again is none.
    expect(await set(path, [{ id: pager!.id, url: receiver.url, alerts: ["budget_near"] }])).toMatchObject([
      { routing_key: "…ffff" },
    ]);
  });

  it.each([
    { name: "without a URL", webhook: { format: "teams" }, field: "url" },
    { name: "without a routing key", webhook: { format: "pagerduty" }, field: "routing_key" },
    {
      name: "with a routing key of Slack",
      webhook: { format: "slack", url: SLACK_URL, routing_key: ROUTING_KEY },
      field: "routing_key",
    },
    { name: "of a format that there is not", webhook: { format: "irc", url: SLACK_URL }, field: "format" },
    { name: "of no alert", webhook: { url: SLACK_URL, alerts: [] }, field: "alerts" },
    {
      name: "of an alert that there is not",
      webhook: { url: SLACK_URL, alerts: ["budget_50"] },
      field: "alerts.0",
    },
    { name: "under an id that there is not", webhook: { id: "webhook_x", url: SLACK_URL }, field: "id" },
    { name: "with a password in its URL", webhook: { url: "https://a:b@example.com" }, field: "url" },
  ])("are refused $name", async ({ webhook, field }) => {
    const path = await createPath();
    const body = { notifications: { webhooks: [webhook] } };
    expect(await admin.refused("PATCH", path, { body })).toMatchObject({
      status: 400,
      param: `notifications.webhooks.0.${field}`,
    });
  });

  it("keep their format, and the first webhook is beside them", async () => {
    const path = await createPath();
    await admin.ok("PATCH", path, { body: { notifications: { webhook: { url: receiver.url } } } });
    const [slack] = await set(path, [{ format: "slack", url: SLACK_URL }]);
    const body = { notifications: { webhooks: [{ id: slack!.id, format: "teams" }] } };
    expect(await admin.refused("PATCH", path, { body })).toMatchObject({ status: 400 });
    expect(await admin.ok("GET", path)).toMatchObject({ notifications: { webhook: { url: receiver.url } } });
  });

  it("need https where private networks are not allowed", async () => {
    const strict = await startAdmin();
    try {
      const path = `/api/organizations/${await createOrganization(strict)}`;
      const body = { notifications: { webhooks: [{ format: "slack", url: receiver.url }] } };
      expect(await strict.refused("PATCH", path, { body })).toMatchObject({
        status: 400,
        param: "notifications.webhooks.0.url",
      });
      const [one] = (
        (
          await strict.ok("PATCH", path, {
            body: {
              notifications: { webhooks: [{ format: "slack", url: `https://127.0.0.1:${receiver.port}/` }] },
            },
          })
        )["notifications"] as { webhooks: Shown[] }
      ).webhooks;
      expect(await strict.ok("POST", `${path}/webhooks/${one!.id}/test`)).toMatchObject({
        delivered: false,
        error: "the host's address isn't public",
      });
    } finally {
      await strict.stop();
    }
  });
});

describe("POST …/webhooks/{webhook}/test", () => {
  it("sends one in the webhook's format and says what came of it", async () => {
    const path = await createPath();
    const [slack, standard] = await set(path, [
      { format: "slack", url: receiver.url },
      { url: `${receiver.url}/signed` },
    ]);
    expect(await admin.ok("POST", `${path}/webhooks/${slack!.id}/test`)).toMatchObject({ delivered: true });
    await admin.ok("POST", `${path}/webhooks/${standard!.id}/test`);
    const [first, second] = receiver.received;
    expect(slackMessage.parse(JSON.parse(first!.body)).text).toContain("No limit was reached");
    const headers = second!.headers as Record<string, string>;
    expect(new Webhook(standard!.secret!).verify(second!.body, headers)).toMatchObject({
      type: "webhook.test",
    });
    expect(await admin.refused("POST", `${path}/webhooks/webhook_x/test`)).toMatchObject({
      status: 404,
      code: "webhook_not_found",
    });
  });
});

describe("many tests of webhooks", () => {
  it("are ten a minute for an organization, whichever webhook", async () => {
    const path = await createPath();
    const [one, other] = await set(path, [{ url: receiver.url }, { url: `${receiver.url}/other` }]);
    for (let test = 0; test < 10; test += 1) {
      await admin.ok("POST", `${path}/webhooks/${(test % 2 === 0 ? one : other)!.id}/test`);
    }
    expect(await admin.refused("POST", `${path}/webhooks/${one!.id}/test`)).toMatchObject({
      status: 429,
      code: "too_many_webhook_tests",
    });
    expect(receiver.received).toHaveLength(10);
    const elsewhere = await createPath();
    const [own] = await set(elsewhere, [{ url: receiver.url }]);
    await admin.ok("POST", `${elsewhere}/webhooks/${own!.id}/test`);
  });
});

describe("POST …/webhooks/{webhook}/rotate-secret", () => {
  it("makes a new secret of one in the standard format, and of no other", async () => {
    const path = await createPath();
    const [slack, standard] = await set(path, [{ format: "slack", url: SLACK_URL }, { url: receiver.url }]);
    const rotated = await admin.ok("POST", `${path}/webhooks/${standard!.id}/rotate-secret`);
    await admin.ok("POST", `${path}/webhooks/${standard!.id}/test`);
    const [request] = receiver.received;
    const headers = request!.headers as Record<string, string>;
    for (const secret of [rotated["secret"], standard!.secret]) {
      expect(new Webhook(String(secret)).verify(request!.body, headers)).toBeTruthy();
    }
    expect(await admin.refused("POST", `${path}/webhooks/${slack!.id}/rotate-secret`)).toMatchObject({
      status: 400,
    });
  });
});
