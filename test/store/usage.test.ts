import { describe, expect, it } from "vitest";
import { expiryOf } from "../../src/shared/time/calendar.ts";
import { correctionKey, spendKey } from "../../src/data-path/store/redis/keys.ts";
import {
  addTestKey,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  readExpiry,
  USAGE_MONTHS,
} from "./fixture.ts";
import { withTestStore } from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

describe("readUsage", () => {
  it("gives one row per day, key and model, whose costs add up to spend", async () => {
    const first = await createTestKey(test.store);
    const second = await addTestKey(test.store, first.organizationId);
    // Ids of one millisecond are in any order; rows are in theirs.
    const keys = [first, second].toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1));
    const expected: [string, string, string, bigint][] = [];
    for (const [index, day] of ["2028-02-01", "2028-02-29"].entries()) {
      for (const key of keys) {
        for (const model of ["acme/one", "acme/two:beta"]) {
          const identity = { ...(await createIdentity(test.store, key)), month: "2028-02", day, model };
          const cost = BigInt(expected.length + index + 1);
          await test.store.charge(chargeInput(identity, 1, cost, { final: FINAL }));
          expected.push([day, key.keyId, model, cost]);
        }
      }
    }
    const { month, rows } = await test.store.readUsage(first.organizationId, "2028-02");
    expect(month).toBe("2028-02");
    expect(rows.map((row) => [row.day, row.keyId, row.model, row.costMicrocents])).toEqual(expected);
    const spend = await test.store.readSpend(first.organizationId, "2028-02");
    expect(rows.reduce((sum, row) => sum + row.costMicrocents, 0n)).toBe(spend.organizationMicrocents);
  });

  it("refuses what is not a month", async () => {
    const { organizationId } = await createTestKey(test.store);
    for (const month of ["2026-13", "2026-1", "", "2026-11-01", "} igw"]) {
      await expect(test.store.readUsage(organizationId, month)).rejects.toThrow("is not a month");
    }
  });
});

describe("readSpend", () => {
  it("reads all keys, or those that are asked for", async () => {
    const first = await createTestKey(test.store);
    const second = await addTestKey(test.store, first.organizationId);
    for (const [key, cost] of [
      [first, 5n],
      [second, 6n],
    ] as const) {
      await test.store.charge(chargeInput(await createIdentity(test.store, key), 1, cost, { final: FINAL }));
    }
    const all = await test.store.readSpend(first.organizationId, null);
    expect(all.organizationMicrocents).toBe(11n);
    expect(all.keyMicrocents).toEqual(
      new Map([
        [first.keyId, 5n],
        [second.keyId, 6n],
      ]),
    );
    const one = await test.store.readSpend(first.organizationId, null, [second.keyId, "key_none"]);
    expect(one).toMatchObject({ organizationMicrocents: 11n, keyMicrocents: new Map([[second.keyId, 6n]]) });
  });
});

describe("correct", () => {
  it("moves spend and usage by a signed amount, once for each id", async () => {
    const key = await createTestKey(test.store);
    await test.store.charge(chargeInput(await createIdentity(test.store, key), 1, 100n, { final: FINAL }));
    const correct = (correctionId: string, amountMicrocents: bigint, keyId: string | null) =>
      test.store.correct({ organizationId: key.organizationId, keyId, correctionId, amountMicrocents });
    expect(await correct("corr_1", -30n, key.keyId)).toMatchObject({
      outcome: "applied",
      organizationMicrocents: 70n,
      keyMicrocents: 70n,
    });
    expect(await correct("corr_1", -30n, key.keyId)).toMatchObject({
      outcome: "repeated",
      keyMicrocents: 70n,
    });
    expect(await correct("corr_2", 10n ** 14n + 1n, null)).toMatchObject({
      outcome: "applied",
      organizationMicrocents: 10n ** 14n + 71n,
      keyMicrocents: null,
    });
    const { rows } = await test.store.readUsage(key.organizationId, null);
    expect(rows.map((row) => [row.keyId, row.model, row.requests, row.costMicrocents])).toEqual([
      [null, null, 0, 10n ** 14n + 1n],
      [key.keyId, null, 0, -30n],
      [key.keyId, "acme/echo-small", 1, 100n],
    ]);
  });

  it("counts once for as long as the month's figures are kept, in later months too", async () => {
    const { organizationId, keyId } = await createTestKey(test.store);
    const correction = { organizationId, keyId, correctionId: "corr_long", amountMicrocents: 5n };
    await test.store.correct(correction);
    const { month } = await test.store.readUsage(organizationId, null);
    const marker = correctionKey(organizationId, "corr_long");
    const expiresAtMs = expiryOf(month, USAGE_MONTHS);
    expect(await readExpiry(test.client, marker)).toBeCloseTo(expiresAtMs, -1);
    expect(await readExpiry(test.client, spendKey(organizationId, month))).toBeCloseTo(expiresAtMs, -1);
  });

  it("tells who repeats it in a later month in which one it counts", async () => {
    const key = await createTestKey(test.store);
    const marker = correctionKey(key.organizationId, "corr_past");
    await test.client.set(marker, JSON.stringify({ month: "2026-09", details: { tokens: 1 } }));
    const again = { ...key, correctionId: "corr_past", amountMicrocents: 5n };
    expect(await test.store.correct(again)).toMatchObject({ outcome: "repeated", month: "2026-09" });
  });

  it("gives who repeats it what it was made of", async () => {
    const key = await createTestKey(test.store);
    const first = { ...key, correctionId: "corr_kept", amountMicrocents: 5n, details: { tokens: 1 } };
    expect(await test.store.correct(first)).toMatchObject({ outcome: "applied", details: { tokens: 1 } });
    const again = { ...first, amountMicrocents: 6n, details: { tokens: 2 } };
    expect(await test.store.correct(again)).toMatchObject({
      outcome: "repeated",
      organizationMicrocents: 5n,
      details: { tokens: 1 },
    });
  });

  it("can make spend negative, which no cap refuses", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 1 }) });
    const result = await test.store.correct({ ...key, correctionId: "corr_3", amountMicrocents: -5n });
    expect(result).toMatchObject({ keyMicrocents: -5n, organizationMicrocents: -5n });
  });

  it("knows neither an organization nor a key that does not exist", async () => {
    const key = await createTestKey(test.store);
    const none = { correctionId: "corr_4", amountMicrocents: 1n };
    expect(await test.store.correct({ ...none, organizationId: "org_none", keyId: null })).toEqual({
      outcome: "not_found",
    });
    expect(
      await test.store.correct({ ...none, organizationId: key.organizationId, keyId: "key_none" }),
    ).toEqual({
      outcome: "not_found",
    });
  });
});
