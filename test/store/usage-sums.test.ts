/** What the rows of a finished day add up to: kept beside them, read in their place, and gone once a row moves. */
import { describe, expect, it, vi } from "vitest";
import { usageKey, usageSumsKey } from "../../src/data-path/store/redis/keys.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { BilledRequest } from "../../src/shared/stored/settlement.ts";
import { DAY_MS, dayAt } from "../../src/shared/time/calendar.ts";
import { rebuildUsage } from "../../src/data-path/request-log/rebuild-usage.ts";
import { verifyUsage } from "../../src/data-path/request-log/verify-usage.ts";
import {
  addTestKey,
  addTestUser,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  MODEL,
  readExpiry,
  type TestKey,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();

/** Together 2.3 MB. */
const LONG_MODEL = `acme/${"m".repeat(500)}`;
const ROWS = 4_500;

/** A request of a day that is over. */
async function createPast(key: TestKey, changes: Partial<BilledRequest> = {}): Promise<BilledRequest> {
  const day = dayAt((await test.store.timeMs()) - DAY_MS).name;
  return { ...(await createIdentity(test.store, key)), day, month: day.slice(0, 7), ...changes };
}

const charge = (identity: BilledRequest, amount: bigint) =>
  test.store.charge(chargeInput(identity, 1, amount, { final: FINAL, isSingleCharge: true }));

/** What was read, and from how many pieces of rows. */
async function countPieces<Result>(work: () => Promise<Result>) {
  const scan = vi.spyOn(test.client, "hscan");
  try {
    return { result: await work(), pieces: scan.mock.calls.length };
  } finally {
    scan.mockRestore();
  }
}

const costs = (rows: readonly { readonly costMicrocents: bigint }[]) =>
  rows.map(({ costMicrocents }) => costMicrocents).toSorted((left, right) => Number(left - right));

describe("the sums of a day that is over", () => {
  it("are by key, user, group and model, and read in place of the rows from the second time on", async () => {
    const first = await createTestKey(test.store);
    const { organizationId } = first;
    const userId = await addTestUser(test.store, organizationId);
    const second = await addTestKey(test.store, organizationId, { userId });
    const owners = formatOwnerIds({ userId, groupId: null });
    const one = await createPast(first, { tags: "team=a" });
    await charge(one, 1n);
    await charge(await createPast(first, { tags: "team=b" }), 2n);
    await charge(await createPast(first, { model: "acme/other" }), 4n);
    await charge(await createPast(second, { owners }), 8n);
    const read = (of = {}) => countPieces(() => test.store.readSumsOfDay(organizationId, one.day, of));
    const made = await read();
    expect(made.pieces).toBeGreaterThan(0);
    expect(costs(made.result)).toEqual([3n, 4n, 8n]);
    const kept = await read();
    expect(kept.pieces).toBe(0);
    expect(new Set(kept.result)).toEqual(new Set(made.result));
    expect(kept.result).toContainEqual(
      expect.objectContaining({ keyId: first.keyId, owners: "", model: MODEL, tags: "team=", requests: 2 }),
    );
    const key = usageSumsKey(organizationId, one.day);
    const ofRows = await readExpiry(test.client, usageKey(organizationId, one.day));
    expect(Math.abs((await readExpiry(test.client, key)) - ofRows)).toBeLessThanOrEqual(4);

    const whole = vi.spyOn(test.client, "hgetall");
    expect(costs((await read({ userId })).result)).toEqual([8n]);
    expect(await read({ userId: "user_of_nobody" })).toEqual({ result: [], pieces: 0 });
    expect(whole).not.toHaveBeenCalled();
    whole.mockRestore();
  });

  it("are not kept of a day that goes on, nor for a user who asks first, nor beyond 2 MiB", async () => {
    const key = await createTestKey(test.store);
    const { organizationId } = key;
    const today = await createIdentity(test.store, key);
    await charge(today, 5n);
    const past = await createPast(key);
    const fields = Array.from({ length: ROWS }, (_, index) => [`key_${index}:${LONG_MODEL}:requests`, 1]);
    await test.client.hset(usageKey(organizationId, past.day), ...fields.flat());
    expect(costs(await test.store.readSumsOfDay(organizationId, today.day))).toEqual([5n]);
    expect(await test.store.readSumsOfDay(organizationId, past.day)).toHaveLength(ROWS);
    const half = fields.slice(ROWS / 2).map(([name]) => String(name));
    await test.client.hdel(usageKey(organizationId, past.day), ...half);
    await test.store.readSumsOfDay(organizationId, past.day, { userId: "user_1" });
    for (const day of [today.day, past.day]) {
      expect(await test.store.readStoredSums(organizationId, day)).toBeNull();
    }
    await test.store.readSumsOfDay(organizationId, past.day);
    expect(await test.store.readStoredSums(organizationId, past.day)).toHaveLength(ROWS / 2);
  });

  it("are not kept if a row moved while the rows were read", async () => {
    const key = await createTestKey(test.store);
    const past = await createPast(key);
    await charge(past, 1n);
    const { organizationId, day } = past;
    const scan = test.client.hscan.bind(test.client) as (...all: unknown[]) => Promise<[string, string[]]>;
    const spy = vi.spyOn(test.client, "hscan").mockImplementationOnce(async (...all: unknown[]) => {
      const found = await scan(...all);
      await charge(await createPast(key), 2n);
      return found;
    });
    expect(costs(await test.store.readSumsOfDay(organizationId, day))).toEqual([1n]);
    spy.mockRestore();
    expect(await test.store.readStoredSums(organizationId, day)).toBeNull();
    expect(costs(await test.store.readSumsOfDay(organizationId, day))).toEqual([3n]);
    expect(costs((await test.store.readStoredSums(organizationId, day)) ?? [])).toEqual([3n]);
  });

  it("go when a rebuild raises a row", async () => {
    const key = await createTestKey(test.store);
    const past = await createPast(key);
    await charge(past, 1n);
    const { organizationId, keyId, day } = past;
    const [row] = await test.store.readUsageOfDay(organizationId, day);
    expect(await test.store.readSumsOfDay(organizationId, day)).toHaveLength(1);
    const raised = { day, keyId, owners: "", model: MODEL, rows: [{ ...row!, costMicrocents: 9n }] };
    expect(await test.store.raiseUsage(organizationId, raised, [""])).toMatchObject({ outcome: "raised" });
    expect(await test.store.readStoredSums(organizationId, day)).toBeNull();
  });

  it("are compared with the rows by verify, and made again after a rebuild", async () => {
    const key = await createTestKey(test.store);
    const past = await createPast(key);
    await charge(past, 7n);
    const { organizationId, day, month } = past;
    await test.store.readSumsOfDay(organizationId, day);
    const differences = async () => {
      const all = (await verifyUsage(test.store, month, null)).differences;
      return all.filter((one) => one.organizationId === organizationId);
    };
    expect(await differences()).toEqual([]);
    const sums = usageSumsKey(organizationId, day);
    const text = (await test.client.hget(sums, "")) ?? "";
    await test.client.hset(sums, "", text.replace(" 1 ", " 3 "));
    expect(await differences()).toEqual([
      {
        organizationId,
        kind: "sum_of_day",
        keyId: key.keyId,
        day,
        model: MODEL,
        tags: null,
        figure: "requests",
        expected: 1n,
        found: 3n,
      },
    ]);
    const empty = { month, files: 0, requests: 0, damagedLines: 0, otherCurrencyRequests: 0 };
    const logged = { ...empty, rows: new Map([[organizationId, []]]) };
    await rebuildUsage(test.store, logged, async function* () {});
    expect(await differences()).toEqual([]);
    expect(costs(await test.store.readSumsOfDay(organizationId, day))).toEqual([7n]);
  });
});
