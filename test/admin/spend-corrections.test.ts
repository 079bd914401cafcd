/** Corrections of a month's spend. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseExactJson } from "../../src/shared/text/exact-json.ts";
import { type AdminUnderTest, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
});
afterAll(() => admin.stop());

describe("POST …/spend-corrections", () => {
  const path = (id: string): string => `/api/organizations/${id}/spend-corrections`;

  it("moves spend and usage of the organization, in either direction", async () => {
    const id = await createOrganization(admin);
    const up = await admin.ok("POST", path(id), { body: { amount_cents: 5, reason: "late bill" } });
    expect(up).toMatchObject({ repeated: false, organization_spent_microcents: 5_000_000, key_id: null });
    const down = { amount_microcents: -1_500_000, reason: "refund" };
    expect(await admin.ok("POST", path(id), { body: down })).toMatchObject({
      organization_spent_microcents: 3_500_000,
      organization_spent_cents: 3,
    });
    expect(await admin.ok("GET", `/api/organizations/${id}`)).toMatchObject({ spent_microcents: 3_500_000 });
    expect(await admin.ok("GET", `/api/organizations/${id}/usage?group_by=key,model`)).toMatchObject({
      data: [{ key_id: null, model: null, requests: 0, cost_microcents: 3_500_000 }],
    });
  });

  it("tells spend beyond 2^53 microcents, as of small currencies, with all its digits", async () => {
    const id = await createOrganization(admin);
    const key = await createApiKey(admin, id);
    const exact = async (...call: Parameters<typeof admin.call>) =>
      parseExactJson((await admin.call(...call)).text);
    const correct = (amount: number) =>
      exact("POST", path(id), { body: { amount_microcents: amount, reason: "x", key_id: key.id } });
    await correct(9 * 10 ** 15);
    await correct(9 * 10 ** 15);
    const spent = 18n * 10n ** 15n + 1n;
    expect(await correct(1)).toMatchObject({
      organization_spent_microcents: spent,
      key_spent_microcents: spent,
    });
    expect(await exact("GET", `/api/organizations/${id}`)).toMatchObject({ spent_microcents: spent });
    expect(await exact("GET", key.path)).toMatchObject({ spent_microcents: spent });
    expect(await exact("GET", `/api/organizations/${id}/usage?group_by=key`)).toMatchObject({
      data: [{ key_id: key.id, cost_microcents: spent }],
    });
  });

  it("moves a key's spend along, so that its cap lets requests pass again", async () => {
    const id = await createOrganization(admin);
    const key = await createApiKey(admin, id, { hard_cap_cents: 1 });
    await admin.ok("POST", path(id), { body: { amount_cents: 1, reason: "a", key_id: key.id } });
    const { admit } = await import("./admin-fixture.ts");
    expect((await admit(admin, key.key)).decision).toBe("key_cap_reached");
    const back = { amount_microcents: -1, reason: "b", key_id: key.id };
    expect(await admin.ok("POST", path(id), { body: back })).toMatchObject({ key_spent_microcents: 999_999 });
    expect((await admit(admin, key.key)).decision).toBe("admitted");
  });

  it("counts once however often it is sent with the same Idempotency-Key", async () => {
    const id = await createOrganization(admin);
    const headers = { "idempotency-key": "refund for ticket 42".replaceAll(" ", "-") };
    const body = { amount_cents: 5, reason: "x" };
    const first = await admin.call("POST", path(id), { headers, body });
    const again = await admin.call("POST", path(id), { headers, body });
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.json()).toEqual({ ...first.json(), repeated: true });
    expect((await admin.ok("GET", `/api/organizations/${id}/audit`))["data"]).toHaveLength(2);
  });

  it("is rejected with the Idempotency-Key of another, also when both arrive at once", async () => {
    const id = await createOrganization(admin);
    const key = await createApiKey(admin, id);
    const headers = { "idempotency-key": "refund-42" };
    const body = { amount_cents: 5, reason: "x" };
    await admin.ok("POST", path(id), { headers, body });
    for (const other of [{ amount_cents: 6 }, { reason: "y" }, { key_id: key.id }]) {
      expect(await admin.refused("POST", path(id), { headers, body: { ...body, ...other } })).toMatchObject({
        status: 409,
        code: "idempotency_key_reused",
      });
    }
    // The same in another unit and order is the same.
    const same = { reason: "x", amount_microcents: 5_000_000 };
    expect(await admin.ok("POST", path(id), { headers, body: same })).toMatchObject({ repeated: true });
    const together = await Promise.all(
      [1, 2, 3, 4].map((cents) =>
        admin.call("POST", path(id), {
          headers: { "idempotency-key": "at-once" },
          body: { amount_cents: cents, reason: "x" },
        }),
      ),
    );
    expect(together.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 409, 409, 409,
    ]);
    const [counted] = together.filter(({ status }) => status === 201);
    const { amount_microcents: amount } = counted!.json() as { amount_microcents: number };
    expect(await admin.ok("GET", `/api/organizations/${id}`)).toMatchObject({
      spent_microcents: 5_000_000 + amount,
    });
  });

  it("is in the audit log, with its reason", async () => {
    const id = await createOrganization(admin);
    await admin.ok("POST", path(id), { body: { amount_cents: -5, reason: "goodwill" } });
    expect((await admin.ok("GET", `/api/organizations/${id}/audit`))["data"]).toMatchObject([
      { action: "spend.corrected", after: { amount_microcents: -5_000_000, reason: "goodwill" } },
      { action: "organization.created" },
    ]);
  });

  it.each([
    { name: "no amount", body: { reason: "a" }, param: "amount_cents" },
    {
      name: "two amounts",
      body: { reason: "a", amount_cents: 1, amount_microcents: 1 },
      param: "amount_cents",
    },
    { name: "an amount of 0", body: { reason: "a", amount_cents: 0 }, param: "amount_cents" },
    {
      name: "an amount too large",
      body: { reason: "a", amount_cents: 9_000_000_001 },
      param: "amount_cents",
    },
    { name: "no reason", body: { amount_cents: 1 }, param: "reason" },
    { name: "an empty reason", body: { amount_cents: 1, reason: " " }, param: "reason" },
    {
      name: "a key that does not exist",
      body: { amount_cents: 1, reason: "a", key_id: "key_x" },
      param: "key_id",
    },
  ])("refuses $name with 400", async ({ body, param }) => {
    expect(await admin.refused("POST", path(organization), { body })).toMatchObject({ status: 400, param });
  });
});
