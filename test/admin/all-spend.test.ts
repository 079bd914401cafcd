/** A month's spend of all organizations, for the operator, as JSON and as CSV. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { parseCsv } from "../support/parse-csv.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  startAdmin,
} from "./admin-fixture.ts";

const CENT = 1_000_000n;
let admin: AdminUnderTest;
const ids: string[] = [];

/** An organization that has spent so many cents in so many requests. */
async function createSpent(
  name: string,
  cents: readonly bigint[],
  fields: { readonly currency?: string; readonly hard_cap_cents?: number } = {},
): Promise<string> {
  const id = await createOrganization(admin, { name, ...fields });
  const { id: keyId } = await createApiKey(admin, id, { name: "ci" });
  for (const amount of cents) {
    const { currency = "USD" } = fields;
    const key = { organizationId: id, keyId, hash: "", currency };
    const identity = await createIdentity(admin.store, key);
    await admin.store.charge(chargeInput(identity, 1, amount * CENT, { final: FINAL }));
  }
  ids.push(id);
  return id;
}

beforeAll(async () => {
  admin = await startAdmin();
  await createSpent("Small", [10n], { hard_cap_cents: 5_000 });
  const gone = await createSpent("Gone", [30n]);
  await admin.ok("DELETE", `/api/organizations/${gone}`);
  await createSpent("Large", [200n, 50n], { currency: "EUR" });
  await createSpent("Idle", []);
  const never = await createSpent("Never used", []);
  await admin.ok("DELETE", `/api/organizations/${never}`);
});
afterAll(() => admin.stop());

interface Row {
  readonly organization_name: string;
}
const namesOf = (body: Record<string, unknown>) =>
  (body["data"] as Row[]).map((row) => row.organization_name);

describe("GET /api/spend", () => {
  it("has every organization, the largest spend first, deleted ones if they spent", async () => {
    const body = await admin.ok("GET", "/api/spend");
    expect(namesOf(body)).toEqual(["Large", "Gone", "Small", "Idle"]);
    expect(body["data"]).toMatchObject([
      {
        currency: "EUR",
        spent_microcents: 250_000_000,
        requests: 2,
        recent_requests: 2,
        recent_errors: 0,
        deleted_at: null,
        limits: [],
      },
      { spent_microcents: 30_000_000, requests: 1, deleted_at: expect.any(String) as string },
      { spent_microcents: 10_000_000, requests: 1, limits: [{ period: "month", kind: "cap", cents: 5_000 }] },
      { spent_microcents: 0, requests: 0, recent_requests: 0, forecast_microcents: null },
    ]);
  });

  it("is sorted as asked, and refuses other orders and months", async () => {
    expect(namesOf(await admin.ok("GET", "/api/spend?sort=name"))).toEqual([
      "Gone",
      "Idle",
      "Large",
      "Small",
    ]);
    expect(namesOf(await admin.ok("GET", "/api/spend?sort=-requests"))[0]).toBe("Large");
    expect(await admin.refused("GET", "/api/spend?sort=size")).toMatchObject({ param: "sort" });
    expect(await admin.refused("GET", "/api/spend?month=May")).toMatchObject({ param: "month" });
  });

  it("forecasts this month at the pace of the last seven days, and no past one", async () => {
    const id = await createOrganization(admin, { name: "Paced" });
    const { id: keyId } = await createApiKey(admin, id, { name: "ci" });
    const nowMs = await admin.store.timeMs();
    for (let back = 7; back >= 1; back -= 1) {
      const day = new Date(nowMs - back * 86_400_000).toISOString().slice(0, 10);
      const identity = { ...(await createIdentity(admin.store, { organizationId: id, keyId, hash: "" })) };
      const past = { ...identity, day, month: day.slice(0, 7) };
      await admin.store.charge(chargeInput(past, 1, 100n * CENT, { final: FINAL }));
    }
    const rows = (await admin.ok("GET", "/api/spend"))["data"] as Record<string, unknown>[];
    const row = rows.find((one) => one["organization_id"] === id);
    const spent = Number(row?.["spent_microcents"]);
    expect(Number(row?.["forecast_microcents"])).toBeGreaterThanOrEqual(spent + 100_000_000);
    const past = await admin.ok("GET", "/api/spend?month=2020-01");
    expect(past["data"]).toContainEqual(
      expect.objectContaining({ organization_id: id, forecast_microcents: null, recent_requests: null }),
    );
    await admin.ok("DELETE", `/api/organizations/${id}`);
  });

  it("is one CSV with exact amounts", async () => {
    const { text, headers } = await admin.call("GET", "/api/spend?format=csv&sort=name");
    expect(headers["content-disposition"]).toMatch(/filename="spend-\d{4}-\d{2}\.csv"/);
    const large = parseCsv(text).rows.find((row) => row["organization_name"] === "Large");
    expect(large).toMatchObject({
      monthly_cap: "",
      spent: "2.50000000",
      currency: "EUR",
      requests: "2",
      forecast: "",
    });
  });

  it("counts as errors what failed within a day: 5xx and broken streams, no rejection and no client that left", async () => {
    const id = await createOrganization(admin, { name: "Failing" });
    const { id: keyId } = await createApiKey(admin, id, { name: "ci" });
    const end = async (status: number, errorCode: string | null) => {
      const identity = await createIdentity(admin.store, { organizationId: id, keyId, hash: "" });
      const final = { status, errorCode, checks: [] };
      await admin.store.charge(chargeInput(identity, 1, CENT, { final }));
    };
    await end(502, "upstream_error");
    await end(200, "upstream_error");
    await end(400, "invalid_json");
    await end(499, null);
    for (let more = 0; more < 100; more += 1) await end(200, null);
    const { data } = await admin.ok("GET", "/api/spend?sort=-errors");
    expect((data as unknown[])[0]).toMatchObject({
      organization_id: id,
      recent_requests: 103,
      recent_errors: 2,
    });
  });

  it("is the operator's alone", async () => {
    const token = await createToken(admin, ids[0] ?? "", "admin");
    expect(await admin.refused("GET", "/api/spend", { token })).toMatchObject({ status: 403 });
  });
});
