import { describe, expect, it } from "vitest";
import { isProviderKeyHash, providerKeyHash } from "../../src/data-path/store/management/provider-keys.ts";
import { isProviderKey } from "../../src/shared/stored/management.ts";
import { addTestUser, createTestOrganization, KEY, withTestStore } from "./fixture.ts";

const test = withTestStore();

describe("the key of a user and a provider", () => {
  it("is one, however many ask at once, and a new one once it was deleted", async () => {
    const { id } = await createTestOrganization(test.store);
    const userId = await addTestUser(test.store, id);
    const settings = { ...KEY, name: "jwt:corp", userId };
    const find = () => test.store.findOrCreateProviderKey(id, "corp", settings);
    const found = await Promise.all(Array.from({ length: 8 }, find));
    const [first] = found;
    if (first === null || first === undefined) throw new Error("there is no key");
    expect(new Set(found.map((key) => key?.id)).size).toBe(1);
    expect(isProviderKey(first)).toBe(true);
    expect(isProviderKeyHash(providerKeyHash(first.id))).toBe(true);
    await test.store.deleteKey({ organizationId: id, keyId: first.id });
    expect((await find())?.id).not.toBe(first.id);
  });

  it("is none of an organization that is not there", async () => {
    const settings = { ...KEY, name: "jwt:corp", userId: "user_1" };
    expect(await test.store.findOrCreateProviderKey("none", "corp", settings)).toBeNull();
  });
});
