import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isRefusedCharge } from "../../src/data-path/store/requests/refused-charge.ts";
import { spendKey, usageKey } from "../../src/data-path/store/redis/keys.ts";
import {
  chargeInput,
  createIdentity,
  createTestKey,
  FINAL,
  openRecordInput,
  createTestOrganization,
  ORGANIZATION,
  withTestStore,
} from "./fixture.ts";
import { NO_WATCH } from "../support/no-watch.ts";
import { monthLimits } from "../support/month-limits.ts";

const test = withTestStore();

describe("an organization", () => {
  it("is read as it was written", async () => {
    const settings = {
      ...ORGANIZATION,
      name: 'Łódź & "Søn"',
      currency: "EUR",
      limits: monthLimits({ cap: 9_000_000_000, budget: 0 }),
      strictCaps: true,
      notifications: {
        ...NO_WATCH,
        dashboard: false,
        emails: ["ops@example.com"],
        webhook: { url: "https://example.com/hook", secrets: [{ secret: "whsec_x", expiresAtMs: null }] },
        webhooks: [],
      },
      keyDefaults: { requestsPerMinute: 60, limits: monthLimits({ cap: 1 }) },
    };
    const created = await createTestOrganization(test.store, settings);
    expect(created).toMatchObject({ ...settings, version: 1 });
    expect(await test.store.getOrganization(created.id)).toEqual(created);
  });

  it("is none for an id that is not one, whatever it holds", async () => {
    for (const id of ["", "org_1", "org_} igw:schema", "key_01934f6e-0000-7000-8000-000000000000"]) {
      expect(await test.store.getOrganization(id)).toBeNull();
      expect(await test.store.changeOrganization(id, { name: "x" }, null)).toEqual({ outcome: "not_found" });
    }
  });

  it("changes what is given, tells before and after, and goes up a version", async () => {
    const before = await createTestOrganization(test.store);
    const changed = await test.store.changeOrganization(
      before.id,
      { limits: monthLimits({ cap: 5 }), suspended: true },
      1,
    );
    const after = { ...before, limits: monthLimits({ cap: 5 }), suspended: true, version: 2 };
    expect(changed).toEqual({ outcome: "changed", before, after });
    expect(await test.store.changeOrganization(before.id, { limits: monthLimits({ budget: 1 }) }, 1)).toEqual(
      {
        outcome: "version_conflict",
        current: after,
      },
    );
  });

  it("keeps its currency for what it has spent in total, when the months of that are forgotten", async () => {
    const limits = [{ period: "total", kind: "cap", cents: 5_000 } as const];
    const key = await createTestKey(test.store, {}, { limits });
    const { organizationId } = key;
    const identity = await createIdentity(test.store, key);
    await test.store.charge(chargeInput(identity, 1, 1n, { final: FINAL }));
    await test.client.del(spendKey(organizationId, identity.month), usageKey(organizationId, identity.day));
    expect(await test.store.changeOrganization(organizationId, { currency: "EUR" }, null)).toMatchObject({
      outcome: "currency_locked",
    });
  });

  it("lets one of 1,000 who change the same version win", async () => {
    const { id } = await createTestOrganization(test.store);
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, budgetCents) =>
        test.store.changeOrganization(id, { limits: monthLimits({ budget: budgetCents }) }, 1),
      ),
    );
    expect(results.filter(({ outcome }) => outcome === "changed")).toHaveLength(1);
  });

  it("keeps its currency once there is spend, or a request in flight", async () => {
    const spent = await createTestKey(test.store);
    const identity = await createIdentity(test.store, spent);
    await test.store.charge(chargeInput(identity, 1, 1n, { final: FINAL }));
    const inFlight = await createTestKey(test.store);
    await test.store.openRecord(openRecordInput(await createIdentity(test.store, inFlight)));
    for (const { organizationId } of [spent, inFlight]) {
      const refused = await test.store.changeOrganization(organizationId, { currency: "EUR" }, null);
      expect(refused).toMatchObject({ outcome: "currency_locked", current: { currency: "USD" } });
      const same = await test.store.changeOrganization(
        organizationId,
        { currency: "USD", name: `y ${organizationId}` },
        null,
      );
      expect(same.outcome).toBe("changed");
    }
    const unused = await createTestKey(test.store);
    const changed = await test.store.changeOrganization(unused.organizationId, { currency: "EUR" }, null);
    expect(changed.outcome).toBe("changed");
  });

  it.each([
    { what: "strict caps", settings: { strictCaps: true }, key: {} },
    { what: "a limit of concurrent requests", settings: {}, key: { maxConcurrentRequests: 3 } },
  ])("has no request upstream at a price of its former currency ($what)", async ({ settings, key }) => {
    const owner = await createTestKey(test.store, key, settings);
    const { organizationId } = owner;
    const admitted = openRecordInput(await createIdentity(test.store, owner), { worstCaseMicrocents: 1n });
    await test.store.changeOrganization(organizationId, { currency: "EUR" }, null);
    const refused = await test.store.openRecord(admitted);
    expect(refused).toEqual({ outcome: "currency_changed", currency: "EUR" });
    expect((await test.store.changeOrganization(organizationId, { currency: "USD" }, null)).outcome).toBe(
      "changed",
    );
    expect((await test.store.openRecord(admitted)).outcome).toBe("opened");
  });

  it.each([
    { what: "a final charge", changes: { final: FINAL } },
    { what: "a single charge", changes: { final: FINAL, isSingleCharge: true as const } },
    { what: "progress", changes: {} },
  ])("takes $what of a request from before in no other currency", async ({ changes }) => {
    const owner = await createTestKey(test.store);
    const { organizationId } = owner;
    const identity = await createIdentity(test.store, owner);
    await test.store.changeOrganization(organizationId, { currency: "EUR" }, null);
    const late = chargeInput(identity, 1, 5n, changes);
    const refusal = await test.store.charge(late).catch((error: unknown) => error);
    expect(isRefusedCharge(refusal)).toBe(true);
    expect((await test.store.readSpend(organizationId, identity.month)).organizationMicrocents).toBe(0n);
    const ofOlderVersion = { ...late, currency: undefined };
    expect((await test.store.charge(ofOlderVersion)).outcome).toBe("applied");
  });
});

describe("listOrganizations", () => {
  it("gives all of them in the order of their creation, page by page", async () => {
    const created: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      created.push((await createTestOrganization(test.store)).id);
    }
    const listed: string[] = [];
    let after: string | null = null;
    do {
      const page = await test.store.listOrganizations({ limit: 3, after });
      expect(page.items.length).toBeLessThanOrEqual(3);
      listed.push(...page.items.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    expect(listed).toEqual([...(await test.store.listOrganizationIds())]);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed).toEqual(expect.arrayContaining(created));
  });
});

describe("searchOrganizations", () => {
  it("finds by a part of the name as people write it or by the whole id, page by page", async () => {
    const mark = randomUUID();
    const create = (name: string) => createTestOrganization(test.store, { name });
    const found = [await create(`ÄRZTE ${mark}`), await create(`Zahnärzte ${mark}`)];
    // In the order of their ids, in which chance decides between two of one millisecond.
    const [first, second] = found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const other = await create(`Andere ${mark}`);
    const search = (text: string, after: string | null = null, limit = 1) =>
      test.store.searchOrganizations(text, { limit, after });
    expect(await search(`ärzte ${mark}`, null, 2)).toEqual({ items: [first, second], next: null });
    const page = await search(`ärzte ${mark}`);
    expect(page).toEqual({ items: [first], next: first?.id });
    expect(await search(`ärzte ${mark}`, page.next)).toEqual({ items: [second], next: null });
    expect(await search(other.id)).toEqual({ items: [other], next: null });
    expect(await search(`nobody ${mark}`)).toEqual({ items: [], next: null });
  });
});
