import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { connectStore } from "../store/fixture.ts";
import { startRedis, startRedisCluster } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { CENT, createDelivery, createHookedKey, spend, waitForStates } from "./delivery-fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.close());

describe("delivery when Redis goes away", () => {
  it("loses nothing that was fired before, and hears again of what fires after", async () => {
    const redis = await startRedis({ appendOnly: true });
    const test = await connectStore({ url: redis.url }, () => redis.stop());
    receiver.answer = () => 503;
    const delivery = createDelivery(test);
    delivery.start();
    const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
    await spend(test, key, 8n * CENT);
    await waitFor("an attempt", () => receiver.received.length > 0);
    redis.kill();
    await redis.restart();
    receiver.answer = null;
    await waitFor("Redis to be back", async () => (await test.store.timeMs()) > 0);
    await waitForStates(test, key, "webhook", ["delivered"]);
    await spend(test, key, 2n * CENT);
    await waitForStates(test, key, "webhook", ["delivered", "delivered"]);
    const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(ids).size).toBe(2);
    await delivery.stop();
    await test.stop();
  });
});

describe("delivery on a cluster of three", () => {
  it("hears of alerts of organizations on every node", async () => {
    const cluster = await startRedisCluster();
    const test = await connectStore({ cluster: cluster.urls }, () => cluster.stop());
    onTestFinished(() => test.stop());
    const delivery = createDelivery(test);
    onTestFinished(() => delivery.stop());
    delivery.start();
    for (let count = 0; count < 9; count += 1) {
      const key = await createHookedKey(test, receiver.url, { limits: monthLimits({ budget: 10 }) });
      await spend(test, key, 10n * CENT);
      const states = await waitForStates(test, key, "webhook", ["delivered", "delivered"]);
      expect(states.map(({ attempts }) => attempts)).toEqual([1, 1]);
    }
  });
});
