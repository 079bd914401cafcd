/** Several webhooks of one organization: each has its own way, format and choice. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { FurtherWebhook } from "../../src/shared/settings/webhooks.ts";
import { WEBHOOK_ALERTS } from "../../src/shared/settings/webhooks.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { createTestKey, type TestKey, withTestStore } from "../store/fixture.ts";
import { waitFor } from "../support/wait.ts";
import { pagerDutyEvent, slackMessage, teamsMessage } from "../support/webhook-format-schemas.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { CENT, createHookedKey, spend, trackDeliveries, waitForStates } from "./delivery-fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const ROUTING_KEY = "0123456789abcdef0123456789abcdef";
const test = withTestStore();
let first: WebhookReceiver;
let further: WebhookReceiver;
const { start } = trackDeliveries(
  () => test,
  () => first,
);
beforeAll(async () => {
  first = await startWebhookReceiver();
  further = await startWebhookReceiver();
});
afterAll(async () => {
  await first.close();
  await further.close();
});

async function createWebhook(
  changes: Partial<FurtherWebhook>,
): Promise<FurtherWebhook & { id: `webhook_${string}` }> {
  const id = createId("webhook", await test.store.timeMs()) as `webhook_${string}`;
  const base = {
    format: "slack",
    url: further.url,
    routingKey: null,
    secrets: [],
    alerts: WEBHOOK_ALERTS,
  } as const;
  return { ...base, ...changes, id };
}

async function setWebhooks({ organizationId }: TestKey, webhooks: readonly FurtherWebhook[]): Promise<void> {
  const organization = await test.store.getOrganization(organizationId);
  const notifications = { ...organization!.notifications, webhooks };
  await test.store.changeOrganization(organizationId, { notifications }, null);
}

/** What came to the further ones, by path. */
function receivedAt(path: string): unknown[] {
  return further.received.filter((one) => one.path === path).map(({ event }) => event as unknown);
}

function restart(): void {
  further.received.length = 0;
  further.answer = null;
  start();
}

describe("several webhooks", () => {
  it("each get what they have chosen, in their format, and the outbox empties when all are done", async () => {
    restart();
    const key = await createHookedKey(test, first.url, {
      name: "ci",
      limits: monthLimits({ cap: 100, budget: 100 }),
    });
    const origin = new URL(further.url).origin;
    const all = [
      await createWebhook({ url: `${origin}/slack`, alerts: ["hard_cap_near", "hard_cap_reached"] }),
      await createWebhook({ format: "teams", url: `${origin}/teams` }),
      await createWebhook({
        format: "pagerduty",
        url: `${origin}/pagerduty`,
        routingKey: ROUTING_KEY,
        alerts: ["hard_cap_reached"],
      }),
    ] as const;
    await setWebhooks(key, all);
    await spend(test, key, 85n * CENT);
    await waitForStates(test, key, all[1].id, ["delivered"]);
    await waitForStates(test, key, all[0].id, ["off"]);
    await waitForStates(test, key, all[2].id, ["off"]);
    await spend(test, key, 15n * CENT);
    for (const { id } of [all[1], { id: "webhook" as const }]) {
      await waitForStates(test, key, id, ["delivered", "delivered", "delivered", "delivered"]);
    }
    for (const { id } of [all[0], all[2]]) {
      await waitForStates(test, key, id, ["off", "delivered", "delivered", "delivered"]);
    }
    const [toSlack, ...more] = receivedAt("/slack");
    expect(more).toEqual([]);
    const said = JSON.stringify(slackMessage.parse(toSlack));
    expect(said).toContain("90% and 100% of its monthly hard cap of $1.00 are reached.");
    expect(said).not.toContain("of its monthly budget");
    expect(receivedAt("/teams").map((body) => teamsMessage.parse(body))).toHaveLength(2);
    expect(receivedAt("/pagerduty").map((body) => pagerDutyEvent.parse(body))).toMatchObject([
      { routing_key: ROUTING_KEY, payload: { severity: "critical", class: "hard_cap" } },
    ]);
    // Nobody but us knows how it is signed.
    expect(further.received.some(({ headers }) => "webhook-signature" in headers)).toBe(false);
    await waitFor(
      "the outbox to be empty but for its last entry",
      async () => (await test.client.xlen(`igw:{${key.organizationId}}:outbox`)) === 1,
    );
  });

  it("do not wait for one another, and one that answers 410 is disabled alone", async () => {
    restart();
    further.answer = ({ path }) => (path === "/gone" ? 410 : () => undefined);
    const key = await createHookedKey(test, first.url, { limits: monthLimits({ budget: 10 }) });
    const origin = new URL(further.url).origin;
    const silent = await createWebhook({ url: `${origin}/silent` });
    const gone = await createWebhook({ url: `${origin}/gone` });
    await setWebhooks(key, [silent, gone]);
    await spend(test, key, 8n * CENT);
    await spend(test, key, 2n * CENT);
    await waitForStates(test, key, "webhook", ["delivered", "delivered"]);
    await waitForStates(test, key, gone.id, ["failed", "failed"]);
    await waitForStates(test, key, silent.id, ["pending", "pending"]);
    const { notifications } = (await test.store.getOrganization(key.organizationId))!;
    expect(notifications.webhooks.map(({ disabledAtMs = null }) => disabledAtMs)).toEqual([
      null,
      expect.any(Number),
    ]);
    expect(notifications.webhook?.disabledAtMs).toBeUndefined();
    // What the silent one is owed stays.
    expect(await test.client.xlen(`igw:{${key.organizationId}}:outbox`)).toBe(2);
    await setWebhooks(key, [gone]);
    // Its courier goes with it, once an attempt that is under way has ended.
    expect(await test.client.pttl(`igw:{${key.organizationId}}:courier:${silent.id}`)).toBeGreaterThan(0);
  });

  it("hear nothing of what fired before they were set up, but what is sent again", async () => {
    restart();
    const key = await createTestKey(test.store, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await waitForStates(test, key, "email", ["off"]);
    await waitFor("a later time", async () => {
      const [alert] = (await test.store.listAlerts(key.organizationId, { limit: 1, after: null })).items;
      return (await test.store.timeMs()) > alert!.firedAtMs + 1;
    });
    const late = await createWebhook({});
    await setWebhooks(key, [late]);
    await spend(test, key, 2n * CENT);
    await waitForStates(test, key, late.id, ["off", "delivered"]);
    expect(further.received).toHaveLength(1);
    const { items } = await test.store.listAlerts(key.organizationId, { limit: 2, after: null });
    await test.store.redeliverAlert(items[1]!, [late.id]);
    await waitForStates(test, key, late.id, ["delivered", "delivered"]);
    expect(slackMessage.parse(receivedAt("/hook")[1]).text).toContain("80%");
  });
});
