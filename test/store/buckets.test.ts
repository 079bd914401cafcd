import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bucketCapacity } from "../../src/data-path/limits/bucket-capacity.ts";
import { requestBucketKey } from "../../src/data-path/store/redis/keys.ts";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import { addTestKey, admitKnown, createTestKey } from "./fixture.ts";

const START = microseconds("2026-11-20T12:00:00Z");
const WHY = canSetClock ? "" : " (skipped: setting the clock of Redis takes Linux and a C compiler)";

describe.skipIf(!canSetClock)(`readBuckets${WHY}`, () => {
  let under: TimedStore;
  beforeAll(async () => {
    under = await openTimedStore(START);
  });
  afterAll(() => under.stop());

  it("says of each key what the next admission finds, and changes nothing", async () => {
    under.clock.set(START);
    const busy = await createTestKey(under.store, { requestsPerMinute: 60 });
    const idle = await addTestKey(under.store, busy.organizationId, { requestsPerMinute: 6_000 });
    for (let request = 0; request < 10; request += 1) await admitKnown(under.store, busy);
    const read = async () => {
      const fills = await under.store.readBuckets(busy.organizationId, [busy.keyId, idle.keyId]);
      return [fills.get(busy.keyId), fills.get(idle.keyId)];
    };
    const lastUsedMs = Number(START / 1_000n);
    const before = await under.client.hgetall(requestBucketKey(busy.organizationId, busy.keyId));
    expect(await read()).toEqual([
      { remaining: 0, capacity: 10, tokens: [], lastUsedMs },
      { remaining: 600, capacity: 600, tokens: [], lastUsedMs: null },
    ]);
    under.clock.set(START + 2_999_999n);
    expect((await read())[0]).toEqual({ remaining: 2, capacity: 10, tokens: [], lastUsedMs });
    under.clock.set(START + 3_000_000n);
    expect((await read())[0]).toEqual({ remaining: 3, capacity: 10, tokens: [], lastUsedMs });
    expect(await under.client.hgetall(requestBucketKey(busy.organizationId, busy.keyId))).toEqual(before);
    expect((await admitKnown(under.store, busy)).bucket.remaining).toBe(2);
  });

  it("knows the last use through changes of the rate, and of a key that was never used none", async () => {
    under.clock.set(START);
    const used = await createTestKey(under.store, { requestsPerMinute: 60 });
    const unused = await addTestKey(under.store, used.organizationId, { requestsPerMinute: 60 });
    await admitKnown(under.store, used);
    const read = async () => {
      const fills = await under.store.readBuckets(used.organizationId, [used.keyId, unused.keyId]);
      return [used, unused].map(({ keyId }) => fills.get(keyId)?.lastUsedMs);
    };
    for (const [after, requestsPerMinute] of [
      [1_000_000n, 120],
      [2_000_000n, 600],
    ] as const) {
      under.clock.set(START + after);
      for (const { organizationId, keyId } of [used, unused]) {
        await under.store.changeKey({ organizationId, keyId }, { requestsPerMinute }, null);
      }
      expect(await read()).toEqual([Number(START / 1_000n), null]);
    }
    under.clock.set(START + 3_000_000n);
    await admitKnown(under.store, used);
    expect(await read()).toEqual([Number(START / 1_000n) + 3_000, null]);
  });

  it("has no entry for a key that is not there, nor asks for none", async () => {
    const { organizationId } = await createTestKey(under.store);
    expect(await under.store.readBuckets(organizationId, [`key_${randomUUID()}`])).toEqual(new Map());
    expect(await under.store.readBuckets(organizationId, [])).toEqual(new Map());
  });

  it.each([1, 60, 100, 109, 110, 1_000_000])(
    "has the capacity that the word for it says: %i",
    async (rate) => {
      const { organizationId, keyId } = await createTestKey(under.store, { requestsPerMinute: rate });
      const fills = await under.store.readBuckets(organizationId, [keyId]);
      const capacity = bucketCapacity(rate);
      expect(fills.get(keyId)).toEqual({ remaining: capacity, capacity, tokens: [], lastUsedMs: null });
    },
  );
});
