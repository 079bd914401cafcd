import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectStore, withTestStore } from "../store/fixture.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import {
  CENT,
  createDelivery,
  createHookedKey,
  spend,
  trackDeliveries,
  waitForStates,
} from "./delivery-fixture.ts";
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

describe("two processes that deliver", () => {
  it("wait without an error while the other has the lease", async () => {
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 10n * CENT);
    const claimAs = (owner: string) => test.store.claimDelivery(key.organizationId, "webhook", owner, 60_000);
    expect(await claimAs("one")).toMatchObject({ outcome: "claimed" });
    expect(await claimAs("two")).toEqual({ outcome: "leased", waitMs: expect.any(Number) as number });
  });

  it("send each alert of 500 charges at once exactly once, in the order in which they fired", async () => {
    const others = await Promise.all([connectStore(test.address), connectStore(test.address)]);
    for (const other of others) start({}, other);
    const key = await createHookedKey(
      test,
      receiver.url,
      { limits: monthLimits({ cap: 400, budget: 100 }) },
      { limits: monthLimits({ cap: 450, budget: 300 }) },
    );
    await Promise.all(Array.from({ length: 500 }, (_, index) => spend(others[index % 2]!, key, CENT)));
    await waitForStates(
      test,
      key,
      "webhook",
      Array.from({ length: 8 }, () => "delivered" as const),
    );
    const { items } = await test.store.listAlerts(key.organizationId, { limit: 100, after: null });
    expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toEqual(
      items.map(({ id }) => id).toReversed(),
    );
    await Promise.all(running.splice(0).map((delivery) => delivery.stop()));
    for (const { client } of others) client.disconnect();
  });

  it("leave what one of them is at to it for as long as it lives, and take it over when it dies", async () => {
    const gate = createGate();
    receiver.answer = async (_request, index) => {
      if (index === 0) await gate.opened;
      return 204;
    };
    const dying = await connectStore(test.address);
    const delivery = createDelivery(dying);
    delivery.start();
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await spend(test, key, 2n * CENT);
    await waitFor("the first attempt", () => receiver.received.length === 1);
    start();
    const courier = `igw:{${key.organizationId}}:courier:webhook`;
    const lease = await test.client.hget(courier, "lease_until");
    await waitFor(
      "the lease to be renewed",
      async () => (await test.client.hget(courier, "lease_until")) !== lease,
    );
    expect(receiver.received).toHaveLength(1);
    // Between sending and recording: it never comes to write down that the receiver has taken it.
    dying.client.disconnect();
    gate.release();
    await waitForStates(test, key, "webhook", ["delivered", "delivered"]);
    expect(events()).toEqual(["budget 80", "budget 80", "budget 100"]);
    const ids = receiver.received.map(({ event }) => event.data["id"]);
    expect(ids[0]).toBe(ids[1]);
    await delivery.stop();
  });
});
