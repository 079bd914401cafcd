import { describe, expect, it } from "vitest";
import { USER_SETTINGS, type UserSettings } from "../../src/shared/settings/user.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { organizationKey, usersByIdentityKey } from "../../src/data-path/store/redis/keys.ts";
import type { AuditInput } from "../../src/shared/stored/audit.ts";
import type { ExternalIdentity, UserRecord } from "../../src/shared/stored/owners.ts";
import { createTestOrganization, withTestStore } from "./fixture.ts";

const test = withTestStore();

const USER: UserSettings = { ...defaultsOf(USER_SETTINGS), name: "Ann Smith" };
const ANN: ExternalIdentity = { issuer: "https://login.example.com", subject: "ann" };
const EVERYBODY = [
  { search: null, groupId: null },
  { limit: 100, after: null },
] as const;

const entry = ({ id, name }: UserRecord): AuditInput => ({
  actor: { type: "operator", id: null, name: null, role: "operator" },
  action: "user.created",
  target: { type: "user", id, name },
  before: null,
  after: null,
  requestId: "req_1",
});

const findOrCreate = (organizationId: string, external = ANN, settings = USER) =>
  test.store.findOrCreateExternalUser(organizationId, external, settings, entry);

async function add(organizationId: string, external = ANN): Promise<UserRecord> {
  const result = await findOrCreate(organizationId, external);
  if (result.outcome !== "created") throw new Error(result.outcome);
  return result.user;
}

describe("whoever another signs in", () => {
  it("is one user, with one entry in the audit log, however many come at once", async () => {
    const { id } = await createTestOrganization(test.store);
    const results = await Promise.all(Array.from({ length: 50 }, () => findOrCreate(id)));
    const outcomes = results.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === "created")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "found")).toHaveLength(49);
    const ids = new Set(results.map((result) => ("user" in result ? result.user.id : null)));
    expect(ids.size).toBe(1);
    const { items } = await test.store.listUsers(id, ...EVERYBODY);
    expect(items).toEqual([expect.objectContaining({ ...USER, external: ANN, version: 1 })]);
    const audit = await test.store.listAuditEntries(id, { limit: 100, after: null });
    expect(audit.items.filter(({ action }) => action === "user.created")).toHaveLength(1);
  });

  it("is found as it is by then, with whatever settings it is asked for again", async () => {
    const { id } = await createTestOrganization(test.store);
    const made = await add(id);
    await test.store.changeUser(id, made.id, { name: "Ann Miller", disabled: true }, null);
    const found = await findOrCreate(id, ANN, { ...USER, name: "Nobody" });
    expect(found).toMatchObject({
      outcome: "found",
      user: { id: made.id, name: "Ann Miller", disabled: true, external: ANN },
    });
    expect(await test.store.findExternalUser(id, ANN)).toEqual("user" in found ? found.user : null);
  });

  it("is another user at another issuer, as another subject and in another organization", async () => {
    const { id } = await createTestOrganization(test.store);
    const other = await createTestOrganization(test.store);
    const identities = [
      ANN,
      { ...ANN, subject: "Ann" },
      { ...ANN, subject: "ann " },
      { ...ANN, issuer: "https://login.example.com/" },
      { issuer: ANN.subject, subject: ANN.issuer },
    ];
    const ids = await Promise.all(identities.map(async (external) => (await add(id, external)).id));
    ids.push((await add(other.id)).id);
    expect(new Set(ids).size).toBe(identities.length + 1);
    for (const [position, external] of identities.entries()) {
      expect(await test.store.findExternalUser(id, external)).toMatchObject({ id: ids[position], external });
    }
    expect(await test.store.findExternalUser(other.id, identities[1] ?? ANN)).toBeNull();
  });

  it("is made anew after it was deleted, once", async () => {
    const { id } = await createTestOrganization(test.store);
    const first = await add(id);
    await test.store.deleteUser(id, first.id, "keep", null);
    expect(await test.store.findExternalUser(id, ANN)).toBeNull();
    expect(await test.client.hlen(usersByIdentityKey(id))).toBe(0);
    const results = await Promise.all(Array.from({ length: 10 }, () => findOrCreate(id)));
    const ids = new Set(results.map((result) => ("user" in result ? result.user.id : null)));
    expect(ids.size).toBe(1);
    expect(ids).not.toContain(first.id);
    // A late deletion of the former takes the present one's place from nobody.
    expect(await test.store.deleteUser(id, first.id, "keep", null)).toEqual({ outcome: "not_found" });
    expect(await test.store.findExternalUser(id, ANN)).toMatchObject({ external: ANN });
  });

  it("is nobody in an organization that there is not or that ends", async () => {
    const { id } = await createTestOrganization(test.store);
    expect(await test.store.findExternalUser("org_1} evil", ANN)).toBeNull();
    expect(await findOrCreate("org_1} evil")).toEqual({ outcome: "not_found" });
    await add(id);
    await test.store.deleteOrganization(id, null);
    expect(await test.client.exists(usersByIdentityKey(id))).toBe(0);
    expect(await test.store.findExternalUser(id, ANN)).toBeNull();
    expect(await findOrCreate(id)).toEqual({ outcome: "not_found" });
    const gone = await createTestOrganization(test.store);
    await test.client.hset(organizationKey(gone.id), "deleted_at", "1");
    expect(await findOrCreate(gone.id)).toEqual({ outcome: "not_found" });
  });

  it("is made in no group that is not there", async () => {
    const { id } = await createTestOrganization(test.store);
    const settings = { ...USER, groupId: "group_1" };
    expect(await findOrCreate(id, ANN, settings)).toEqual({ outcome: "group_missing" });
    expect(await test.store.findExternalUser(id, ANN)).toBeNull();
  });

  it.each([
    { issuer: "", subject: "ann" },
    { issuer: ANN.issuer, subject: "" },
    { issuer: ANN.issuer, subject: "a".repeat(1_025) },
    { issuer: "i".repeat(1_025), subject: "ann" },
  ])("is no user with an issuer or a subject that is empty or too long", async (external) => {
    const { id } = await createTestOrganization(test.store);
    await expect(findOrCreate(id, external)).rejects.toThrow(RangeError);
    expect(await test.store.listUsers(id, ...EVERYBODY)).toMatchObject({ items: [] });
  });
});
