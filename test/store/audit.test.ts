import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditInput } from "../../src/store/types/audit.ts";
import { openTestStore, ORGANIZATION, type StoreUnderTest } from "./fixture.ts";

let under: StoreUnderTest;
beforeAll(async () => {
  under = await openTestStore();
});
afterAll(() => under.stop());

function entry(action: string): AuditInput {
  return {
    actor: { type: "token", id: "token_1", name: "ci" },
    action,
    target: { type: "key", id: "key_1", name: "deploy" },
    before: { hard_cap_cents: null, allowed_models: ["a/b"], nested: { on: true } },
    after: { hard_cap_cents: 5000, allowed_models: null, nested: { on: false } },
    requestId: "req_1",
  };
}

describe("audit entries", () => {
  it("come back as they were written, with the time of Redis", async () => {
    const { id } = await under.store.createOrganization(ORGANIZATION);
    await under.store.addAuditEntry(id, entry("key.updated"));
    const { items, next } = await under.store.listAuditEntries(id, { limit: 10, after: null });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject(entry("key.updated"));
    expect(Math.abs((items[0]?.recordedAtMs ?? 0) - (await under.store.timeMs()))).toBeLessThan(60_000);
    expect(next).toBeNull();
  });

  it("are listed newest first, page by page to the end, none twice", async () => {
    const { id } = await under.store.createOrganization(ORGANIZATION);
    for (let index = 0; index < 7; index += 1) await under.store.addAuditEntry(id, entry(`n${index}`));
    const actions: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof under.store.listAuditEntries>> =
        await under.store.listAuditEntries(id, {
          limit: 3,
          after,
        });
      actions.push(...page.items.map(({ action }) => action));
      after = page.next;
    } while (after !== null);
    expect(actions).toEqual(["n6", "n5", "n4", "n3", "n2", "n1", "n0"]);
  });

  it("of one organization are not another's", async () => {
    const first = await under.store.createOrganization(ORGANIZATION);
    const second = await under.store.createOrganization(ORGANIZATION);
    await under.store.addAuditEntry(first.id, entry("key.updated"));
    expect((await under.store.listAuditEntries(second.id, { limit: 10, after: null })).items).toEqual([]);
  });
});
