import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createId } from "../../src/data-path/store/ids.ts";
import { ORGANIZATION_NAMES_KEY, ORGANIZATIONS_KEY } from "../../src/data-path/store/redis/keys.ts";
import { connectStore, createTestOrganization, ORGANIZATION, withTestStore } from "./fixture.ts";

const test = withTestStore();

/** A name that no other test has. */
function newName(): string {
  return `Acme ${randomUUID()}`;
}

const create = (name: string) => test.store.createOrganization({ ...ORGANIZATION, name });
const rename = (id: string, name: string, version: number | null = null) =>
  test.store.changeOrganization(id, { name }, version);

/** As a crash leaves it that came behind the claim of a name. */
async function leaveClaim(name: string, organizationId: string, secondsAgo: number): Promise<void> {
  const claimedUs = ((await test.store.timeMs()) - secondsAgo * 1000) * 1000;
  await test.client.hset(ORGANIZATION_NAMES_KEY, name.toLowerCase(), `${organizationId}@${claimedUs}`);
}

describe("the name of an organization", () => {
  it("is had by one of 100 who ask for it at once", async () => {
    const name = newName();
    const results = await Promise.all(Array.from({ length: 100 }, () => create(name)));
    expect(results.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
  });

  it("is had by one of 50 who are renamed to it at once, by as many processes", async () => {
    const name = newName();
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => (await createTestOrganization(test.store)).id),
    );
    const other = await connectStore(test.address);
    const results = await Promise.all(
      ids.map((id, index) =>
        (index % 2 === 0 ? test.store : other.store).changeOrganization(id, { name }, null),
      ),
    );
    await other.stop();
    expect(results.filter(({ outcome }) => outcome === "changed")).toHaveLength(1);
    const records = await Promise.all(ids.map((id) => test.store.getOrganization(id)));
    expect(records.filter((record) => record?.name === name)).toHaveLength(1);
  });

  it.each([
    { what: "capitals", write: (name: string) => name.toUpperCase() },
    { what: "blanks around it", write: (name: string) => `  ${name} ` },
    { what: "blanks in it", write: (name: string) => name.replace(" ", "\u00a0 ") },
    { what: "wide letters", write: (name: string) => name.replace("Acme", "Ａｃｍｅ") },
  ])("is the same whatever its $what", async ({ write }) => {
    const name = newName();
    const { id } = await createTestOrganization(test.store, { name });
    const taken = { outcome: "name_taken", holder: { id, name } };
    expect(await create(write(name))).toEqual(taken);
    const other = await createTestOrganization(test.store);
    expect(await rename(other.id, write(name))).toEqual(taken);
    expect(await test.store.getOrganization(other.id)).toEqual(other);
    expect(await rename(id, write(name))).toMatchObject({ after: { name: write(name) } });
  });

  it("is free again once its organization has another", async () => {
    const [former, later] = [newName(), newName()];
    const { id } = await createTestOrganization(test.store, { name: former });
    expect((await rename(id, later)).outcome).toBe("changed");
    expect(await create(later)).toMatchObject({ outcome: "name_taken", holder: { id } });
    expect((await create(former)).outcome).toBe("created");
  });

  it("is taken back by the organization that had it", async () => {
    const [first, second] = [newName(), newName()];
    const { id } = await createTestOrganization(test.store, { name: first });
    await rename(id, second);
    await rename(id, first);
    expect(await create(first)).toMatchObject({ outcome: "name_taken", holder: { id } });
    expect((await create(second)).outcome).toBe("created");
  });

  it("stays with its organization when another change comes first", async () => {
    const name = newName();
    const { id } = await createTestOrganization(test.store, { name });
    expect((await rename(id, newName(), 9)).outcome).toBe("version_conflict");
    expect(await create(name)).toMatchObject({ outcome: "name_taken", holder: { id, name } });
  });

  it("that a crash has left to nobody is free after a minute, and not before", async () => {
    const [late, early] = [newName(), newName()];
    const nobody = createId("org", Date.now());
    await leaveClaim(late, nobody, 61);
    expect((await create(late)).outcome).toBe("created");
    await leaveClaim(early, nobody, 30);
    expect(await create(early)).toEqual({ outcome: "name_taken", holder: { id: nobody, name: null } });
  });

  it("leads to its organization though a crash has kept that from the list", async () => {
    const name = newName();
    const { id } = await createTestOrganization(test.store, { name });
    await test.client.zrem(ORGANIZATIONS_KEY, id);
    expect(await create(name)).toEqual({ outcome: "name_taken", holder: { id, name } });
    expect(await test.store.listOrganizationIds()).toContain(id);
  });
});
