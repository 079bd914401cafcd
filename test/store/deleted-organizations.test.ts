import { describe, expect, it } from "vitest";
import {
  alertOutboxKey,
  DELETED_ORGANIZATIONS_KEY,
  organizationKey,
  ORGANIZATIONS_KEY,
  recentKey,
} from "../../src/data-path/store/redis/keys.ts";
import {
  addTestKey,
  admitInput,
  chargeInput,
  createHashedKey,
  createIdentity,
  createTestKey,
  createTestOrganization,
  FINAL,
  openRecordInput,
  KEY,
  ORGANIZATION,
  withTestStore,
  readExpiry,
} from "./fixture.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

const ALL = { limit: 100, after: null };

describe("an organization that was deleted", () => {
  it("has no key that is admitted any more, and none of its look-ups and tokens", async () => {
    const key = await createTestKey(test.store);
    const { organizationId } = key;
    const hashed = createHashedKey();
    await test.store.createToken(organizationId, { name: "t", role: "admin" }, hashed);
    const result = await test.store.deleteOrganization(organizationId, 1);
    expect(result).toMatchObject({ outcome: "changed", after: { version: 2 } });
    expect((await test.store.admit(admitInput(key))).decision).toBe("unknown_key");
    expect(await test.store.lookUpKey(key.hash)).toBeNull();
    expect(await test.store.findToken(hashed.hash)).toBeNull();
    expect((await test.store.listKeys(organizationId, ALL)).items).toEqual([]);
  });

  it("admits nobody from the step on that writes its record, whatever of the others is made", async () => {
    const key = await createTestKey(test.store);
    await test.client.hset(organizationKey(key.organizationId), "deleted_at", "1");
    expect((await test.store.admit(admitInput(key))).decision).toBe("unknown_key");
    expect(await test.store.createKey(key.organizationId, KEY, createHashedKey())).toBeNull();
    const made = await test.store.createToken(
      key.organizationId,
      { name: "t", role: "admin" },
      createHashedKey(),
    );
    expect(made).toBeNull();
  });

  it("is finished by the repair where a crash came behind its record", async () => {
    const key = await createTestKey(test.store);
    const { organizationId } = key;
    await test.client.hset(organizationKey(organizationId), "deleted_at", "1");
    await test.store.repair();
    expect(await test.store.lookUpKey(key.hash)).toBeNull();
    expect(await test.client.zscore(ORGANIZATIONS_KEY, organizationId)).toBeNull();
    expect((await test.store.listDeletedOrganizations(ALL)).items.map(({ id }) => id)).toContain(
      organizationId,
    );
  });

  it("cannot be changed or deleted again, and its name is another's at once", async () => {
    const { id, name } = await createTestOrganization(test.store);
    await test.store.deleteOrganization(id, null);
    expect(await test.store.deleteOrganization(id, null)).toEqual({ outcome: "not_found" });
    for (const changes of [{ limits: monthLimits({ budget: 5 }) }, { name: `${name} 2` }]) {
      expect(await test.store.changeOrganization(id, changes, null)).toEqual({ outcome: "not_found" });
    }
    expect((await test.store.createOrganization({ ...ORGANIZATION, name })).outcome).toBe("created");
  });

  it("is not deleted when somebody else has changed it since", async () => {
    const { id } = await createTestOrganization(test.store);
    expect(await test.store.deleteOrganization(id, 9)).toMatchObject({ outcome: "version_conflict" });
    expect((await test.store.getOrganization(id))?.deletedAtMs).toBeNull();
  });

  it("is on the list of deleted ones alone, and among those that the reaper looks through", async () => {
    const ids = await Promise.all(
      Array.from({ length: 3 }, async () => (await createTestOrganization(test.store)).id),
    );
    for (const id of ids) await test.store.deleteOrganization(id, null);
    const listed: string[] = [];
    let after: string | null = null;
    do {
      const page = await test.store.listDeletedOrganizations({ limit: 2, after });
      listed.push(...page.items.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    expect(listed).toEqual(listed.toSorted());
    expect(listed).toEqual(expect.arrayContaining(ids));
    expect(await test.store.listOrganizationIds()).toEqual(expect.arrayContaining(ids));
    const there = (await test.store.listOrganizations({ limit: 100, after: null })).items;
    expect(there.filter(({ id }) => ids.includes(id))).toEqual([]);
  });

  it("is charged for what was in flight, and what it has spent stays until its usage goes", async () => {
    const key = await createTestKey(test.store);
    const { organizationId } = key;
    const [settled, inFlight] = [
      await createIdentity(test.store, key),
      await createIdentity(test.store, key),
    ];
    await test.store.charge(chargeInput(settled, 1, 7n, { final: FINAL }));
    await test.store.openRecord(openRecordInput(inFlight));
    await test.store.deleteOrganization(organizationId, null);
    expect((await test.store.charge(chargeInput(inFlight, 1, 5n, { final: FINAL }))).outcome).toBe("applied");
    expect((await test.store.readSpend(organizationId, null)).organizationMicrocents).toBe(12n);
    expect((await test.store.readUsage(organizationId, null)).rows).toMatchObject([{ costMicrocents: 12n }]);
    const expiresAtMs = Number(await test.client.zscore(DELETED_ORGANIZATIONS_KEY, organizationId));
    for (const name of [organizationKey(organizationId), recentKey(organizationId)]) {
      expect(await readExpiry(test.client, name)).toBeCloseTo(expiresAtMs, -1);
    }
  });

  it("fires no alert for what was in flight, owes none, and has no webhook any more", async () => {
    const webhook = { url: "https://example.com", secrets: [{ secret: "whsec_x", expiresAtMs: null }] };
    const notifications = { ...ORGANIZATION.notifications, webhook };
    const key = await createTestKey(test.store, {}, { limits: monthLimits({ budget: 1 }), notifications });
    const { organizationId } = key;
    const [first, last] = [await createIdentity(test.store, key), await createIdentity(test.store, key)];
    await test.store.charge(chargeInput(first, 1, 800_000n, { final: FINAL }));
    await test.store.openRecord(openRecordInput(last));
    expect(await test.client.xlen(alertOutboxKey(organizationId))).toBe(1);
    await test.store.deleteOrganization(organizationId, null);
    expect((await test.store.getOrganization(organizationId))?.notifications.webhook).toBeNull();
    await test.store.charge(chargeInput(last, 1, 900_000n, { final: FINAL }));
    expect(await test.client.exists(alertOutboxKey(organizationId))).toBe(0);
    expect(await test.store.listOutstandingDeliveries(organizationId)).toEqual([]);
  });

  it("loses no key that is made while it is deleted: the key is refused", async () => {
    const { id } = await createTestOrganization(test.store);
    const [made] = await Promise.all([
      Promise.all(Array.from({ length: 50 }, () => addTestKey(test.store, id).catch(() => null))),
      test.store.deleteOrganization(id, null),
    ]);
    const keys = made.filter((key) => key !== null);
    const decisions = await Promise.all(
      keys.map(async (key) => (await test.store.admit(admitInput(key))).decision),
    );
    expect(decisions.filter((decision) => decision !== "unknown_key")).toEqual([]);
  });
});
