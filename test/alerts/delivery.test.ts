import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMailer } from "../../src/management/alerts/mailer.ts";
import { addTestKey, withTestStore } from "../store/fixture.ts";
import { startMailServer } from "../support/mail-server.ts";
import { waitFor } from "../support/wait.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import {
  CENT,
  createHookedKey,
  FAST,
  listStates,
  spend,
  trackDeliveries,
  waitForStates,
} from "./delivery-fixture.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();
let receiver: WebhookReceiver;
const { running, start, events } = trackDeliveries(
  () => test,
  () => receiver,
);
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(async () => {
  await receiver.close();
});

const never = { close: () => undefined };

describe("delivery", () => {
  it.each([
    { name: "", dashboard: true },
    { name: ", with the dashboard's channel off too", dashboard: false },
  ])(
    "takes alerts to webhook and mail as they fire, in order, and empties the outbox$name",
    async ({ dashboard }) => {
      const mailServer = await startMailServer();
      const smtp = { url: mailServer.url, from: "gateway@example.org", username: null, password: null };
      const delivery = start({ mailer: createMailer(smtp) });
      const key = await createHookedKey(
        test,
        receiver.url,
        { limits: monthLimits({ cap: 100, budget: 100 }) },
        { emails: ["a@example.com"], dashboard },
      );
      await spend(test, key, 85n * CENT);
      await waitForStates(test, key, "webhook", ["delivered"]);
      await waitForStates(test, key, "email", ["delivered"]);
      await spend(test, key, 15n * CENT);
      const all = ["delivered", "delivered", "delivered", "delivered"] as const;
      await waitForStates(test, key, "webhook", all);
      await waitForStates(test, key, "email", all);
      // What the second charge has reached is one message, by what is worst.
      expect(events()).toEqual(["budget 80", "hard_cap 100"]);
      expect(receiver.received[1]?.event.data["alerts"]).toMatchObject([
        { type: "budget.threshold_reached", threshold_percent: 100 },
        { type: "hard_cap.threshold_reached", threshold_percent: 90 },
        { type: "hard_cap.threshold_reached", threshold_percent: 100 },
      ]);
      expect(mailServer.received.map(({ mail }) => mail.subject)).toEqual([
        expect.stringContaining("80% of the"),
        expect.stringContaining("Hard cap reached"),
      ]);
      expect(mailServer.received[1]?.mail.text).toContain(
        "100% of its monthly budget of $1.00, 90% and 100% of its monthly hard cap of $1.00 are reached.",
      );
      expect(await test.client.xlen(`igw:{${key.organizationId}}:outbox`)).toBe(1);
      expect(delivery.readMetrics()).toMatchObject({
        fired: test.store.firedAlerts(),
        channels: {
          webhook: { delivered: 2, failed: 0, failedAttempts: 0 },
          email: { delivered: 2, failed: 0, failedAttempts: 0 },
        },
      });
      // First: it keeps a connection to the mail server.
      await running.pop()?.stop();
      await mailServer.close();
    },
  );

  it("shows channels that were not chosen as off, and sends nothing", async () => {
    start();
    const key = await createHookedKey(
      test,
      receiver.url,
      { limits: monthLimits({ budget: 1 }) },
      { notifications: { ...NO_WATCH, dashboard: true, emails: [], webhook: null, webhooks: [] } },
    );
    await spend(test, key, CENT);
    await waitForStates(test, key, "webhook", ["off", "off"]);
    await waitForStates(test, key, "email", ["off", "off"]);
    expect(receiver.received).toEqual([]);
  });

  it("tries again until the receiver takes it, keeps the order meanwhile, and signs each attempt anew", async () => {
    start();
    receiver.answer = (_request, index) => (index < 3 ? 500 : 204);
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await spend(test, key, 2n * CENT);
    const [first] = await waitForStates(test, key, "webhook", ["delivered", "delivered"]);
    expect(events()).toEqual(["budget 80", "budget 80", "budget 80", "budget 80", "budget 100"]);
    expect(first).toMatchObject({ attempts: 4, lastError: null, nextAttemptAtMs: null });
    const bodies = receiver.received
      .slice(0, 4)
      .map(({ body, headers }) => `${String(headers["webhook-id"])} ${body}`);
    expect(new Set(bodies).size).toBe(1);
  });

  it("shows why an attempt failed and when the next one is due, and waits as long as the receiver asks", async () => {
    start();
    receiver.answer = () => (response) => response.writeHead(429, { "retry-after": "30" }).end();
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    const state = await waitFor("the first attempt to be shown", async () => {
      const [shown] = await listStates(test, key, "webhook");
      return shown?.attempts === 1 && shown;
    });
    expect(state).toMatchObject({ state: "pending", lastError: "the endpoint returned 429" });
    expect(state.nextAttemptAtMs! - state.lastAttemptAtMs!).toBe(30_000);
    const owed = await test.store.listOutstandingDeliveries(key.organizationId);
    expect(owed).toMatchObject([{ channel: "webhook", waitMs: expect.any(Number) }]);
    expect(owed[0]!.waitMs).toBeGreaterThan(25_000);
  });

  it("gives up when the time is over, and sends again when somebody asks for it", async () => {
    const delivery = start({ schedule: { ...FAST, giveUpAfterMs: 500 } });
    receiver.answer = () => 500;
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    const [failed] = await waitForStates(test, key, "webhook", ["failed"]);
    expect(failed).toMatchObject({ lastError: "the endpoint returned 500", nextAttemptAtMs: null });
    expect(failed!.attempts).toBeGreaterThan(1);
    expect(delivery.readMetrics().channels.webhook).toEqual({
      delivered: 0,
      failed: 1,
      failedAttempts: failed!.attempts,
    });
    receiver.answer = null;
    receiver.received.length = 0;
    const { items } = await test.store.listAlerts(key.organizationId, { limit: 1, after: null });
    await test.store.redeliverAlert(items[0]!, ["webhook"]);
    await waitForStates(test, key, "webhook", ["delivered"]);
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual([items[0]!.id]);
    expect(await listStates(test, key, "email")).toMatchObject([{ state: "off" }]);
  });

  it("sends all that fired in one step again, whichever of it is asked for, under the same id", async () => {
    start();
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 10n * CENT);
    await waitForStates(test, key, "webhook", ["delivered", "delivered"]);
    const { items } = await test.store.listAlerts(key.organizationId, { limit: 2, after: null });
    await test.store.redeliverAlert(items[0]!, ["webhook"]);
    await waitFor("the message again", () => receiver.received.length === 2);
    const [first, second] = receiver.received;
    expect(second!.body).toBe(first!.body);
    expect(second!.event.data).toMatchObject({ id: items[1]!.id, alerts: [{}, {}] });
  });

  it("sends at once what waits for its next attempt when somebody asks for it, and not twice", async () => {
    start({ schedule: { ...FAST, firstWaitMs: 60_000, maxWaitMs: 60_000 } });
    receiver.answer = (_request, index) => (index === 0 ? 503 : 204);
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await waitFor(
      "the first attempt",
      async () => (await listStates(test, key, "webhook"))[0]?.attempts === 1,
    );
    const { items } = await test.store.listAlerts(key.organizationId, { limit: 1, after: null });
    await test.store.redeliverAlert(items[0]!, ["webhook"]);
    await waitForStates(test, key, "webhook", ["delivered"]);
    expect(receiver.received).toHaveLength(2);
  });

  it("disables an endpoint that answers 410, until its URL is set again", async () => {
    start();
    receiver.answer = () => 410;
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await spend(test, key, 2n * CENT);
    const states = await waitForStates(test, key, "webhook", ["failed", "failed"]);
    expect(states[0]!.lastError).toBe("the endpoint returned 410 Gone and is disabled");
    expect(states[1]!.lastError).toContain("is disabled since");
    expect(receiver.received).toHaveLength(1);
    const organization = await test.store.getOrganization(key.organizationId);
    expect(organization?.notifications.webhook?.disabledAtMs).toBeGreaterThan(0);
  });

  it("uses the endpoint that is set by then", async () => {
    start();
    const wrong = await startWebhookReceiver();
    wrong.answer = () => 404;
    const key = await createHookedKey(test, wrong.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await waitFor("an attempt at the wrong one", () => wrong.received.length > 0);
    const organization = await test.store.getOrganization(key.organizationId);
    const { notifications } = organization!;
    const webhook = { ...notifications.webhook!, url: receiver.url };
    await test.store.changeOrganization(
      key.organizationId,
      { notifications: { ...notifications, webhook } },
      null,
    );
    await waitForStates(test, key, "webhook", ["delivered"]);
    expect(receiver.received).toHaveLength(1);
    await wrong.close();
  });
});

describe("an organization whose endpoint is dead", () => {
  it("delays no other one", async () => {
    start({});
    const silent = await startWebhookReceiver();
    silent.answer = () => () => undefined;
    const dead = await createHookedKey(test, silent.url, { limits: monthLimits({ budget: 10 }) });
    for (let count = 0; count < 20; count += 1) {
      const other = await addTestKey(test.store, dead.organizationId, {
        limits: monthLimits({ budget: 10 }),
      });
      await spend(test, other, 10n * CENT);
    }
    await waitFor("an attempt that hangs", () => silent.received.length === 1);
    const alive = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, alive, 10n * CENT);
    await waitForStates(test, alive, "webhook", ["delivered", "delivered"]);
    expect(silent.received).toHaveLength(1);
    await silent.close();
  });
});

describe("what no message told", () => {
  it("is found by the sweep at the start, and its age is told until then", async () => {
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await spend(test, key, 2n * CENT);
    receiver.answer = (_request, index) => (index === 0 ? 500 : 204);
    const delivery = start({
      listen: () => never,
      schedule: { ...FAST, firstWaitMs: 60_000, maxWaitMs: 60_000 },
    });
    await waitFor("the first attempt", () => receiver.received.length === 1);
    await delivery.sweep();
    expect(delivery.readMetrics().oldestUndeliveredSeconds).toBeGreaterThan(0);
    await running.pop()?.stop();
    await test.client.hdel(`igw:{${key.organizationId}}:courier:webhook`, "next_at");
    start({ listen: () => never });
    await waitForStates(test, key, "webhook", ["delivered", "delivered"]);
    expect(events()).toEqual(["budget 80", "budget 80", "budget 100"]);
  });
});

describe("the end of a process", () => {
  it("breaks off an attempt that hangs, and the next process makes it at once", async () => {
    receiver.answer = (_request, index) => (index === 0 ? () => undefined : 204);
    start();
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await waitFor("an attempt that hangs", () => receiver.received.length === 1);
    await running.pop()?.stop();
    expect(await listStates(test, key, "webhook")).toMatchObject([{ state: "pending", attempts: 0 }]);
    start({ leaseMs: 60_000 });
    await waitForStates(test, key, "webhook", ["delivered"]);
    expect(receiver.received).toHaveLength(2);
  });
});
