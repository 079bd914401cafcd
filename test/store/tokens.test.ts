import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { tokenLookUpKey } from "../../src/data-path/store/redis/keys.ts";
import { createHashedKey, createTestOrganization, withTestStore } from "./fixture.ts";

const under = withTestStore();

const settings = { name: "ci", role: "admin" } as const;

async function createOrganization(): Promise<string> {
  return (await createTestOrganization(under.store)).id;
}

describe("tokens", () => {
  it("are found by their hash, and only by it", async () => {
    const organizationId = await createOrganization();
    const hashed = createHashedKey();
    const record = await under.store.createToken(organizationId, settings, hashed);
    expect(await under.store.findToken(hashed.hash)).toEqual(record);
    expect(await under.store.findToken(createHashedKey().hash)).toBeNull();
  });

  it("are not made for an organization that there is not", async () => {
    const unknown = `org_${randomUUID()}`;
    expect(await under.store.createToken(unknown, settings, createHashedKey())).toBeNull();
    expect(await under.store.createToken("org_1} evil", settings, createHashedKey())).toBeNull();
  });

  it("are listed in the order of their creation, page by page to the end", async () => {
    const organizationId = await createOrganization();
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      const record = await under.store.createToken(organizationId, settings, createHashedKey());
      made.push(record?.id ?? "");
    }
    const listed: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof under.store.listTokens>> = await under.store.listTokens(
        organizationId,
        {
          limit: 2,
          after,
        },
      );
      listed.push(...page.items.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    expect([...listed].sort()).toEqual([...made].sort());
    expect(listed).toEqual([...listed].sort());
  });

  it("work no longer once they are deleted, which happens once", async () => {
    const organizationId = await createOrganization();
    const hashed = createHashedKey();
    const record = await under.store.createToken(organizationId, settings, hashed);
    const id = record?.id ?? "";
    const deleted = await Promise.all([
      under.store.deleteToken(organizationId, id),
      under.store.deleteToken(organizationId, id),
    ]);
    expect(deleted.filter((one) => one !== null)).toEqual([record]);
    expect(await under.store.findToken(hashed.hash)).toBeNull();
    expect(await under.client.exists(tokenLookUpKey(hashed.hash))).toBe(0);
    expect((await under.store.listTokens(organizationId, { limit: 10, after: null })).items).toEqual([]);
  });

  it("of another organization cannot be deleted", async () => {
    const [first, second] = [await createOrganization(), await createOrganization()];
    const hashed = createHashedKey();
    const record = await under.store.createToken(first, settings, hashed);
    expect(await under.store.deleteToken(second, record?.id ?? "")).toBeNull();
    expect(await under.store.findToken(hashed.hash)).toEqual(record);
  });

  it("whose look-up outlived a crash admit nobody: the record decides", async () => {
    const organizationId = await createOrganization();
    const hashed = createHashedKey();
    const record = await under.store.createToken(organizationId, settings, hashed);
    await under.client.del(`igw:{${organizationId}}:token:${record?.id ?? ""}`);
    expect(await under.client.exists(tokenLookUpKey(hashed.hash))).toBe(1);
    expect(await under.store.findToken(hashed.hash)).toBeNull();
  });
});
