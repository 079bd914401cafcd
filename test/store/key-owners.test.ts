import { describe, expect, it } from "vitest";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import { keyRecordKey, ownerKeysKey } from "../../src/data-path/store/redis/keys.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  admitInput,
  createHashedKey,
  createTestOrganization,
  KEY,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();

const ALL = { limit: 100, after: null };

async function createOrganization(): Promise<string> {
  return (await createTestOrganization(test.store)).id;
}

const addUser = (organizationId: string, groupId: string | null = null): Promise<string> =>
  addTestUser(test.store, organizationId, { groupId });
const addGroup = (organizationId: string): Promise<string> => addTestGroup(test.store, organizationId);

async function addKey(organizationId: string, settings: Partial<KeySettings>): Promise<string> {
  return (await addTestKey(test.store, organizationId, settings)).keyId;
}

/** The keys of these owners, as the store lists them. */
async function listIds(organizationId: string, owners: { userId?: string; groupId?: string }) {
  const { items } = await test.store.listKeys(organizationId, ALL, owners);
  return items.map(({ id }) => id);
}

describe("a key of a user and a group", () => {
  it("has both in its record, and is listed with either, with both, and nowhere else", async () => {
    const id = await createOrganization();
    const [userId, otherUser, groupId] = [await addUser(id), await addUser(id), await addGroup(id)];
    const both = await addKey(id, { userId, groupId });
    const ofUser = await addKey(id, { userId });
    const ofGroup = await addKey(id, { groupId });
    const nobodys = await addKey(id, {});
    expect(await test.client.hmget(keyRecordKey(id, both), "user_id", "group_id")).toEqual([userId, groupId]);
    expect(await test.client.hmget(keyRecordKey(id, nobodys), "user_id", "group_id")).toEqual(["", ""]);
    expect(await listIds(id, { userId })).toEqual([both, ofUser].toSorted());
    expect(await listIds(id, { groupId })).toEqual([both, ofGroup].toSorted());
    expect(await listIds(id, { userId, groupId })).toEqual([both]);
    expect(await listIds(id, { userId: otherUser })).toEqual([]);
    expect(await listIds(id, {})).toEqual([both, ofUser, ofGroup, nobodys].toSorted());
    expect(await test.store.countOwned(id, "user", [userId, otherUser])).toEqual([
      { keys: 2, users: 0 },
      { keys: 0, users: 0 },
    ]);
    expect(await test.store.countOwned(id, "group", [groupId])).toEqual([{ keys: 2, users: 0 }]);
  });

  it("is not made or moved where one of them is not there, was deleted or is another organization's", async () => {
    const id = await createOrganization();
    const other = await createOrganization();
    const gone = await addUser(id);
    await test.store.deleteUser(id, gone, "keep", null);
    const goneGroup = await addGroup(id);
    await test.store.deleteGroup(id, goneGroup, "keep", null);
    const userId = await addUser(id);
    const key = await addTestKey(test.store, id, { userId });
    const wrong = [
      { kind: "user", owners: { userId: gone } },
      { kind: "user", owners: { userId: createId("user", 1) } },
      { kind: "user", owners: { userId: await addUser(other) } },
      { kind: "user", owners: { userId: "user_1} evil" } },
      { kind: "group", owners: { userId, groupId: goneGroup } },
      { kind: "group", owners: { groupId: await addGroup(other) } },
    ];
    for (const { kind, owners } of wrong) {
      const settings = { ...KEY, ...owners };
      const refused = { name: "MissingOwnerError", kind };
      await expect(test.store.createKey(id, settings, createHashedKey())).rejects.toMatchObject(refused);
      await expect(test.store.changeKey(key, owners, null)).rejects.toMatchObject(refused);
    }
    expect(await listIds(id, {})).toEqual([key.keyId]);
    expect(await listIds(id, { userId })).toEqual([key.keyId]);
  });

  it("moves from the lists of the one to those of the next, and its other settings stay", async () => {
    const id = await createOrganization();
    const [ann, bob, group] = [await addUser(id), await addUser(id), await addGroup(id)];
    const key = await addTestKey(test.store, id, { userId: ann, note: "stays" });
    const moved = await test.store.changeKey(key, { userId: bob, groupId: group }, 1);
    expect(moved).toMatchObject({
      outcome: "changed",
      before: { userId: ann, groupId: null },
      after: { userId: bob, groupId: group, note: "stays", version: 2 },
    });
    expect(await test.client.exists(ownerKeysKey(id, "user", ann))).toBe(0);
    expect(await listIds(id, { userId: bob, groupId: group })).toEqual([key.keyId]);
    expect(await test.store.changeKey(key, { userId: ann }, 1)).toMatchObject({
      outcome: "version_conflict",
    });
    await test.store.changeKey(key, { userId: null, groupId: null }, null);
    expect(await test.client.exists(ownerKeysKey(id, "user", bob), ownerKeysKey(id, "group", group))).toBe(0);
    expect(await test.store.getKey(key)).toMatchObject({ userId: null, groupId: null, note: "stays" });
  });

  it("is on the list of one user alone, whoever moves it at once", async () => {
    const id = await createOrganization();
    const users = [await addUser(id), await addUser(id), await addUser(id), await addUser(id)];
    const key = await addTestKey(test.store, id);
    await Promise.all(users.map((userId) => test.store.changeKey(key, { userId }, null)));
    const owner = (await test.store.getKey(key))?.userId ?? "";
    const counts = await test.store.countOwned(id, "user", users);
    expect(counts.map(({ keys }) => keys)).toEqual(users.map((user) => (user === owner ? 1 : 0)));
  });

  it("leaves the lists when it is deleted, with all others too", async () => {
    const id = await createOrganization();
    const [userId, groupId] = [await addUser(id), await addGroup(id)];
    const key = await addTestKey(test.store, id, { userId, groupId });
    await addKey(id, { userId });
    await test.store.deleteKey(key);
    expect(await test.client.zcard(ownerKeysKey(id, "user", userId))).toBe(1);
    expect(await test.client.exists(ownerKeysKey(id, "group", groupId))).toBe(0);
    await test.store.revokeAllKeys(id);
    expect(await test.client.exists(ownerKeysKey(id, "user", userId))).toBe(0);
  });

  it("is not deleted as another version than was expected", async () => {
    const key = await addTestKey(test.store, await createOrganization());
    expect(await test.store.deleteKey(key, undefined, 9)).toMatchObject({ outcome: "version_conflict" });
    expect(await test.store.deleteKey(key, undefined, 1)).toMatchObject({ outcome: "changed" });
  });
});

describe("a user or group that is deleted", () => {
  it("leaves its keys, which are admitted as ever", async () => {
    const id = await createOrganization();
    const [userId, groupId] = [await addUser(id), await addGroup(id)];
    const key = await addTestKey(test.store, id, { userId, groupId });
    expect(await test.store.deleteUser(id, userId, "keep", null)).toMatchObject({ outcome: "changed" });
    expect(await test.store.deleteGroup(id, groupId, "keep", null)).toMatchObject({ outcome: "changed" });
    expect((await test.store.admit(admitInput(key))).decision).toBe("admitted");
    expect(await listIds(id, {})).toEqual([key.keyId]);
    const next = await addUser(id);
    await test.store.changeKey(key, { userId: next }, null);
    expect(await listIds(id, { userId: next })).toEqual([key.keyId]);
  });

  it("stays as long as it must have no keys and has some", async () => {
    const id = await createOrganization();
    const userId = await addUser(id);
    const key = await addTestKey(test.store, id, { userId });
    expect(await test.store.deleteUser(id, userId, "none", null)).toEqual({ outcome: "has_keys" });
    expect((await test.store.getUser(id, userId))?.deletedAtMs).toBeNull();
    await test.store.deleteKey(key);
    expect(await test.store.deleteUser(id, userId, "none", null)).toMatchObject({ outcome: "changed" });
  });

  it("has all its keys deleted and nobody else's, also those that are on its list by mistake", async () => {
    const id = await createOrganization();
    const [ann, bob] = [await addUser(id), await addUser(id)];
    const [first, second] = [await addKey(id, { userId: ann }), await addKey(id, { userId: ann })];
    const bobs = await addKey(id, { userId: bob });
    const old = await addTestKey(test.store, id);
    await test.store.deleteKey(old);
    // As a key is left that was moved while it was deleted, and by a crash one that is another's.
    await test.client.zadd(ownerKeysKey(id, "user", ann), "0", bobs, "0", old.keyId);
    const deleted = await test.store.deleteKeysOf(id, "user", ann);
    expect(deleted.map((record) => record.id).toSorted()).toEqual([first, second].toSorted());
    expect(await listIds(id, {})).toEqual([bobs]);
    expect(await test.client.exists(ownerKeysKey(id, "user", ann))).toBe(0);
    expect(await test.store.deleteKeysOf(id, "user", ann)).toEqual([]);
  });

  it("gets no key that is made while it is deleted with its keys", async () => {
    const id = await createOrganization();
    const userId = await addUser(id);
    const making = Array.from({ length: 20 }, () => addKey(id, { userId }).catch((error: unknown) => error));
    const removing = (async () => {
      for (;;) {
        await test.store.deleteKeysOf(id, "user", userId);
        const { outcome } = await test.store.deleteUser(id, userId, "none", null);
        if (outcome !== "has_keys") return outcome;
      }
    })();
    expect(await removing).toBe("changed");
    const failures = (await Promise.all(making)).filter((made) => typeof made !== "string");
    const missing = { name: "MissingOwnerError", kind: "user" };
    expect(failures).toMatchObject(failures.map(() => missing));
    expect(await listIds(id, {})).toEqual([]);
    await expect(addKey(id, { userId })).rejects.toMatchObject({ kind: "user" });
  });
});
