import { describe, expect, it } from "vitest";
import { openRequestsKey, inflightKey, requestKey } from "../../src/data-path/store/redis/keys.ts";
import {
  admitInput,
  chargeInput,
  createIdentity,
  createRequest,
  createTestKey,
  FINAL,
  openRecordInput,
  spentBy,
  withTestStore,
  readExpiry,
} from "./fixture.ts";
import { NO_TOKENS } from "../../src/shared/usage/token-usage.ts";

const test = withTestStore();

/** A request's only charge is sent in two ways, which come to the same. */
const WAYS = [
  { way: "as any other", changes: {} },
  { way: "as a single charge", changes: { isSingleCharge: true } },
] as const;

describe("charge", () => {
  it("sets the total, up and down, and moves the usage row by the same differences", async () => {
    const identity = await createRequest(test.store);
    await test.store.openRecord(openRecordInput(identity));
    await test.store.charge(chargeInput(identity, 1, 500n, { estimated: true }));
    expect(await spentBy(test.store, identity)).toBe(500n);
    const further = { cacheWriteTokens: 4, cacheWrite1hTokens: 3, inputAudioTokens: 1, outputAudioTokens: 1 };
    const tokens = {
      ...NO_TOKENS,
      inputTokens: 11,
      cachedInputTokens: 5,
      outputTokens: 3,
      reasoningTokens: 2,
      ...further,
    };
    await test.store.charge(chargeInput(identity, 2, 200n, { tokens, toolMicrocents: 60n, final: FINAL }));
    expect(await spentBy(test.store, identity)).toBe(200n);
    const { rows } = await test.store.readUsage(identity.organizationId, identity.month);
    expect(rows).toEqual([
      {
        day: identity.day,
        tags: "",
        keyId: identity.keyId,
        owners: "",
        model: identity.model,
        requests: 1,
        inputTokens: 11,
        cachedInputTokens: 5,
        outputTokens: 3,
        reasoningTokens: 2,
        cacheWriteTokens: 4,
        cacheWrite1hTokens: 3,
        inputAudioTokens: 1,
        outputAudioTokens: 1,
        estimatedRequests: 0,
        costMicrocents: 200n,
        toolMicrocents: 60n,
      },
    ]);
  });

  it("by another than the owner makes a record only as long as the request is entered", async () => {
    const key = await createTestKey(test.store);
    const admitted = admitInput(key);
    await test.store.admit(admitted);
    const identity = { ...(await createIdentity(test.store, key)), requestId: admitted.requestId };
    const estimate = { totalMicrocents: 70n, tokens: { ...NO_TOKENS, inputTokens: 7 } };
    const changes = { estimate, onlyIfEntered: true } as const;
    expect(await test.store.charge(chargeInput(identity, 0, 0n, changes))).toEqual({ outcome: "applied" });
    expect(await test.store.charge(chargeInput(identity, 0, 0n, changes))).toEqual({ outcome: "repeated" });
    await test.store.charge(chargeInput(identity, 1, 300n, { final: FINAL }));
    expect(await test.store.charge(chargeInput(identity, 0, 0n, changes))).toEqual({ outcome: "repeated" });
    await test.store.deleteRecords(identity.organizationId, [identity.requestId]);
    expect(await test.store.charge(chargeInput(identity, 0, 0n, changes))).toEqual({ outcome: "ended" });
    expect(await spentBy(test.store, identity)).toBe(300n);
    expect(await test.store.listOverdue(identity.organizationId, 10)).toEqual([]);
  });

  it("takes an entered request's slot, and what will not go upstream leaves it", async () => {
    const key = await createTestKey(test.store);
    const [charged, left] = [admitInput(key), admitInput(key)];
    await Promise.all([test.store.admit(charged), test.store.admit(left)]);
    expect(await test.client.zcard(openRequestsKey(key.organizationId))).toBe(2);
    const identity = { ...(await createIdentity(test.store, key)), requestId: charged.requestId };
    await test.store.charge(chargeInput(identity, 1, 300n, { final: FINAL }));
    await test.store.removeAbandoned(key.organizationId, [left]);
    expect(await test.client.zcard(openRequestsKey(key.organizationId))).toBe(0);
    expect(await test.client.zcard(inflightKey(key.organizationId, key.keyId))).toBe(0);
  });

  it("ignores what is repeated, late or reordered", async () => {
    const identity = await createRequest(test.store);
    const last = chargeInput(identity, 3, 300n, { final: FINAL });
    expect(await test.store.charge(last)).toEqual({ outcome: "applied" });
    for (const late of [last, chargeInput(identity, 3, 999n), chargeInput(identity, 1, 100n)]) {
      expect(await test.store.charge(late)).toEqual({ outcome: "repeated" });
    }
    expect(await spentBy(test.store, identity)).toBe(300n);
  });

  it.each(WAYS)(
    "$way: replaces the first and final charge in all figures and on the list, as any other",
    async ({ changes }) => {
      const identity = await createRequest(test.store);
      const further = {
        cacheWriteTokens: 4,
        cacheWrite1hTokens: 3,
        inputAudioTokens: 2,
        outputAudioTokens: 1,
      };
      const tokens = {
        ...NO_TOKENS,
        inputTokens: 11,
        cachedInputTokens: 5,
        outputTokens: 3,
        reasoningTokens: 2,
        ...further,
      };
      await test.store.charge(
        chargeInput(identity, 1, 500n, { tokens, estimated: true, final: FINAL, ...changes }),
      );
      const fewer = { ...NO_TOKENS, inputTokens: 9, outputTokens: 3 };
      const second = chargeInput(identity, 2, 200n, { tokens: fewer, final: FINAL, ...changes });
      for (const outcome of ["applied", "repeated"]) {
        expect(await test.store.charge(second)).toEqual({ outcome });
      }
      expect(await test.store.charge(chargeInput(identity, 3, 300n))).toEqual({ outcome: "applied" });
      expect(await spentBy(test.store, identity)).toBe(300n);
      const { rows } = await test.store.readUsage(identity.organizationId, identity.month);
      const counted = chargeInput(identity, 3, 300n).tokens;
      expect(rows).toMatchObject([
        {
          requests: 1,
          inputTokens: counted.inputTokens,
          cachedInputTokens: counted.cachedInputTokens,
          outputTokens: counted.outputTokens,
          reasoningTokens: counted.reasoningTokens,
          cacheWriteTokens: 0,
          cacheWrite1hTokens: 0,
          inputAudioTokens: 0,
          outputAudioTokens: 0,
          estimatedRequests: 0,
          costMicrocents: 300n,
        },
      ]);
      const listed = await test.store.listRequests(identity.organizationId, { limit: 5, after: null });
      expect(listed.items.map(({ costMicrocents }) => costMicrocents)).toEqual([200n]);
    },
  );

  it.each(WAYS)(
    "$way: leaves a record by which a repeat, a late record and a renewal are known",
    async ({ changes }) => {
      const identity = await createRequest(test.store);
      await test.store.charge(chargeInput(identity, 3, 300n, { final: FINAL, ...changes }));
      const { organizationId, requestId, keyId, day, model } = identity;
      const fields = ["state", "final", "seq", "key", "day", "model"];
      const record = await test.client.hmget(requestKey(organizationId, requestId), ...fields);
      expect(record).toEqual(["closed", "1", "3", keyId, day, model]);
      expect(await test.store.openRecord(openRecordInput(identity))).toMatchObject({ outcome: "exists" });
      expect(await test.store.renew(organizationId, [identity])).toEqual(["ended"]);
      const other = chargeInput({ ...identity, model: "acme/other" }, 3, 5n, { final: FINAL, ...changes });
      await expect(test.store.charge(other)).rejects.toThrow("MISMATCH");
    },
  );

  it.each(WAYS)("$way: counts once when 1,000 callers repeat it at once", async ({ changes }) => {
    const identity = await createRequest(test.store);
    const results = await Promise.all(
      Array.from({ length: 1000 }, () =>
        test.store.charge(chargeInput(identity, 1, 7n, { final: FINAL, ...changes })),
      ),
    );
    expect(results.filter(({ outcome }) => outcome === "applied")).toHaveLength(1);
    expect(await spentBy(test.store, identity)).toBe(7n);
  });

  it.each(WAYS)("$way: adds up over 1,000 requests at once", async ({ changes }) => {
    const first = await createRequest(test.store);
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        test.store.charge(
          chargeInput({ ...first, requestId: `${first.requestId}-${index}` }, 1, BigInt(index), {
            final: FINAL,
            ...changes,
          }),
        ),
      ),
    );
    expect(await spentBy(test.store, first)).toBe(499_500n);
  });

  it("counts without a record, and leaves a record that another closes when its owner dies", async () => {
    const identity = await createRequest(test.store);
    await test.store.charge(chargeInput(identity, 1, 40n));
    expect(await spentBy(test.store, identity)).toBe(40n);
    expect(await test.client.zcard(`igw:{${identity.organizationId}}:open-requests`)).toBe(1);
    await test.store.charge(chargeInput(identity, 2, 50n, { final: FINAL }));
    expect(await spentBy(test.store, identity)).toBe(50n);
    expect(await test.client.zcard(`igw:{${identity.organizationId}}:open-requests`)).toBe(0);
  });

  it("counts the request that never reached an upstream neither as spend nor as usage", async () => {
    const identity = await createRequest(test.store);
    const tokens = NO_TOKENS;
    await test.store.openRecord(openRecordInput(identity, { floorMicrocents: 9n, floorInputTokens: 9 }));
    await test.store.charge(
      chargeInput(identity, 1, 0n, { tokens, requests: 0, final: { ...FINAL, status: 503 } }),
    );
    expect(await spentBy(test.store, identity)).toBe(0n);
    expect((await test.store.readUsage(identity.organizationId, null)).rows).toEqual([]);
  });

  it.each([10n ** 14n - 1n, 10n ** 14n, 10n ** 14n + 1n, 2n ** 53n - 1n])(
    "is exact at %s microcents",
    async (total) => {
      const identity = await createRequest(test.store);
      await test.store.charge(chargeInput(identity, 1, total));
      expect(await spentBy(test.store, identity)).toBe(total);
      await test.store.charge(chargeInput(identity, 2, total - 1n));
      expect(await spentBy(test.store, identity)).toBe(total - 1n);
      await test.store.charge(chargeInput(identity, 3, 1n, { final: FINAL }));
      expect(await spentBy(test.store, identity)).toBe(1n);
      const { rows } = await test.store.readUsage(identity.organizationId, identity.month);
      expect(rows.map(({ costMicrocents }) => costMicrocents)).toEqual([1n]);
    },
  );

  it("refuses an amount that doubles do not hold, or that is negative", async () => {
    const identity = await createRequest(test.store);
    await expect(test.store.charge(chargeInput(identity, 1, 2n ** 53n))).rejects.toThrow(RangeError);
    await expect(test.store.charge(chargeInput(identity, 1, -1n))).rejects.toThrow(RangeError);
  });

  it.each(["keyId", "month", "day", "model"] as const)(
    "refuses another %s than the record's",
    async (field) => {
      const identity = await createRequest(test.store);
      await test.store.openRecord(openRecordInput(identity));
      const other = { keyId: "key_other", month: "2020-01", day: "2020-01-01", model: "acme/other" };
      const charge = chargeInput({ ...identity, [field]: other[field] }, 1, 5n);
      await expect(test.store.charge(charge)).rejects.toThrow("MISMATCH");
      expect(await spentBy(test.store, identity)).toBe(0n);
    },
  );

  it.each(WAYS)(
    "$way: keeps figures until their month's retention ends, and a closed record for seven days",
    async ({ changes }) => {
      const identity = { ...(await createRequest(test.store)), month: "2027-12", day: "2027-12-31" };
      await test.store.charge(chargeInput(identity, 1, 5n, { final: FINAL, ...changes }));
      const key = (name: string) => `igw:{${identity.organizationId}}:${name}`;
      const expected = Date.UTC(2029, 1, 1);
      expect(await readExpiry(test.client, key("spend:2027-12"))).toBeCloseTo(expected, -1);
      expect(await readExpiry(test.client, key("usage:2027-12-31"))).toBeCloseTo(expected, -1);
      const ttl = await test.client.pttl(key(`request:${identity.requestId}`));
      expect(ttl).toBeGreaterThan(6.9 * 86_400_000);
      expect(ttl).toBeLessThanOrEqual(7 * 86_400_000);
    },
  );
});

describe("forget", () => {
  it("deletes closed records and leaves open ones", async () => {
    const open = await createRequest(test.store);
    const closed = { ...open, requestId: `${open.requestId}-closed` };
    await test.store.openRecord(openRecordInput(open));
    await test.store.charge(chargeInput(closed, 1, 5n, { final: FINAL }));
    const ids = [open.requestId, closed.requestId, "req_none"];
    expect(await test.store.deleteRecords(open.organizationId, ids)).toBe(1);
    expect(await test.client.exists(`igw:{${open.organizationId}}:request:${closed.requestId}`)).toBe(0);
    expect(await test.client.exists(`igw:{${open.organizationId}}:request:${open.requestId}`)).toBe(1);
    expect(await spentBy(test.store, open)).toBe(5n);
  });

  it("takes more than one batch", async () => {
    const first = await createRequest(test.store);
    const ids = Array.from({ length: 1_050 }, (_, index) => `${first.requestId}-${index}`);
    await Promise.all(
      ids.map((requestId) =>
        test.store.charge(chargeInput({ ...first, requestId }, 1, 1n, { final: FINAL })),
      ),
    );
    expect(await test.store.deleteRecords(first.organizationId, ids)).toBe(1_050);
  });
});
