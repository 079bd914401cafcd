/** The statement of a month: exact sums, rounded once, and corrections with their reasons. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

/** A half of a cent. */
const HALF = 500_000n;

async function spend(organizationId: string, keyId: string, microcents: bigint): Promise<void> {
  const identity = await createIdentity(admin.store, { organizationId, keyId, hash: "" });
  await admin.store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
}

async function createSpent() {
  const id = await createOrganization(admin);
  const path = `/api/organizations/${id}`;
  const [ci, web] = [
    await createApiKey(admin, id, { name: "ci" }),
    await createApiKey(admin, id, { name: "web" }),
  ];
  await spend(id, ci.id, 100n * 1_000_000n + HALF);
  await spend(id, web.id, HALF);
  await spend(id, web.id, HALF - 1n);
  return { id, path, ci };
}

describe("GET …/statement", () => {
  it("rounds each amount half up, and the total from the exact sum", async () => {
    const { path, ci } = await createSpent();
    const body = { amount_microcents: -1_500_000, reason: "Refund of a failed batch", key_id: ci.id };
    await admin.ok("POST", `${path}/spend-corrections`, { body });
    expect(await admin.ok("GET", `${path}/statement`)).toMatchObject({
      currency: "USD",
      is_complete: false,
      models: [{ requests: 3, amount: "1.01", amount_microcents: 101_499_999 }],
      groups: [{ id: null, requests: 3, amount: "1.01" }],
      keys: [
        { name: "ci", requests: 1, amount: "1.01", amount_microcents: 100_500_000 },
        { name: "web", requests: 2, amount: "0.01", amount_microcents: 999_999 },
      ],
      corrections: [
        { reason: "Refund of a failed batch", name: "ci", amount: "-0.02", amount_microcents: -1_500_000 },
      ],
      usage_amount: "1.01",
      corrections_amount: "-0.02",
      total_amount: "1.00",
      total_microcents: 99_999_999,
    });
  });

  it("shows corrections whose audit entries are gone as one line, so that the sum is right", async () => {
    const { id, path } = await createSpent();
    const body = { amount_cents: 250, reason: "Credit" };
    await admin.ok("POST", `${path}/spend-corrections`, { body });
    const logs = await admin.client.keys(`igw:{${id}}:audit:*`);
    await admin.client.unlink(...logs);
    expect(await admin.ok("GET", `${path}/statement`)).toMatchObject({
      corrections: [
        { id: null, created_at: null, amount: "2.50", reason: expect.stringContaining("no longer stored") },
      ],
      corrections_amount: "2.50",
    });
  });

  it("sums up API keys beyond the largest 50, and reads each day once", async () => {
    const id = await createOrganization(admin);
    const day = new Date(await admin.store.timeMs()).toISOString().slice(0, 10);
    for (let index = 1; index <= 52; index += 1) {
      await spend(id, `key_${index}`, BigInt(index) * 1_000_000n);
    }
    const read = vi.spyOn(admin.store, "readSumsOfDay");
    const { keys, models } = await admin.ok("GET", `/api/organizations/${id}/statement`);
    const days = read.mock.calls.map(([, one]) => one);
    read.mockRestore();
    expect(models).toMatchObject([{ requests: 52, amount: "13.78" }]);
    expect(keys).toHaveLength(51);
    expect((keys as unknown[])[0]).toMatchObject({ id: "key_52", amount: "0.52" });
    expect((keys as unknown[])[50]).toMatchObject({ id: null, others: 2, requests: 2, amount: "0.03" });
    expect(days).toContain(day);
    expect(days).toHaveLength(new Set(days).size);
  });

  it("is of an empty month, for a viewer too, and says what a month is", async () => {
    const { id, path } = await createSpent();
    const token = await createToken(admin, id, "viewer");
    expect(await admin.ok("GET", `${path}/statement?month=2020-01`, { token })).toMatchObject({
      is_complete: true,
      models: [],
      corrections: [],
      total_amount: "0.00",
    });
    expect(await admin.refused("GET", `${path}/statement?month=May`)).toMatchObject({ param: "month" });
  });
});
