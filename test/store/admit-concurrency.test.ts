import { describe, expect, it } from "vitest";
import { createId } from "../../src/data-path/store/ids.ts";
import { inflightKey } from "../../src/data-path/store/redis/keys.ts";
import {
  admitKnown,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();

describe("admit with a limit of concurrent requests", () => {
  it("only looks: it takes no slot, whatever many it lets pass", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 2 });
    const admissions = await Promise.all(Array.from({ length: 50 }, () => admitKnown(test.store, key)));
    expect(new Set(admissions.map(({ decision }) => decision))).toEqual(new Set(["admitted"]));
    expect(await test.client.exists(inflightKey(key.organizationId, key.keyId))).toBe(0);
  });

  it("refuses while as many are in flight, and lets the next pass when one has ended", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 2 });
    const first = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(first));
    expect(await admitKnown(test.store, key)).toMatchObject({ decision: "admitted", concurrentRequests: 1 });
    await test.store.openRecord(openRecordInput(await createIdentity(test.store, key)));
    expect(await admitKnown(test.store, key)).toMatchObject({
      decision: "concurrency_limited",
      concurrentRequests: 2,
    });
    await test.store.charge(chargeInput(first, 1, 1n, { final: FINAL }));
    expect((await admitKnown(test.store, key)).decision).toBe("admitted");
  });

  it("keeps the token of what it refuses", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 1 });
    await test.store.openRecord(openRecordInput(await createIdentity(test.store, key)));
    const { decision, bucket } = await admitKnown(test.store, key);
    expect({ decision, remaining: bucket.remaining }).toEqual({
      decision: "concurrency_limited",
      remaining: 59,
    });
  });

  it("that is set counts none of the thousands whose clients left before their bodies came", async () => {
    const key = await createTestKey(test.store);
    const inflight = inflightKey(key.organizationId, key.keyId);
    const running = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(running));
    // As their admissions left them, more than ten seconds ago.
    const entries = Array.from({ length: 5_000 }, (_, number) => [String(1_000 + number), `req_${number}`]);
    await test.client.zadd(inflight, ...entries.flat());
    await test.store.changeKey(key, { maxConcurrentRequests: 2 }, null);
    const outcomes: string[] = [];
    for (let request = 0; request < 2; request += 1) {
      const { outcome } = await test.store.openRecord(openRecordInput(await createIdentity(test.store, key)));
      outcomes.push(outcome);
    }
    expect(outcomes).toEqual(["opened", "concurrency_limited"]);
    expect(await test.client.zcard(inflight)).toBe(2);
  });

  it("are taken out by later admissions, so that they stay few", async () => {
    const key = await createTestKey(test.store);
    const inflight = inflightKey(key.organizationId, key.keyId);
    const now = await test.store.timeMs();
    const entries = Array.from({ length: 500 }, (_, number) => [String(now - 1 - number), `req_${number}`]);
    await test.client.zadd(inflight, ...entries.flat());
    await admitKnown(test.store, key, { requestId: `${createId("req", now).slice(0, -2)}00` });
    expect(await test.client.zcard(inflight)).toBe(1);
  });

  it("refuses no call that costs nothing", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 1 });
    await test.store.openRecord(openRecordInput(await createIdentity(test.store, key)));
    const { decision, concurrentRequests } = await admitKnown(test.store, key, {
      metered: false,
      promptTokens: 0,
    });
    expect({ decision, concurrentRequests }).toEqual({ decision: "admitted", concurrentRequests: null });
  });
});
