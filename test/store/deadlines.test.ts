import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/data-path/store/ids.ts";
import type { RequestIdentity } from "../../src/shared/stored/settlement.ts";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import {
  admitKnown,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  readHeld,
  type TestKey,
} from "./fixture.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

const START = microseconds("2026-05-05T05:05:05Z");
let now = START;

let timed: TimedStore;
beforeAll(async () => {
  if (canSetClock) timed = await openTimedStore(START);
});
afterAll(async () => {
  if (canSetClock) await timed.stop();
});

function advance(milliseconds: number): void {
  now += BigInt(milliseconds) * 1000n;
  timed.clock.set(now);
}

async function spent({ organizationId, month }: RequestIdentity): Promise<bigint> {
  const { rows } = await timed.store.readUsage(organizationId, month);
  const figures = await timed.store.readSpend(organizationId, month);
  expect(rows.reduce((sum, row) => sum + row.costMicrocents, 0n)).toBe(figures.organizationMicrocents);
  return figures.organizationMicrocents;
}

async function closeOverdue({ organizationId }: TestKey): Promise<string[]> {
  const overdue = await timed.store.listOverdue(organizationId, 100);
  return Promise.all(overdue.map((request) => timed.store.close(request)));
}

describe.skipIf(!canSetClock)("a request's deadline (sets Redis's clock: takes Linux and cc)", () => {
  it("is 30 s after the opening of its record; then another closes it at its floor", async () => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    await timed.store.openRecord(openRecordInput(identity, { floorMicrocents: 70n, floorInputTokens: 12 }));
    advance(29_999);
    expect(await closeOverdue(key)).toEqual([]);
    advance(1);
    expect(await closeOverdue(key)).toEqual(["closed"]);
    expect(await closeOverdue(key)).toEqual([]);
    const { rows } = await timed.store.readUsage(key.organizationId, null);
    expect(rows).toMatchObject([{ requests: 1, inputTokens: 12, estimatedRequests: 1, costMicrocents: 70n }]);
  });

  it("tells of what another has closed whose it was, in its usage and among the recent requests", async () => {
    const key = await createTestKey(timed.store);
    const owners = `${createId("user", 1)}.${createId("group", 1)}`;
    const identity = { ...(await createIdentity(timed.store, key)), owners };
    await timed.store.openRecord(openRecordInput(identity, { floorMicrocents: 70n, floorInputTokens: 12 }));
    advance(30_000);
    expect(await closeOverdue(key)).toEqual(["closed"]);
    const page = { limit: 5, after: null };
    const list = async () => (await timed.store.listRequests(key.organizationId, page)).items;
    expect(await list()).toMatchObject([{ owners, status: null, inputTokens: 12, costMicrocents: 70n }]);
    const { rows } = await timed.store.readUsage(key.organizationId, null);
    expect(rows).toMatchObject([{ owners, costMicrocents: 70n }]);
    // Its own worker comes back with more of it, which is no end either.
    await timed.store.charge(chargeInput(identity, 1, 90n));
    expect(await list()).toMatchObject([{ owners, status: null, costMicrocents: 90n }]);
  });

  it.each([
    { name: "more than the floor", charged: 90n, closedAt: 90n },
    { name: "less than the floor", charged: 50n, closedAt: 70n },
  ])("closes what was charged $name at the larger of both", async ({ charged, closedAt }) => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    await timed.store.openRecord(openRecordInput(identity, { floorMicrocents: 70n, floorInputTokens: 12 }));
    await timed.store.charge(chargeInput(identity, 1, charged));
    advance(30_000);
    expect(await closeOverdue(key)).toEqual(["closed"]);
    expect(await spent(identity)).toBe(closedAt);
    await timed.store.charge(chargeInput(identity, 2, 60n, { final: FINAL }));
    expect(await spent(identity)).toBe(60n);
  });

  it("closes at the best estimate with all its figures, and at the price that it was made with", async () => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    const priceOf = (input: string) => ({ name: "price", passed: true, figures: { input } });
    await timed.store.openRecord(
      openRecordInput(identity, { floorMicrocents: 70n, price: priceOf("opened") }),
    );
    const tokens = {
      ...NO_TOKENS,
      inputTokens: 9,
      cachedInputTokens: 2,
      outputTokens: 8,
      reasoningTokens: 1,
    };
    const further = { cacheWriteTokens: 4, cacheWrite1hTokens: 3, inputAudioTokens: 2, outputAudioTokens: 5 };
    const estimate = {
      totalMicrocents: 95n,
      toolMicrocents: 30n,
      tokens: { ...tokens, ...further },
      price: priceOf("estimated"),
    };
    await timed.store.charge(chargeInput(identity, 1, 90n, { tokens, estimate }));
    advance(30_000);
    expect(await closeOverdue(key)).toEqual(["closed"]);
    const { rows } = await timed.store.readUsage(key.organizationId, null);
    expect(rows).toMatchObject([
      {
        inputTokens: 9,
        cacheWriteTokens: 4,
        cacheWrite1hTokens: 3,
        inputAudioTokens: 2,
        outputAudioTokens: 5,
        costMicrocents: 95n,
        toolMicrocents: 30n,
      },
    ]);
    const { items } = await timed.store.listRequests(key.organizationId, { limit: 1, after: null });
    expect(items[0]?.checks).toEqual([priceOf("estimated")]);
  });

  it("closes at the price that its record was opened with, when nothing was charged", async () => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    const price = { name: "price", passed: true, figures: { input: "opened" } };
    await timed.store.openRecord(openRecordInput(identity, { floorMicrocents: 70n, price }));
    advance(30_000);
    await closeOverdue(key);
    const { items } = await timed.store.listRequests(key.organizationId, { limit: 1, after: null });
    expect(items[0]).toMatchObject({ costMicrocents: 70n, checks: [price] });
  });

  it("moves with each renewal", async () => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    await timed.store.openRecord(openRecordInput(identity));
    for (let round = 0; round < 4; round += 1) {
      advance(20_000);
      expect(await timed.store.renew(key.organizationId, [identity])).toEqual(["renewed"]);
      expect(await closeOverdue(key)).toEqual([]);
    }
  });

  it("opens again what was closed when the owner was only paused, and holds its worst case again", async () => {
    const key = await createTestKey(timed.store, { maxConcurrentRequests: 5 }, { strictCaps: true });
    const identity = await createIdentity(timed.store, key);
    const held = () => readHeld(timed.client, identity, "organization");
    await timed.store.openRecord(
      openRecordInput(identity, { worstCaseMicrocents: 100n, floorMicrocents: 30n }),
    );
    expect(await held()).toBe(100n);
    advance(31_000);
    await closeOverdue(key);
    expect(await held()).toBe(0n);
    expect((await admitKnown(timed.store, key)).concurrentRequests).toBe(0);
    expect(await timed.store.renew(key.organizationId, [identity])).toEqual(["reopened"]);
    expect(await held()).toBe(70n);
    expect((await admitKnown(timed.store, key)).concurrentRequests).toBe(1);
    await timed.store.charge(chargeInput(identity, 1, 80n, { final: FINAL }));
    expect([await held(), await spent(identity)]).toEqual([0n, 80n]);
    expect(await timed.store.renew(key.organizationId, [identity])).toEqual(["ended"]);
  });

  it("is listed at what it has come to, also by a charge that comes before the renewal", async () => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    const listed = async () => {
      const { items } = await timed.store.listRequests(key.organizationId, { limit: 5, after: null });
      return items.map(({ requestId, costMicrocents }) => [requestId, costMicrocents]);
    };
    await timed.store.openRecord(openRecordInput(identity, { floorMicrocents: 30n }));
    advance(31_000);
    await closeOverdue(key);
    expect(await listed()).toEqual([[identity.requestId, 30n]]);
    const { estimate } = chargeInput(identity, 1, 40n);
    const best = { totalMicrocents: 60n, tokens: { ...NO_TOKENS, inputTokens: 1, outputTokens: 2 } };
    await timed.store.charge(chargeInput(identity, 1, 40n, { estimate: best }));
    expect([await listed(), await spent(identity)]).toEqual([[[identity.requestId, 60n]], 60n]);
    expect(await timed.store.renew(key.organizationId, [identity])).toEqual(["reopened"]);
    await timed.store.charge(chargeInput(identity, 2, 70n, { estimate }));
    advance(31_000);
    expect(await closeOverdue(key)).toEqual(["closed"]);
    expect([await listed(), await spent(identity)]).toEqual([[[identity.requestId, 70n]], 70n]);
  });

  it("renews many at once, in the order that they were given", async () => {
    const key = await createTestKey(timed.store);
    const first = await createIdentity(timed.store, key);
    const all = Array.from({ length: 250 }, (_, index) => ({
      ...first,
      requestId: `${first.requestId}-${index}`,
    }));
    await Promise.all(all.slice(0, 249).map((identity) => timed.store.openRecord(openRecordInput(identity))));
    const outcomes = await timed.store.renew(key.organizationId, all);
    expect(outcomes).toEqual([...Array.from({ length: 249 }, () => "renewed"), "missing"]);
  });

  it("is gone with its record", async () => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    await timed.store.openRecord(openRecordInput(identity));
    await timed.client.del(`igw:{${key.organizationId}}:request:${identity.requestId}`);
    expect(await closeOverdue(key)).toEqual([]);
    advance(30_000);
    expect(await closeOverdue(key)).toEqual(["gone"]);
    expect(await closeOverdue(key)).toEqual([]);
  });

  it("is looked at again when it is closed: what was renewed since it was listed stays open", async () => {
    const key = await createTestKey(timed.store);
    const identity = await createIdentity(timed.store, key);
    await timed.store.openRecord(openRecordInput(identity, { floorMicrocents: 5n }));
    advance(30_000);
    const [overdue] = await timed.store.listOverdue(key.organizationId, 1);
    await timed.store.renew(key.organizationId, [identity]);
    expect(overdue && (await timed.store.close(overdue))).toBe("not_due");
    expect(await spent(identity)).toBe(0n);
  });

  it("frees no slot by itself, since its owner may come back: closing does", async () => {
    const key = await createTestKey(timed.store, { maxConcurrentRequests: 1 });
    const [first, second] = [await createIdentity(timed.store, key), await createIdentity(timed.store, key)];
    await timed.store.openRecord(openRecordInput(first));
    advance(300_000);
    expect((await timed.store.openRecord(openRecordInput(second))).outcome).toBe("concurrency_limited");
    expect(await timed.store.renew(key.organizationId, [first])).toEqual(["renewed"]);
    advance(30_000);
    expect((await timed.store.openRecord(openRecordInput(second))).outcome).toBe("concurrency_limited");
    await closeOverdue(key);
    expect((await timed.store.openRecord(openRecordInput(second))).outcome).toBe("opened");
    // It was not dead after all: both run, and nobody else comes in before both have ended.
    expect(await timed.store.renew(key.organizationId, [first])).toEqual(["reopened"]);
    await timed.store.charge(chargeInput(second, 1, 0n, { final: FINAL }));
    const third = await createIdentity(timed.store, key);
    expect((await timed.store.openRecord(openRecordInput(third))).outcome).toBe("concurrency_limited");
    await timed.store.charge(chargeInput(first, 1, 0n, { final: FINAL }));
    expect((await timed.store.openRecord(openRecordInput(third))).outcome).toBe("opened");
  });

  it("frees a slot whose record is lost", async () => {
    const key = await createTestKey(timed.store, { maxConcurrentRequests: 1 });
    const [lost, next] = [await createIdentity(timed.store, key), await createIdentity(timed.store, key)];
    await timed.store.openRecord(openRecordInput(lost));
    await timed.client.del(`igw:{${key.organizationId}}:request:${lost.requestId}`);
    advance(30_000);
    expect((await timed.store.openRecord(openRecordInput(next))).outcome).toBe("concurrency_limited");
    expect(await closeOverdue(key)).toEqual(["gone"]);
    expect((await admitKnown(timed.store, key)).decision).toBe("admitted");
    expect((await timed.store.openRecord(openRecordInput(next))).outcome).toBe("opened");
  });
});

describe.skipIf(!canSetClock)("a key (sets Redis's clock: takes Linux and cc)", () => {
  it("expires with the millisecond that was set", async () => {
    const at = Number(now / 1000n) + 1000;
    timed.clock.set(now);
    const key = await createTestKey(timed.store, { expiresAtMs: at });
    advance(999);
    expect((await admitKnown(timed.store, key)).decision).toBe("admitted");
    advance(1);
    expect((await admitKnown(timed.store, key)).decision).toBe("key_expired");
  });
});
