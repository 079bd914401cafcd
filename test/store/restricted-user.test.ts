import { Cluster } from "ioredis";
import { afterAll, describe, expect, it } from "vitest";
import {
  createRedisClient,
  type RedisClient,
  waitUntilReady,
} from "../../src/data-path/store/redis/client.ts";
import { createStore } from "../../src/data-path/store/redis-store.ts";
import {
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  USAGE_MONTHS,
  withTestStore,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const CENT = 1_000_000n;
const PASSWORD = "of-a-test";
const test = withTestStore();
const clients: RedisClient[] = [];
afterAll(async () => {
  for (const client of clients) client.disconnect();
});

/** A gateway that is logged in as a user with these rights. */
async function connectAs(username: string, rights: readonly string[]) {
  const { client } = test;
  const servers = client instanceof Cluster ? client.nodes("master") : [client];
  for (const server of servers) {
    await server.call("ACL", "SETUSER", username, "reset", "on", `>${PASSWORD}`, "~igw:*", ...rights);
  }
  const own = createRedisClient({
    ...test.address,
    username,
    password: PASSWORD,
    commandTimeoutMs: 20_000,
    onError: () => undefined,
  });
  clients.push(own);
  await waitUntilReady(own, 10_000);
  return createStore({ client: own, usageMonths: USAGE_MONTHS });
}

describe("a Redis user that may not publish", () => {
  it.each([
    { name: "without the command", user: "no-publish", rights: ["&*", "+@all", "-publish"] },
    { name: "without the channel", user: "no-channel", rights: ["resetchannels", "+@all"] },
  ])("charges all the same, and fires the alert, $name", async ({ user, rights }) => {
    const store = await connectAs(user, rights);
    const key = await createTestKey(
      store,
      { limits: monthLimits({ budget: 100 }) },
      { limits: monthLimits({ budget: 1_000 }) },
    );
    const identity = await createIdentity(store, key);
    await store.openRecord(openRecordInput(identity));
    await store.charge(chargeInput(identity, 1, 85n * CENT, { final: FINAL }));
    const spend = await store.readSpend(key.organizationId, null);
    expect([spend.organizationMicrocents, spend.keyMicrocents.get(key.keyId)]).toEqual([
      85n * CENT,
      85n * CENT,
    ]);
    const { rows } = await store.readUsage(key.organizationId, null);
    expect(rows.map(({ costMicrocents }) => costMicrocents)).toEqual([85n * CENT]);
    const { items } = await store.listAlerts(key.organizationId, { limit: 10, after: null });
    expect(items.map(({ thresholdPercent }) => thresholdPercent)).toEqual([80]);
    // A changed amount fires too.
    expect((await store.changeKey(key, { limits: monthLimits({ budget: 80 }) }, null)).outcome).toBe(
      "changed",
    );
    expect(store.firedAlerts()).toBe(3);
    expect(await store.listOutstandingDeliveries(key.organizationId)).toEqual(
      await test.store.listOutstandingDeliveries(key.organizationId),
    );
    const corrected = await store.correct({ ...key, correctionId: "corr_1", amountMicrocents: 900n * CENT });
    expect(corrected.outcome).toBe("applied");
  });
});
