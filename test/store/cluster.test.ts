import { describe, expect, it } from "vitest";
import { waitFor } from "../support/wait.ts";
import {
  addTestKey,
  admitInput,
  admitKnown,
  chargeInput,
  createHashedKey,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  openClusterStore,
  createTestOrganization,
  withTestStore,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore(openClusterStore);

describe("the store on a cluster of three", () => {
  it("runs every script of an organization on one node, wherever that is", async () => {
    const { store } = test;
    for (let count = 0; count < 12; count += 1) {
      const key = await createTestKey(
        store,
        { maxConcurrentRequests: 1 },
        { strictCaps: true, limits: monthLimits({ cap: 100 }) },
      );
      await addTestKey(store, key.organizationId);
      expect(await store.lookUpKey(key.hash)).toEqual({
        organizationId: key.organizationId,
        keyId: key.keyId,
      });
      const input = admitInput(key);
      expect((await store.admit(input)).decision).toBe("admitted");
      const identity = { ...(await createIdentity(store, key)), requestId: input.requestId };
      const opened = await store.openRecord(openRecordInput(identity, { worstCaseMicrocents: 9n }));
      expect(opened.outcome).toBe("opened");
      const second = openRecordInput(await createIdentity(store, key), { worstCaseMicrocents: 9n });
      expect((await store.openRecord(second)).outcome).toBe("concurrency_limited");
      await store.charge(chargeInput(identity, 1, 3n));
      expect(await store.renew(key.organizationId, [identity])).toEqual(["renewed"]);
      expect(await store.listOverdue(key.organizationId, 10)).toEqual([]);
      const overdue = { ...identity, record: identity };
      expect(await store.close(overdue)).toBe("not_due");
      await store.charge(chargeInput(identity, 2, 5n, { final: FINAL }));
      expect(await store.deleteRecords(key.organizationId, [identity.requestId])).toBe(1);
      await store.correct({ ...key, correctionId: "corr_1", amountMicrocents: 2n });
      const spend = await store.readSpend(key.organizationId, null);
      expect([spend.organizationMicrocents, spend.organizationHeldMicrocents]).toEqual([7n, 0n]);
      expect((await store.readUsage(key.organizationId, null)).rows).toHaveLength(2);
      const found = await store.findRequest(key.organizationId, identity.requestId, key.keyId);
      expect(found?.costMicrocents).toBe(5n);
      expect((await store.changeKey(key, { requestsPerMinute: 60 }, 1)).outcome).toBe("changed");
      const name = `x ${key.organizationId}`;
      const renamed = await store.changeOrganization(key.organizationId, { name }, 1);
      expect(renamed.outcome).toBe("changed");
      expect((await store.rotateKey(key, createHashedKey(), 1000)).outcome).toBe("changed");
      expect(await store.revokeAllKeys(key.organizationId)).toHaveLength(2);
      expect((await store.deleteOrganization(key.organizationId, null)).outcome).toBe("changed");
    }
  });

  it("lists organizations of all nodes and repairs look-ups of all nodes", async () => {
    const keys = await Promise.all(Array.from({ length: 12 }, () => createTestKey(test.store)));
    await Promise.all(keys.map(({ hash }) => test.client.del(`igw:key:${hash}`)));
    const strangers = Array.from({ length: 12 }, createHashedKey);
    await Promise.all(strangers.map(({ hash }) => test.client.set(`igw:key:${hash}`, "org_x key_x")));
    expect(await test.store.repair()).toEqual({ lookUpsWritten: 12, lookUpsRemoved: 12 });
    const ids = await test.store.listOrganizationIds();
    expect(ids).toEqual(expect.arrayContaining(keys.map(({ organizationId }) => organizationId)));
  });

  it("counts the workers of all hosts, those that died no longer", async () => {
    const { store } = test;
    expect(await store.announceWorker("a", 60_000)).toBe(1);
    expect(await store.announceWorker("b", 60_000)).toBe(2);
    expect(await store.announceWorker("a", 60_000)).toBe(2);
    expect(await store.announceWorker("c", 1)).toBe(3);
    await waitFor("the dead one to be gone", async () => (await store.announceWorker("a", 60_000)) === 2);
    expect(await store.announceWorker("a", 0)).toBe(1);
  });

  it("raises usage and spend together, lowers neither, and waits for requests in flight", async () => {
    const { store } = test;
    const key = await createTestKey(store);
    const identity = await createIdentity(store, key);
    await store.openRecord(openRecordInput(identity));
    await store.charge(chargeInput(identity, 1, 10n));
    const before = (await store.readUsage(key.organizationId, null)).rows[0]!;
    const { day, model } = identity;
    const rows = [{ ...before, costMicrocents: 25n, toolMicrocents: 9n, outputTokens: 1 }];
    const logged = { day, keyId: key.keyId, owners: "", model, rows };
    expect((await store.raiseUsage(key.organizationId, logged, [""])).outcome).toBe("in_flight");
    await store.charge(chargeInput(identity, 2, 10n, { final: FINAL }));
    const settled = (await store.readUsage(key.organizationId, null)).rows[0]!;
    expect(await store.raiseUsage(key.organizationId, logged, [""])).toEqual({
      outcome: "raised",
      addedMicrocents: 15n,
    });
    expect(await store.raiseUsage(key.organizationId, logged, [""])).toEqual({
      outcome: "enough",
      addedMicrocents: 0n,
    });
    const raised = await store.readUsage(key.organizationId, null);
    expect(raised.rows).toEqual([{ ...settled, costMicrocents: 25n, toolMicrocents: 9n }]);
    const spend = await store.readSpend(key.organizationId, null);
    expect([spend.organizationMicrocents, spend.keyMicrocents.get(key.keyId)]).toEqual([25n, 25n]);
  });

  it("lets exactly the capacity through when 1,000 callers of many organizations come at once", async () => {
    const organizations = await Promise.all(
      Array.from({ length: 10 }, () => createTestOrganization(test.store)),
    );
    const keys = await Promise.all(
      organizations.map(({ id }) => addTestKey(test.store, id, { requestsPerMinute: 1 })),
    );
    const admissions = await Promise.all(
      Array.from({ length: 1000 }, (_, index) => admitKnown(test.store, keys[index % keys.length]!)),
    );
    expect(admissions.filter(({ decision }) => decision === "admitted")).toHaveLength(100);
  });
});
