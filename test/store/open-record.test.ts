import { describe, expect, it } from "vitest";
import { requestKey } from "../../src/data-path/store/redis/keys.ts";
import {
  addTestKey,
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  readHeld,
  type TestKey,
  withTestStore,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

const CENT = 1_000_000n;

async function spend(key: TestKey, microcents: bigint): Promise<void> {
  const identity = await createIdentity(test.store, key);
  await test.store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
}

const OF_MONTH = { period: "month", raisedCents: 0, ownerName: "", areAmountsHidden: false } as const;

describe("opening a record", () => {
  it("reserves once, and a repeat changes nothing", async () => {
    const key = await createTestKey(test.store, {}, { strictCaps: true });
    const identity = await createIdentity(test.store, key);
    const input = openRecordInput(identity, { worstCaseMicrocents: 5n * CENT });
    expect(await test.store.openRecord(input)).toEqual({ outcome: "opened" });
    expect(await test.store.openRecord(input)).toEqual({ outcome: "exists" });
    expect(await readHeld(test.client, identity, "organization")).toBe(5n * CENT);
  });

  it.each([
    { scope: "key", key: { limits: monthLimits({ cap: 10 }) }, organization: {}, outcome: "key_cap_reached" },
    {
      scope: "organization",
      key: {},
      organization: { limits: monthLimits({ cap: 10 }) },
      outcome: "organization_cap_reached",
    },
    {
      scope: "key, when both are reached,",
      key: { limits: monthLimits({ cap: 10 }) },
      organization: { limits: monthLimits({ cap: 10 }) },
      outcome: "key_cap_reached",
    },
  ])("refuses once more when the cap of the $scope was reached since the admission", async (row) => {
    const key = await createTestKey(test.store, row.key, row.organization);
    const identity = await createIdentity(test.store, key);
    await spend(key, 10n * CENT);
    expect(await test.store.openRecord(openRecordInput(identity))).toEqual({
      outcome: row.outcome,
      figures: { ...OF_MONTH, spentMicrocents: 10n * CENT, heldMicrocents: 0n, capCents: 10 },
    });
    expect(await test.client.exists(`igw:{${key.organizationId}}:request:${identity.requestId}`)).toBe(0);
  });

  it("checks the month of admission, whatever month it is now", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 10 }) });
    const identity = await createIdentity(test.store, key);
    await spend(key, 10n * CENT);
    const other = openRecordInput({ ...identity, month: "2020-02", day: "2020-02-29" });
    expect((await test.store.openRecord(other)).outcome).toBe("opened");
  });

  it("holds nothing without strict caps, worst case or not", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 10 }) });
    const identity = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(identity, { worstCaseMicrocents: 500n * CENT }));
    expect(await readHeld(test.client, identity, "organization")).toBe(0n);
  });

  it("asks for a worst case when strict caps were switched on since the admission", async () => {
    const key = await createTestKey(test.store, {}, { strictCaps: true });
    const identity = await createIdentity(test.store, key);
    expect(await test.store.openRecord(openRecordInput(identity))).toEqual({
      outcome: "worst_case_required",
    });
    const again = await test.store.openRecord(openRecordInput(identity, { worstCaseMicrocents: 1n }));
    expect(again.outcome).toBe("opened");
  });
});

describe("opening a record with strict caps", () => {
  it("fits to the microcent", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 10 }) }, { strictCaps: true });
    await spend(key, 4n * CENT);
    const open = async (worstCaseMicrocents: bigint) =>
      test.store.openRecord(openRecordInput(await createIdentity(test.store, key), { worstCaseMicrocents }));
    expect((await open(6n * CENT + 1n)).outcome).toBe("key_cap_reached");
    expect((await open(6n * CENT)).outcome).toBe("opened");
    expect((await open(1n)).outcome).toBe("key_cap_reached");
    expect((await open(0n)).outcome).toBe("opened");
  });

  it("tells what other requests in flight hold, and lets one in when that is spent for less", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 10 }) }, { strictCaps: true });
    const first = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(first, { worstCaseMicrocents: 7n * CENT }));
    const second = openRecordInput(await createIdentity(test.store, key), { worstCaseMicrocents: 4n * CENT });
    expect(await test.store.openRecord(second)).toEqual({
      outcome: "key_cap_reached",
      figures: { ...OF_MONTH, spentMicrocents: 0n, heldMicrocents: 7n * CENT, capCents: 10 },
    });
    await test.store.charge(chargeInput(first, 1, 2n * CENT, { final: FINAL }));
    expect((await test.store.openRecord(second)).outcome).toBe("opened");
  });

  it("gives back what a charge turned into spend, and the rest at the end", async () => {
    const key = await createTestKey(test.store, {}, { strictCaps: true });
    const identity = await createIdentity(test.store, key);
    await test.store.openRecord(openRecordInput(identity, { worstCaseMicrocents: 100n }));
    const held = () => readHeld(test.client, identity, `key:${key.keyId}`);
    await test.store.charge(chargeInput(identity, 1, 30n));
    expect(await held()).toBe(70n);
    await test.store.charge(chargeInput(identity, 2, 20n));
    expect(await held()).toBe(80n);
    await test.store.charge(chargeInput(identity, 3, 130n));
    expect(await held()).toBe(0n);
    await test.store.charge(chargeInput(identity, 4, 50n, { final: FINAL }));
    expect(await held()).toBe(0n);
    expect(await readHeld(test.client, identity, "organization")).toBe(0n);
  });

  it("counts the holds of all keys against the organization's cap", async () => {
    const first = await createTestKey(test.store, {}, { strictCaps: true, limits: monthLimits({ cap: 10 }) });
    const second = await addTestKey(test.store, first.organizationId);
    const worstCaseMicrocents = 6n * CENT;
    await test.store.openRecord(
      openRecordInput(await createIdentity(test.store, first), { worstCaseMicrocents }),
    );
    const refused = await test.store.openRecord(
      openRecordInput(await createIdentity(test.store, second), { worstCaseMicrocents }),
    );
    expect(refused).toMatchObject({
      outcome: "organization_cap_reached",
      figures: { heldMicrocents: worstCaseMicrocents },
    });
  });

  it("names of the month's two caps the one that leaves less room, of two that leave as much the key's", async () => {
    const refusedBy = async (keyCap: number, organizationCap: number) => {
      const organization = { strictCaps: true, limits: monthLimits({ cap: organizationCap }) };
      const key = await createTestKey(test.store, { limits: monthLimits({ cap: keyCap }) }, organization);
      const input = openRecordInput(await createIdentity(test.store, key), {
        worstCaseMicrocents: 9n * CENT,
      });
      return (await test.store.openRecord(input)).outcome;
    };
    expect(await refusedBy(6, 5)).toBe("organization_cap_reached");
    expect(await refusedBy(5, 6)).toBe("key_cap_reached");
    expect(await refusedBy(5, 5)).toBe("key_cap_reached");
    expect(await refusedBy(6, 10)).toBe("key_cap_reached");
  });

  it.each([100_000_000, 9_000_000_000])(
    "never lets 1,000 callers over a cap of %s cents",
    async (hardCapCents) => {
      const key = await createTestKey(
        test.store,
        { limits: monthLimits({ cap: hardCapCents }) },
        { strictCaps: true },
      );
      const cap = BigInt(hardCapCents) * CENT;
      const worstCaseMicrocents = cap / 7n + 1n;
      const outcomes = await Promise.all(
        Array.from({ length: 1000 }, async () => {
          const identity = await createIdentity(test.store, key);
          return test.store.openRecord(openRecordInput(identity, { worstCaseMicrocents }));
        }),
      );
      expect(outcomes.filter(({ outcome }) => outcome === "opened")).toHaveLength(6);
      const identity = await createIdentity(test.store, key);
      expect(await readHeld(test.client, identity, `key:${key.keyId}`)).toBe(6n * worstCaseMicrocents);
    },
  );

  it("keeps spent and held together under the cap at every moment of 500 requests that come and go", async () => {
    const key = await createTestKey(test.store, { limits: monthLimits({ cap: 10 }) }, { strictCaps: true });
    const cap = 10n * CENT;
    const first = await createIdentity(test.store, key);
    const seen: bigint[] = [];
    const outcomes = await Promise.all(
      Array.from({ length: 500 }, async (_, index) => {
        const identity = { ...first, requestId: `${first.requestId}-${index}` };
        const worst = BigInt(1 + ((index * 7919) % 400_000));
        const { outcome } = await test.store.openRecord(
          openRecordInput(identity, { worstCaseMicrocents: worst }),
        );
        const spend = await test.client.hmget(
          `igw:{${key.organizationId}}:spend:${first.month}`,
          "organization",
          "held:organization",
        );
        seen.push(spend.reduce((sum, amount) => sum + BigInt(amount ?? "0"), 0n));
        if (outcome !== "opened") return outcome;
        await test.store.charge(chargeInput(identity, 1, worst / 2n));
        await test.store.charge(chargeInput(identity, 2, worst, { final: FINAL }));
        return outcome;
      }),
    );
    expect(new Set(outcomes)).toEqual(new Set(["opened", "key_cap_reached"]));
    expect(seen.filter((amount) => amount > cap)).toEqual([]);
    const { organizationMicrocents, organizationHeldMicrocents } = await test.store.readSpend(
      key.organizationId,
      null,
    );
    expect(organizationMicrocents).toBeLessThanOrEqual(cap);
    expect(organizationHeldMicrocents).toBe(0n);
  });
});

describe("a slot among the concurrent requests", () => {
  const open = async (key: TestKey) => {
    const identity = await createIdentity(test.store, key);
    return { identity, result: await test.store.openRecord(openRecordInput(identity)) };
  };

  it("is taken by the record and given back by the final charge", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 1 });
    const { identity } = await open(key);
    const refused = { outcome: "concurrency_limited", limit: 1 };
    expect((await open(key)).result).toEqual(refused);
    await test.store.charge(chargeInput(identity, 1, 1n));
    expect((await open(key)).result).toEqual(refused);
    await test.store.charge(chargeInput(identity, 2, 2n, { final: FINAL }));
    expect((await open(key)).result).toEqual({ outcome: "opened" });
  });

  it("goes to exactly as many as there are when 1,000 come at once", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 17 });
    const opened = await Promise.all(Array.from({ length: 1000 }, () => open(key)));
    expect(opened.filter(({ result }) => result.outcome === "opened")).toHaveLength(17);
  });

  it("is not given to who is refused, and nothing is held for them", async () => {
    const key = await createTestKey(
      test.store,
      { maxConcurrentRequests: 1, limits: monthLimits({ cap: 10 }) },
      { strictCaps: true },
    );
    const identity = await createIdentity(test.store, key);
    const tooLarge = openRecordInput(identity, { worstCaseMicrocents: 11n * CENT });
    expect((await test.store.openRecord(tooLarge)).outcome).toBe("key_cap_reached");
    const first = openRecordInput(identity, { worstCaseMicrocents: 4n * CENT });
    expect((await test.store.openRecord(first)).outcome).toBe("opened");
    const second = { ...first, requestId: `${identity.requestId}-2` };
    expect((await test.store.openRecord(second)).outcome).toBe("concurrency_limited");
    expect(await readHeld(test.client, identity, "organization")).toBe(4n * CENT);
    expect(await test.client.exists(requestKey(key.organizationId, second.requestId))).toBe(0);
  });

  it("is named before a cap that is reached as well", async () => {
    const key = await createTestKey(test.store, {
      maxConcurrentRequests: 1,
      limits: monthLimits({ cap: 10 }),
    });
    await open(key);
    await spend(key, 10n * CENT);
    expect((await open(key)).result.outcome).toBe("concurrency_limited");
  });

  it("counts what went upstream before the limit was set or lowered", async () => {
    const key = await createTestKey(test.store);
    const first = await open(key);
    const second = await open(key);
    await test.store.changeKey(key, { maxConcurrentRequests: 1 }, null);
    expect((await open(key)).result.outcome).toBe("concurrency_limited");
    await test.store.charge(chargeInput(first.identity, 1, 1n, { final: FINAL }));
    expect((await open(key)).result.outcome).toBe("concurrency_limited");
    await test.store.charge(chargeInput(second.identity, 1, 1n, { final: FINAL }));
    expect((await open(key)).result.outcome).toBe("opened");
  });

  it("is taken by a charge that comes without a record: a request of the grace period still runs", async () => {
    const key = await createTestKey(test.store, { maxConcurrentRequests: 1 });
    const identity = await createIdentity(test.store, key);
    await test.store.charge(chargeInput(identity, 1, 1n));
    expect((await open(key)).result.outcome).toBe("concurrency_limited");
    await test.store.charge(chargeInput(identity, 2, 1n, { final: FINAL }));
    expect((await open(key)).result.outcome).toBe("opened");
  });
});
