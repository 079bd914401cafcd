import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import {
  admitKnown,
  chargeInput,
  connectStore,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

let timed: TimedStore;
beforeAll(async () => {
  if (canSetClock) timed = await openTimedStore(microseconds("2026-01-15T12:00:00Z"));
});
afterAll(async () => {
  if (canSetClock) await timed.stop();
});

describe.skipIf(!canSetClock)("the month (sets Redis's clock: takes Linux and cc)", () => {
  it.each([
    { name: "the end of a short month", last: "2026-04-30T23:59:59.999Z", month: "2026-04", next: "2026-05" },
    { name: "the end of February", last: "2026-02-28T23:59:59.999Z", month: "2026-02", next: "2026-03" },
    { name: "the 29th of February", last: "2028-02-29T23:59:59.999Z", month: "2028-02", next: "2028-03" },
    {
      name: "the 29th of February 2000",
      last: "2000-02-29T23:59:59.999Z",
      month: "2000-02",
      next: "2000-03",
    },
    { name: "the end of a year", last: "2026-12-31T23:59:59.999Z", month: "2026-12", next: "2027-01" },
    {
      name: "a month that 32 bits end in",
      last: "2038-01-31T23:59:59.999Z",
      month: "2038-01",
      next: "2038-02",
    },
  ])("ends with the last microsecond of $name", async ({ last, month, next }) => {
    const { store, clock } = timed;
    const end = microseconds(last) + 999n;
    clock.set(end);
    const key = await createTestKey(store, { limits: monthLimits({ cap: 1 }) });
    const before = await admitKnown(store, key);
    expect(before).toMatchObject({ decision: "admitted", month, day: last.slice(0, 10) });
    const identity = await createIdentity(store, key);
    await store.charge(chargeInput(identity, 1, 1_000_000n, { final: FINAL }));
    expect(await admitKnown(store, key)).toMatchObject({ decision: "key_cap_reached", month });

    clock.set(end + 1n);
    const after = await admitKnown(store, key);
    expect(after).toMatchObject({ decision: "admitted", month: next, day: `${next}-01` });
    expect(after.caps).toMatchObject([{ scope: "key", spentMicrocents: 0n }]);
  });

  it("takes one token for an admission that met a month's change", async () => {
    const { store, clock, address } = timed;
    clock.set(microseconds("2026-06-30T23:59:59Z"));
    const key = await createTestKey(store);
    expect((await admitKnown(store, key)).bucket.remaining).toBe(59);
    clock.set(microseconds("2026-07-01T00:00:00Z"));
    // The first admission of each of two processes in the new month.
    const other = await connectStore(address);
    expect((await admitKnown(store, key)).bucket.remaining).toBe(59);
    expect((await admitKnown(other.store, key)).bucket.remaining).toBe(58);
    expect((await admitKnown(store, key)).bucket.remaining).toBe(57);
    other.client.disconnect();
  });

  it("is that of Redis's clock when that goes back over a month's end", async () => {
    const { store, clock } = timed;
    clock.set(microseconds("2026-09-01T00:00:00Z"));
    const key = await createTestKey(store);
    expect((await admitKnown(store, key)).month).toBe("2026-09");
    clock.set(microseconds("2026-08-31T23:59:59.5Z"));
    expect((await admitKnown(store, key)).month).toBe("2026-08");
    clock.set(microseconds("2026-09-01T00:00:01Z"));
    expect((await admitKnown(store, key)).month).toBe("2026-09");
  });

  it("of a request is that of its admission, even when it is recorded, charged and closed in the next", async () => {
    const { store, clock } = timed;
    clock.set(microseconds("2026-10-31T23:59:59.9Z"));
    const key = await createTestKey(store);
    const charged = await createIdentity(store, key);
    const abandoned = await createIdentity(store, key);
    clock.set(microseconds("2026-11-01T00:00:10Z"));
    await store.openRecord(openRecordInput(charged));
    await store.openRecord(openRecordInput(abandoned, { floorMicrocents: 7n, floorInputTokens: 3 }));
    await store.charge(chargeInput(charged, 1, 100n, { final: FINAL }));
    clock.set(microseconds("2026-11-01T00:01:00Z"));
    const [overdue] = await store.listOverdue(key.organizationId, 10);
    expect(overdue && (await store.close(overdue))).toBe("closed");
    const october = await store.readSpend(key.organizationId, "2026-10");
    expect(october.organizationMicrocents).toBe(107n);
    expect((await store.readSpend(key.organizationId, null)).organizationMicrocents).toBe(0n);
    const { rows } = await store.readUsage(key.organizationId, "2026-10");
    expect(rows.map(({ day, costMicrocents }) => [day, costMicrocents])).toEqual([["2026-10-31", 107n]]);
  });

  it("of a correction is this one, and its day today", async () => {
    const { store, clock } = timed;
    clock.set(microseconds("2027-02-28T23:59:59.999Z") + 999n);
    const key = await createTestKey(store);
    const correct = (correctionId: string) =>
      store.correct({ ...key, keyId: null, correctionId, amountMicrocents: -5n });
    expect(await correct("corr_1")).toMatchObject({ outcome: "applied", month: "2027-02" });
    clock.set(microseconds("2027-03-01T00:00:00Z"));
    expect(await correct("corr_2")).toMatchObject({ month: "2027-03", organizationMicrocents: -5n });
  });
});
