import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { USER_GROUP_SETTINGS } from "../../src/shared/settings/user-group.ts";
import { USER_SETTINGS, type UserSettings } from "../../src/shared/settings/user.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import {
  organizationKey,
  ownerKey,
  ownerListKey,
  ownerTextsKey,
  ownerUsersKey,
} from "../../src/data-path/store/redis/keys.ts";
import type { AuditInput } from "../../src/shared/stored/audit.ts";
import type { GroupRecord, OwnerFilter, UserRecord } from "../../src/shared/stored/owners.ts";
import { createTestOrganization, withTestStore } from "./fixture.ts";

const test = withTestStore();

const USER: UserSettings = { ...defaultsOf(USER_SETTINGS), name: "Ann Smith" };
const GROUP = { ...defaultsOf(USER_GROUP_SETTINGS), name: "Research" };
const FIRST = { limit: 100, after: null };
const ALL: OwnerFilter = { search: null, groupId: null };

async function addUser(organizationId: string, settings: Partial<UserSettings> = {}): Promise<UserRecord> {
  const result = await test.store.createUser(organizationId, { ...USER, ...settings });
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result.owner;
}

async function addGroup(organizationId: string, name = "Research"): Promise<GroupRecord> {
  const result = await test.store.createGroup(organizationId, { ...GROUP, name });
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result.owner;
}

/** The names of all pages, so many a page. */
async function listNames(organizationId: string, filter: Partial<OwnerFilter>, limit = 100) {
  const names: string[] = [];
  for (let after: string | null = null; ;) {
    const page: Awaited<ReturnType<typeof test.store.listUsers>> = await test.store.listUsers(
      organizationId,
      { ...ALL, ...filter },
      { limit, after },
    );
    names.push(...page.items.map(({ name }) => name));
    after = page.next;
    if (after === null) return names;
  }
}

const entry = (name: string): AuditInput => ({
  actor: { type: "operator", id: null, name: null, role: "operator" },
  action: "user.test",
  target: { type: "user", id: "user_1", name },
  before: null,
  after: null,
  requestId: "req_1",
});

describe("users and groups", () => {
  it("are kept as they were made, and known in their organization alone", async () => {
    const { id } = await createTestOrganization(test.store);
    const other = await createTestOrganization(test.store);
    const group = await addGroup(id);
    const user = await addUser(id, { email: "ann@example.com", groupId: group.id, note: "on leave" });
    expect(user).toMatchObject({ organizationId: id, external: null, version: 1, deletedAtMs: null });
    expect(await test.store.getUser(id, user.id)).toEqual(user);
    expect(await test.store.getGroup(id, group.id)).toEqual(group);
    expect(await test.store.getUser(other.id, user.id)).toBeNull();
    expect(await test.store.getGroup(other.id, group.id)).toBeNull();
    expect(await test.store.getUser(id, group.id)).toBeNull();
  });

  it("are not made for an organization that there is not, or that was deleted", async () => {
    const { id } = await createTestOrganization(test.store);
    await test.client.hset(organizationKey(id), "deleted_at", "1");
    for (const unknown of [id, `org_${randomUUID()}`, "org_1} evil"]) {
      expect(await test.store.createUser(unknown, USER)).toEqual({ outcome: "not_found" });
      expect(await test.store.createGroup(unknown, GROUP)).toEqual({ outcome: "not_found" });
    }
  });

  it("may have the names of others", async () => {
    const { id } = await createTestOrganization(test.store);
    const [first, second] = [await addUser(id), await addUser(id)];
    expect(first.id).not.toBe(second.id);
    expect(await listNames(id, {})).toEqual(["Ann Smith", "Ann Smith"]);
  });

  it("are in no group that is not there, was deleted or is another organization's", async () => {
    const { id } = await createTestOrganization(test.store);
    const other = await createTestOrganization(test.store);
    const strange = await addGroup(other.id);
    const gone = await addGroup(id);
    await test.store.deleteGroup(id, gone.id, "keep", null);
    const user = await addUser(id);
    for (const groupId of [strange.id, gone.id, createId("group", 1), "group_1} evil"]) {
      expect(await test.store.createUser(id, { ...USER, groupId })).toEqual({ outcome: "group_missing" });
      expect(await test.store.changeUser(id, user.id, { groupId }, null)).toEqual({
        outcome: "group_missing",
      });
    }
    expect(await test.store.getUser(id, user.id)).toEqual(user);
  });

  it("have their entry in the audit log exactly when they are changed", async () => {
    const { id } = await createTestOrganization(test.store);
    const made = await test.store.createUser(id, USER, () => entry("made"));
    const userId = made.outcome === "created" ? made.owner.id : "";
    await test.store.changeUser(id, userId, { name: "Bob" }, 9, entry("never"));
    await test.store.changeUser(id, userId, { groupId: createId("group", 1) }, null, entry("never"));
    await test.store.changeUser(id, userId, { name: "Bob" }, 1, entry("changed"));
    await test.store.deleteUser(id, userId, "keep", 1, entry("never"));
    await test.store.deleteUser(id, userId, "keep", 2, entry("deleted"));
    await test.store.deleteUser(id, userId, "keep", null, entry("never"));
    const { items } = await test.store.listAuditEntries(id, FIRST);
    expect(items.map(({ target }) => target.name)).toEqual(["deleted", "changed", "made"]);
  });
});

describe("a change of a user", () => {
  it("is not made of another version than was expected", async () => {
    const { id } = await createTestOrganization(test.store);
    const user = await addUser(id);
    const changed = await test.store.changeUser(id, user.id, { note: "a" }, 1);
    expect(changed).toMatchObject({ outcome: "changed", before: user, after: { note: "a", version: 2 } });
    expect(await test.store.changeUser(id, user.id, { note: "b" }, 1)).toMatchObject({
      outcome: "version_conflict",
      current: { note: "a", version: 2 },
    });
    expect(await test.store.changeUser(id, createId("user", 1), { note: "b" }, null)).toEqual({
      outcome: "not_found",
    });
  });

  it("leaves it found by what it is called now and by nothing else, whoever changes it at once", async () => {
    const { id } = await createTestOrganization(test.store);
    const user = await addUser(id, { email: "ann@example.com" });
    const names = ["Bob Miller", "Cid Baker", "Dan Cooper", "Eve Tailor"];
    const results = await Promise.all(
      names.map((name) => test.store.changeUser(id, user.id, { name }, null)),
    );
    expect(results.map(({ outcome }) => outcome)).toEqual(names.map(() => "changed"));
    const now = (await test.store.getUser(id, user.id))?.name ?? "";
    const found = await Promise.all(names.map((name) => listNames(id, { search: name })));
    expect(found).toEqual(names.map((name) => (name === now ? [name] : [])));
    // Two words of its name, and three beginnings of its address, the first of which is the whole.
    expect(await test.client.zcard(ownerTextsKey(id, "user"))).toBe(5);
  });

  it("takes it from the list of its group to that of the next", async () => {
    const { id } = await createTestOrganization(test.store);
    const [first, second] = [await addGroup(id, "one"), await addGroup(id, "two")];
    const user = await addUser(id, { groupId: first.id });
    await test.store.changeUser(id, user.id, { groupId: second.id }, null);
    expect(await test.client.exists(ownerUsersKey(id, "group", first.id))).toBe(0);
    expect(await listNames(id, { groupId: first.id })).toEqual([]);
    expect(await listNames(id, { groupId: second.id })).toEqual(["Ann Smith"]);
    await test.store.changeUser(id, user.id, { groupId: null }, null);
    expect(await listNames(id, { groupId: second.id })).toEqual([]);
  });
});

describe("a user or group that was deleted", () => {
  it("is on no list and found by nothing, and keeps its name for as long as figures are kept", async () => {
    const { id } = await createTestOrganization(test.store);
    const group = await addGroup(id);
    const user = await addUser(id, { email: "ann@example.com", groupId: group.id });
    const result = await test.store.deleteUser(id, user.id, "keep", null);
    expect(result).toMatchObject({ outcome: "changed", before: user, after: { version: 2 } });
    expect(await listNames(id, {})).toEqual([]);
    expect(await listNames(id, { groupId: group.id })).toEqual([]);
    expect(await listNames(id, { search: "ann" })).toEqual([]);
    expect(await listNames(id, { search: user.id })).toEqual([]);
    expect(await test.client.exists(ownerTextsKey(id, "user"))).toBe(0);
    expect(await test.store.getUser(id, user.id)).toMatchObject({ name: "Ann Smith", version: 2 });
    expect(await test.client.pttl(ownerKey(id, "user", user.id))).toBeGreaterThan(13 * 28 * 86_400_000);
    expect(await test.store.deleteUser(id, user.id, "keep", null)).toEqual({ outcome: "not_found" });
    expect(await test.store.changeUser(id, user.id, { name: "b" }, null)).toEqual({ outcome: "not_found" });
  });

  it("leaves the users of a group", async () => {
    const { id } = await createTestOrganization(test.store);
    const group = await addGroup(id);
    const user = await addUser(id, { groupId: group.id });
    await test.store.deleteGroup(id, group.id, "keep", null);
    expect(await test.store.getUser(id, user.id)).toEqual(user);
    expect(await test.store.listGroups(id, ALL, FIRST)).toEqual({ items: [], next: null });
    expect(await test.store.changeUser(id, user.id, { groupId: null }, null)).toMatchObject({
      outcome: "changed",
    });
  });

  it("goes with its organization, however many there are, and what is left of them expires with it", async () => {
    const { id } = await createTestOrganization(test.store);
    const group = await addGroup(id);
    const users = await Promise.all(
      Array.from({ length: 1_100 }, (_, index) => addUser(id, { name: `User ${index}`, groupId: group.id })),
    );
    await test.store.deleteOrganization(id, null);
    expect(await listNames(id, {})).toEqual([]);
    const last = users.at(-1)?.id ?? "";
    expect((await test.store.getUser(id, last))?.deletedAtMs).toBeGreaterThan(0);
    const lifetimes = await Promise.all([
      test.client.pttl(ownerKey(id, "user", last)),
      test.client.pttl(ownerKey(id, "group", group.id)),
    ]);
    for (const lifetime of lifetimes) expect(lifetime).toBeGreaterThan(0);
    const kept = [ownerListKey(id, "user"), ownerListKey(id, "group"), ownerTextsKey(id, "user")];
    expect(await Promise.all(kept.map((key) => test.client.exists(key)))).toEqual([0, 0, 0]);
    expect(await test.client.exists(ownerUsersKey(id, "group", group.id))).toBe(0);
  });
});

describe("a list of users", () => {
  it("has each of a group and of all once, in the order of their creation, page by page", async () => {
    const { id } = await createTestOrganization(test.store);
    const group = await addGroup(id);
    const names = ["eve", "bob", "dan", "ann", "cid"];
    for (const [index, name] of names.entries()) {
      await addUser(id, { name, groupId: index % 2 === 0 ? group.id : null });
    }
    const listed = await listNames(id, {}, 2);
    expect(listed.toSorted()).toEqual(names.toSorted());
    const ids = (await test.store.listUsers(id, ALL, FIRST)).items.map((user) => user.id);
    expect(ids).toEqual(ids.toSorted());
    expect((await listNames(id, { groupId: group.id }, 2)).toSorted()).toEqual(["cid", "dan", "eve"]);
  });

  it("has each that a search finds once, in the order of the text, page by page", async () => {
    const { id } = await createTestOrganization(test.store);
    const group = await addGroup(id);
    await addUser(id, { name: "Zoe Annis", groupId: group.id });
    await addUser(id, { name: "Ann Smith", email: "ann.smith@annex.com" });
    await addUser(id, { name: "Hannah", email: "anna@example.com", groupId: group.id });
    await addUser(id, { name: "Bob" });
    for (const limit of [1, 2, 100]) {
      const found = await listNames(id, { search: "ANN" }, limit);
      expect(found).toEqual(["Ann Smith", "Hannah", "Zoe Annis"]);
      const inGroup = await listNames(id, { search: "ann", groupId: group.id }, limit);
      expect(inGroup).toEqual(["Hannah", "Zoe Annis"]);
    }
    expect(await listNames(id, { search: "nn" })).toEqual([]);
  });

  it("goes on behind the place of its cursor, also where whoever stood there is gone", async () => {
    const { id } = await createTestOrganization(test.store);
    for (const name of ["ann 1", "ann 2", "ann 3"]) await addUser(id, { name });
    const search = { ...ALL, search: "ann" };
    const first = await test.store.listUsers(id, search, { limit: 2, after: null });
    await test.store.deleteUser(id, first.items[1]?.id ?? "", "keep", null);
    const second = await test.store.listUsers(id, search, { limit: 2, after: first.next });
    expect(second.items.map(({ name }) => name)).toEqual(["ann 3"]);
    expect(second.next).toBeNull();
    expect(await test.store.listUsers(id, search, { limit: 2, after: "nothing" })).toEqual({
      items: [],
      next: null,
    });
  });

  it("finds by the id, and groups by their names", async () => {
    const { id } = await createTestOrganization(test.store);
    const group = await addGroup(id, "Search and Ads");
    const user = await addUser(id);
    expect(await listNames(id, { search: user.id })).toEqual(["Ann Smith"]);
    expect(await listNames(id, { search: user.id, groupId: group.id })).toEqual([]);
    for (const search of ["ads", "search and", group.id]) {
      const { items } = await test.store.listGroups(id, { ...ALL, search }, FIRST);
      expect(items).toEqual([group]);
    }
  });

  it("looks through a bounded number of those that are in other groups, and says where to go on", async () => {
    const { id } = await createTestOrganization(test.store);
    const group = await addGroup(id);
    await Promise.all(Array.from({ length: 2_050 }, () => addUser(id, { name: "ann" })));
    await addUser(id, { name: "anna", groupId: group.id });
    const filter = { search: "ann", groupId: group.id };
    const first = await test.store.listUsers(id, filter, FIRST);
    expect(first.items).toEqual([]);
    const second = await test.store.listUsers(id, filter, { limit: 100, after: first.next });
    expect(second.items.map(({ name }) => name)).toEqual(["anna"]);
    expect(second.next).toBeNull();
  });
});

describe("an organization with as many groups as it may have", () => {
  it("gets no other, however many are made at once, until one is deleted", async () => {
    const { id } = await createTestOrganization(test.store);
    const results = await Promise.all(
      Array.from({ length: 1_020 }, (_, index) => test.store.createGroup(id, { ...GROUP, name: `${index}` })),
    );
    expect(results.filter(({ outcome }) => outcome === "created")).toHaveLength(1_000);
    expect(results.filter(({ outcome }) => outcome === "full")).toHaveLength(20);
    const [one] = (await test.store.listGroups(id, ALL, FIRST)).items;
    await test.store.deleteGroup(id, one?.id ?? "", "keep", null);
    expect((await test.store.createGroup(id, GROUP)).outcome).toBe("created");
    expect((await test.store.createGroup(id, GROUP)).outcome).toBe("full");
  });
});
