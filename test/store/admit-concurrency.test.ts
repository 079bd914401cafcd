import { describe, expect, it } from "vitest";
import { inflightKey } from "../../src/store/redis/keys.ts";
import {
  admitKnown,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  holdInput,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();

describe("admit with a limit of concurrent requests", () => {
  it("only looks: it takes no place, whatever many it lets pass", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 2 });
    const admissions = await Promise.all(Array.from({ length: 50 }, () => admitKnown(test.store, key)));
    expect(new Set(admissions.map(({ decision }) => decision))).toEqual(new Set(["admitted"]));
    expect(await test.client.exists(inflightKey(key.organizationId, key.keyId))).toBe(0);
  });

  it("refuses while as many are in flight, and lets the next pass when one has ended", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 2 });
    const first = await createIdentity(test.store, key);
    await test.store.hold(holdInput(first));
    expect(await admitKnown(test.store, key)).toMatchObject({ decision: "admitted", concurrentRequests: 1 });
    await test.store.hold(holdInput(await createIdentity(test.store, key)));
    expect(await admitKnown(test.store, key)).toMatchObject({
      decision: "concurrency_limited",
      concurrentRequests: 2,
    });
    await test.store.charge(chargeInput(first, 1, 1n, { final: FINAL }));
    expect((await admitKnown(test.store, key)).decision).toBe("admitted");
  });

  it("keeps the token of what it refuses", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 1 });
    await test.store.hold(holdInput(await createIdentity(test.store, key)));
    const { decision, bucket } = await admitKnown(test.store, key);
    expect({ decision, remaining: bucket.remaining }).toEqual({
      decision: "concurrency_limited",
      remaining: 59,
    });
  });

  it("refuses no call that costs nothing", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 1 });
    await test.store.hold(holdInput(await createIdentity(test.store, key)));
    const { decision, concurrentRequests } = await admitKnown(test.store, key, {
      metered: false,
      promptTokens: 0,
    });
    expect({ decision, concurrentRequests }).toEqual({ decision: "admitted", concurrentRequests: null });
  });
});
