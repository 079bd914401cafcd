import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { USAGE_COLUMNS } from "../../src/management/admin/usage-export/usage-table.ts";
import { parseExactJson } from "../../src/shared/text/exact-json.ts";
import type { TestKey } from "../store/fixture.ts";
import { chargeInput, createIdentity, FINAL, holdInput } from "../store/fixture.ts";
import { parseCsv } from "../support/parse-csv.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  listAll,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
const keys: string[] = [];
let today = "";

/** What of each request's cost is for tools. */
const TOOL_MICROCENTS = 10;

/** One settled request: 10 input, 3 cached, 7 output, 1 reasoning tokens. */
async function spend(keyId: string, model: string, microcents: bigint): Promise<string> {
  const key: TestKey = { organizationId: organization, keyId, hash: "" };
  const identity = { ...(await createIdentity(admin.store, key)), model };
  await admin.store.hold(holdInput(identity));
  const toolMicrocents = BigInt(TOOL_MICROCENTS);
  await admin.store.charge(chargeInput(identity, 1, microcents, { toolMicrocents, final: FINAL }));
  today = identity.day;
  return identity.requestId;
}

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  for (const name of ["a", "b"]) keys.push((await createApiKey(admin, organization, { name })).id);
  await spend(keys[0]!, "acme/echo-small", 1_500_000n);
  await spend(keys[0]!, "acme/echo-small", 1_000_000n);
  await spend(keys[0]!, "acme/echo-large", 400_000n);
  await spend(keys[1]!, "acme/echo-small", 250_000n);
});
afterAll(() => admin.stop());

const usage = (query = ""): Promise<Record<string, unknown>> =>
  admin.ok("GET", `/api/organizations/${organization}/usage${query}`);

const figures = (requests: number, costMicrocents: number) => ({
  requests,
  input_tokens: 10 * requests,
  cached_input_tokens: 3 * requests,
  output_tokens: 7 * requests,
  reasoning_tokens: requests,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  input_audio_tokens: 0,
  output_audio_tokens: 0,
  estimated_requests: 0,
  cost_microcents: costMicrocents,
  cost_cents: Math.floor(costMicrocents / 1_000_000),
  server_tool_microcents: TOOL_MICROCENTS * requests,
});

describe("GET …/usage", () => {
  it("gives one row for everything when it is asked for no groups", async () => {
    expect(await usage()).toEqual({
      month: today.slice(0, 7),
      currency: "USD",
      tag_combinations: { kept: 0, most: 1000, has_other: false },
      data: [figures(4, 3_150_000)],
    });
  });

  it("gives one row of zeros for a month without requests", async () => {
    expect(await usage("?month=2020-01")).toEqual({
      month: "2020-01",
      currency: "USD",
      tag_combinations: { kept: 0, most: 1000, has_other: false },
      data: [figures(0, 0)],
    });
    expect(await usage("?month=2020-01&group_by=day")).toMatchObject({ data: [] });
  });

  const rows = () => {
    const [a, b] = keys;
    return {
      day: [{ day: today, ...figures(4, 3_150_000) }],
      key: [
        { key_id: a, key_name: "a", ...figures(3, 2_900_000) },
        { key_id: b, key_name: "b", ...figures(1, 250_000) },
      ],
      model: [
        { model: "acme/echo-large", ...figures(1, 400_000) },
        { model: "acme/echo-small", ...figures(3, 2_750_000) },
      ],
      "day,key": [
        { day: today, key_id: a, key_name: "a", ...figures(3, 2_900_000) },
        { day: today, key_id: b, key_name: "b", ...figures(1, 250_000) },
      ],
      "day,model": [
        { day: today, model: "acme/echo-large", ...figures(1, 400_000) },
        { day: today, model: "acme/echo-small", ...figures(3, 2_750_000) },
      ],
      "key,model": [
        { key_id: a, key_name: "a", model: "acme/echo-large", ...figures(1, 400_000) },
        { key_id: a, key_name: "a", model: "acme/echo-small", ...figures(2, 2_500_000) },
        { key_id: b, key_name: "b", model: "acme/echo-small", ...figures(1, 250_000) },
      ],
      "day,key,model": [
        { day: today, key_id: a, key_name: "a", model: "acme/echo-large", ...figures(1, 400_000) },
        { day: today, key_id: a, key_name: "a", model: "acme/echo-small", ...figures(2, 2_500_000) },
        { day: today, key_id: b, key_name: "b", model: "acme/echo-small", ...figures(1, 250_000) },
      ],
    };
  };

  it.each(["day", "key", "model", "day,key", "day,model", "key,model", "day,key,model"] as const)(
    "groups by %s",
    async (groups) => {
      expect((await usage(`?group_by=${groups}`))["data"]).toEqual(rows()[groups]);
    },
  );

  it("does not mind the order of the groups", async () => {
    expect(await usage("?group_by=model,key,day")).toEqual(await usage("?group_by=day,key,model"));
  });

  it("gives the same as CSV", async () => {
    const path = `/api/organizations/${organization}/usage?group_by=key,model&format=csv`;
    const answer = await admin.call("GET", path);
    expect(answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(answer.headers["content-disposition"]).toContain(`usage-${organization}-${today.slice(0, 7)}.csv`);
    const { columns, rows: lines } = parseCsv(answer.text);
    expect(columns).toEqual(USAGE_COLUMNS.map(([name]) => name));
    expect(
      lines.map((row) => [row["key_id"], row["key_name"], row["model"], row["requests"], row["cost"]]),
    ).toEqual([
      [keys[0], "a", "acme/echo-large", "1", "0.00400000"],
      [keys[0], "a", "acme/echo-small", "2", "0.02500000"],
      [keys[1], "b", "acme/echo-small", "1", "0.00250000"],
    ]);
    expect(lines[1]).toMatchObject({
      row_id: `all ${keys[0]} acme/echo-small -`,
      day: "",
      organization_id: organization,
      tags: "",
      input_tokens: "20",
      cached_input_tokens: "6",
      output_tokens: "14",
      reasoning_tokens: "2",
      cost_microcents: "2500000",
      currency: "USD",
      server_tool_microcents: "20",
    });
  });

  it("gives a CSV with nothing but its header for a month without requests", async () => {
    const path = `/api/organizations/${organization}/usage?month=2020-01&group_by=day&format=csv`;
    const exported = `/api/organizations/${organization}/usage/export?month=2020-01`;
    const [shown, whole] = [await admin.call("GET", path), await admin.call("GET", exported)];
    expect(shown.text).toMatch(/^row_id,day,organization_id,[a-z0-9_,]+,server_tool_microcents\r\n$/);
    expect(whole.text).toBe(shown.text);
  });

  it.each([
    { query: "month=2026-13", param: "month" },
    { query: "month=november", param: "month" },
    { query: "group_by=days", param: "group_by" },
    { query: "group_by=", param: "group_by" },
    { query: "group_by=day,day", param: "group_by" },
    { query: "format=xml", param: "format" },
    { query: "groupby=day", param: "groupby" },
  ])("refuses ?$query with 400", async ({ query, param }) => {
    const path = `/api/organizations/${organization}/usage?${query}`;
    expect(await admin.refused("GET", path)).toMatchObject({ status: 400, param });
  });

  it("keeps the rows of a deleted key, with its name", async () => {
    const { id, path } = await createApiKey(admin, organization);
    await spend(id, "acme/echo-small", 1n);
    await admin.ok("DELETE", path);
    expect((await usage("?group_by=key"))["data"]).toContainEqual({
      key_id: id,
      key_name: "ci",
      ...figures(1, 1),
    });
  });
});

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

  it("is refused with the Idempotency-Key of another, also when both come at once", async () => {
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
      name: "a key that there is not",
      body: { amount_cents: 1, reason: "a", key_id: "key_x" },
      param: "key_id",
    },
  ])("refuses $name with 400", async ({ body, param }) => {
    expect(await admin.refused("POST", path(organization), { body })).toMatchObject({ status: 400, param });
  });
});

describe("…/requests", () => {
  const path = (): string => `/api/organizations/${organization}/requests`;

  it("lists the last requests, newest first, page by page to the end", async () => {
    const ids = (await listAll(admin, path(), 2)).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(4);
    const newest = await spend(keys[0]!, "acme/echo-small", 7n);
    expect(await admin.ok("GET", `${path()}?limit=1`)).toMatchObject({
      data: [{ id: newest }],
      has_more: true,
    });
  });

  it("shows what one request cost", async () => {
    const id = await spend(keys[1]!, "acme/echo-large", 1_234_567n);
    expect(await admin.ok("GET", `${path()}/${id}`)).toMatchObject({
      id,
      key_id: keys[1],
      model: "acme/echo-large",
      status: 200,
      error_code: null,
      input_tokens: 10,
      cost_microcents: 1_234_567,
      cost_cents: 1,
    });
  });

  it("shows why one was refused: every check with its figures", async () => {
    const key = await createApiKey(admin, organization, { hard_cap_cents: 0 });
    const { admit } = await import("./admin-fixture.ts");
    expect((await admit(admin, key.key)).decision).toBe("key_cap_reached");
    const page = await admin.ok("GET", `${path()}?limit=1`);
    const [refused] = page["data"] as Record<string, unknown>[];
    expect(refused).toMatchObject({ key_id: key.id, status: 402, error_code: "hard_cap_reached" });
    expect(refused?.["checks"]).toContainEqual(
      expect.objectContaining({ name: "key_hard_cap", passed: false }),
    );
    expect(await admin.ok("GET", `${path()}/${String(refused?.["id"])}`)).toMatchObject(refused!);
  });

  it.each(["req_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11", "x"])(
    "answers 404 to the unknown id %s",
    async (id) => {
      expect(await admin.refused("GET", `${path()}/${id}`)).toMatchObject({
        status: 404,
        code: "request_not_found",
      });
    },
  );

  it("does not show one organization's request to another", async () => {
    const id = await spend(keys[0]!, "acme/echo-small", 1n);
    const other = await createOrganization(admin);
    const foreign = `/api/organizations/${other}/requests/${id}`;
    expect(await admin.refused("GET", foreign)).toMatchObject({ status: 404 });
  });

  it.each(["x", "1-1", "1-1_", "1-1_1-1_1-1", "+_+", "-_99999999999999999999-1", "0-0_-"])(
    "refuses ?after=%s with 400",
    async (after) => {
      const refusal = await admin.refused("GET", `${path()}?after=${encodeURIComponent(after)}`);
      expect(refusal).toMatchObject({ status: 400, param: "after" });
    },
  );

  it.each(["from", "to"])(
    "refuses a ?%s before 1970, which no entry of a list is from, with 400",
    async (name) => {
      expect(await admin.refused("GET", `${path()}?${name}=1960-01-01`)).toMatchObject({
        status: 400,
        param: name,
      });
    },
  );
});
