import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canSetClock, microseconds, openTimedStore, type TimedStore } from "./clock-fixture.ts";
import { chargeInput, createIdentity, createTestKey, FINAL, openRecordInput } from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const CENT = 1_000_000n;
let timed: TimedStore;
beforeAll(async () => {
  if (canSetClock) timed = await openTimedStore(microseconds("2026-01-15T12:00:00Z"));
});
afterAll(async () => {
  if (canSetClock) await timed.stop();
});

async function summarize(organizationId: string): Promise<string[]> {
  const { items } = await timed.store.listAlerts(organizationId, { limit: 100, after: null });
  return items.map(({ month, thresholdPercent }) => `${month} ${thresholdPercent}%`).toReversed();
}

describe.skipIf(!canSetClock)("alerts over a month's end (sets Redis's clock: takes Linux and cc)", () => {
  it("fire anew in each month", async () => {
    const { store, clock } = timed;
    clock.set(microseconds("2026-03-31T23:59:59Z"));
    const key = await createTestKey(store, { limits: monthLimits({ budget: 10 }) });
    const spend = async () =>
      store.charge(chargeInput(await createIdentity(store, key), 1, 8n * CENT, { final: FINAL }));
    await spend();
    clock.set(microseconds("2026-04-01T00:00:00Z"));
    await spend();
    expect(await summarize(key.organizationId)).toEqual(["2026-03 80%", "2026-04 80%"]);
  });

  it("of requests that end in the next month are of the month that they were admitted in", async () => {
    const { store, clock } = timed;
    clock.set(microseconds("2026-05-31T23:59:59Z"));
    const key = await createTestKey(store, { limits: monthLimits({ cap: 10 }) });
    const identity = await createIdentity(store, key);
    await store.openRecord(openRecordInput(identity));
    clock.set(microseconds("2026-06-01T00:00:10Z"));
    await store.charge(chargeInput(identity, 1, 10n * CENT, { final: FINAL }));
    expect(await summarize(key.organizationId)).toEqual(["2026-05 90%", "2026-05 100%"]);
  });

  it("of a changed amount are about the month that it is by Redis's clock", async () => {
    const { store, clock } = timed;
    clock.set(microseconds("2026-07-31T23:59:59Z"));
    const key = await createTestKey(store, {}, { limits: monthLimits({ cap: 100 }) });
    await store.charge(chargeInput(await createIdentity(store, key), 1, 50n * CENT, { final: FINAL }));
    clock.set(microseconds("2026-08-01T00:00:00Z"));
    // The first command of the month with the month: what was spent was July's.
    await store.changeKey(key, { limits: monthLimits({ budget: 10 }) }, null);
    await store.changeOrganization(key.organizationId, { limits: monthLimits({ budget: 10 }) }, null);
    expect(await summarize(key.organizationId)).toEqual([]);
    await store.changeOrganization(key.organizationId, { limits: [] }, null);
    clock.set(microseconds("2026-07-31T23:59:59.5Z"));
    await store.changeKey(key, { limits: monthLimits({ budget: 60 }) }, null);
    expect(await summarize(key.organizationId)).toEqual(["2026-07 80%"]);
  });
});
