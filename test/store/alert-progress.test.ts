import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  holdInput,
  openTestStore,
  type StoreUnderTest,
  type TestKey,
} from "./fixture.ts";

const CENT = 1_000_000n;
let test: StoreUnderTest;
beforeAll(async () => {
  test = await openTestStore();
});
afterAll(() => test.stop());

/** One request that costs this much, from start to end. */
async function spend(key: TestKey, microcents: bigint): Promise<void> {
  const identity = await createIdentity(test.store, key);
  await test.store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
}

/** "key budget 80% of 100" */
async function summarize(organizationId: string): Promise<string[]> {
  const { items } = await test.store.listAlerts(organizationId, { limit: 100, after: null });
  return items.map(
    (alert) => `${alert.scope} ${alert.kind} ${alert.thresholdPercent}% of ${alert.amountCents}`,
  );
}

describe("a progress charge", () => {
  it("fires nothing: what it says is an estimate, for others' final charges too", async () => {
    const key = await createTestKey(test.store, { budgetCents: 100 });
    const stream = await createIdentity(test.store, key);
    await test.store.hold(holdInput(stream));
    await test.store.charge(chargeInput(stream, 1, 99n * CENT));
    await spend(key, 1n * CENT);
    expect(await summarize(key.organizationId)).toEqual([]);
    await test.store.charge(chargeInput(stream, 2, 70n * CENT, { final: FINAL }));
    expect(await summarize(key.organizationId)).toEqual([]);
    await spend(key, 9n * CENT);
    expect(await summarize(key.organizationId)).toEqual(["key budget 80% of 100"]);
  });

  it.each([
    { name: "final", isClosed: false, isReopened: false },
    { name: "closed", isClosed: true, isReopened: false },
    { name: "closed and opened again", isClosed: true, isReopened: true },
  ])("leaves nothing of its estimate behind once it is $name", async ({ isClosed, isReopened }) => {
    const key = await createTestKey(test.store);
    const stream = await createIdentity(test.store, key);
    await test.store.hold(holdInput(stream));
    await test.store.charge(chargeInput(stream, 1, 5n * CENT));
    const open: string[] = [];
    const noteOpen = async (): Promise<void> => {
      const spend = `igw:{${key.organizationId}}:spend:${stream.month}`;
      const [organization, ofKey] = await test.client.hmget(
        spend,
        "open:organization",
        `open:key:${key.keyId}`,
      );
      expect(organization).toBe(ofKey);
      open.push(organization ?? "");
    };
    await noteOpen();
    if (isClosed) {
      await test.client.zadd(`igw:{${key.organizationId}}:holds`, 1, stream.requestId);
      await test.store.close({ ...stream, record: stream });
      await noteOpen();
    }
    if (isReopened) {
      await test.store.renew(key.organizationId, [stream]);
      await noteOpen();
    }
    await test.store.charge(chargeInput(stream, 2, 7n * CENT, { final: FINAL }));
    await noteOpen();
    const five = "5000000";
    expect(open).toEqual([five, ...(isClosed ? ["0"] : []), ...(isReopened ? [five] : []), "0"]);
  });
});

describe("a closing", () => {
  it("of a request whose owner died fires what it reaches", async () => {
    const key = await createTestKey(test.store, { budgetCents: 10 });
    const lost = await createIdentity(test.store, key);
    await test.store.hold(holdInput(lost, { floorMicrocents: 9n * CENT, floorInputTokens: 1 }));
    await test.client.zadd(`igw:{${key.organizationId}}:holds`, 1, lost.requestId);
    expect(await test.store.close({ ...lost, record: lost })).toBe("closed");
    expect(await summarize(key.organizationId)).toEqual(["key budget 80% of 10"]);
  });
});
