import { describe, expect, it } from "vitest";
import type { KeySettings } from "../../src/shared/settings/key.ts";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import type { RequestIdentity } from "../../src/shared/stored/settlement.ts";
import {
  addTestGroup,
  addTestKey,
  addTestUser,
  admitKnown,
  chargeInput,
  createIdentity,
  createTestOrganization,
  FINAL,
  openRecordInput,
  type TestKey,
  withTestStore,
} from "./fixture.ts";

const test = withTestStore();

async function createOwners() {
  const { id } = await createTestOrganization(test.store);
  const teamId = await addTestGroup(test.store, id, { name: "Team" });
  const otherTeamId = await addTestGroup(test.store, id, { name: "Other team" });
  const userId = await addTestUser(test.store, id, { name: "Zoë", groupId: teamId });
  const addKey = (settings: Partial<KeySettings>): Promise<TestKey> => addTestKey(test.store, id, settings);
  return { organizationId: id, teamId, otherTeamId, userId, addKey };
}

async function ownersOf(key: TestKey): Promise<{ user: string | null; group: string | null }> {
  const { user, group } = await admitKnown(test.store, key);
  return { user: user?.name ?? null, group: group?.name ?? null };
}

describe("an admission", () => {
  it("says whose the request is: the key's user, the key's own group or else the user's", async () => {
    const { addKey, userId, otherTeamId } = await createOwners();
    expect(await ownersOf(await addKey({}))).toEqual({ user: null, group: null });
    expect(await ownersOf(await addKey({ userId }))).toEqual({ user: "Zoë", group: "Team" });
    expect(await ownersOf(await addKey({ groupId: otherTeamId }))).toEqual({
      user: null,
      group: "Other team",
    });
    const both = await addKey({ userId, groupId: otherTeamId });
    expect(await ownersOf(both)).toEqual({ user: "Zoë", group: "Other team" });
  });

  it("knows what has changed since the key's last one, of the key, its user and its group", async () => {
    const { organizationId, addKey, userId, teamId, otherTeamId } = await createOwners();
    const key = await addKey({ userId });
    expect(await ownersOf(key)).toEqual({ user: "Zoë", group: "Team" });
    await test.store.changeUser(organizationId, userId, { name: "Zoe" }, null);
    expect(await ownersOf(key)).toEqual({ user: "Zoe", group: "Team" });
    await test.store.changeGroup(organizationId, teamId, { name: "Squad" }, null);
    expect(await ownersOf(key)).toEqual({ user: "Zoe", group: "Squad" });
    await test.store.changeUser(organizationId, userId, { groupId: otherTeamId }, null);
    expect(await ownersOf(key)).toEqual({ user: "Zoe", group: "Other team" });
    await test.store.deleteGroup(organizationId, otherTeamId, "keep", null);
    expect(await ownersOf(key)).toEqual({ user: "Zoe", group: null });
    await test.store.deleteUser(organizationId, userId, "keep", null);
    expect(await ownersOf(key)).toEqual({ user: null, group: null });
  });

  it("refuses the keys of a user who is disabled, and takes no token", async () => {
    const { organizationId, addKey, userId } = await createOwners();
    const key = await addKey({ userId });
    const admitted = await admitKnown(test.store, key);
    await test.store.changeUser(organizationId, userId, { disabled: true }, null);
    const refused = await admitKnown(test.store, key);
    expect(refused.decision).toBe("user_disabled");
    expect(refused.bucket.remaining).toBeGreaterThanOrEqual(admitted.bucket.remaining);
    await test.store.changeUser(organizationId, userId, { disabled: false }, null);
    expect((await admitKnown(test.store, key)).decision).toBe("admitted");
  });
});

/** What each usage row of a request's month has, by its owners. */
async function costByOwners({ organizationId, month }: RequestIdentity): Promise<Record<string, bigint>> {
  const { rows } = await test.store.readUsage(organizationId, month);
  return Object.fromEntries(rows.map(({ owners, costMicrocents }) => [owners, costMicrocents]));
}

describe("what a request costs", () => {
  const charges = [
    { name: "in a command of its own", isSingleCharge: undefined, isOpened: false },
    { name: "behind a record", isSingleCharge: undefined, isOpened: true },
    { name: "together with others of its turn", isSingleCharge: true, isOpened: false },
  ] as const;

  it.each(charges)(
    "counts to whom it was admitted for, charged $name, whoever has the key by now",
    async ({ isSingleCharge, isOpened }) => {
      const { addKey, userId, teamId, otherTeamId } = await createOwners();
      const key = await addKey({ userId });
      const owners = formatOwnerIds({ userId, groupId: teamId });
      const identity = { ...(await createIdentity(test.store, key)), owners };
      if (isOpened) await test.store.openRecord(openRecordInput(identity));
      await test.store.changeKey(key, { userId: null, groupId: otherTeamId }, null);
      await test.store.charge(chargeInput(identity, 1, 500n, { final: FINAL, isSingleCharge }));
      expect(await costByOwners(identity)).toEqual({ [owners]: 500n });
      await test.store.charge(chargeInput(identity, 2, 300n, { final: FINAL }));
      expect(await costByOwners(identity)).toEqual({ [owners]: 300n });
    },
  );

  it("is raised to what the log says in the row of the same owners", async () => {
    const { addKey, userId } = await createOwners();
    const key = await addKey({ userId });
    const identity = { ...(await createIdentity(test.store, key)), owners: userId };
    await test.store.charge(chargeInput(identity, 1, 500n, { final: FINAL }));
    const [row] = (await test.store.readUsage(key.organizationId, identity.month)).rows;
    const { day, model } = identity;
    const rows = [{ ...row!, costMicrocents: 700n }];
    const raise = (owners: string) =>
      test.store.raiseUsage(key.organizationId, { day, keyId: key.keyId, owners, model, rows }, [""]);
    expect(await raise(userId)).toEqual({ outcome: "raised", addedMicrocents: 200n });
    expect(await raise(userId)).toEqual({ outcome: "enough", addedMicrocents: 0n });
    expect(await costByOwners(identity)).toEqual({ [userId]: 700n });
  });
});
