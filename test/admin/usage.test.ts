import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { USAGE_COLUMNS } from "../../src/management/admin/usage-export/usage-table.ts";
import { addDays } from "../../src/shared/time/day-range.ts";
import type { TestKey } from "../store/fixture.ts";
import { chargeInput, createIdentity, FINAL, openRecordInput } from "../store/fixture.ts";
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

function keyOf(keyId: string): TestKey {
  return { organizationId: organization, keyId, hash: "" };
}

/** One settled request: 10 input, 3 cached, 7 output, 1 reasoning tokens. */
async function spend(keyId: string, model: string, microcents: bigint): Promise<string> {
  const identity = { ...(await createIdentity(admin.store, keyOf(keyId))), model };
  await admin.store.openRecord(openRecordInput(identity));
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

function monthOf(day: string): { from: string; to: string } {
  const [year = 0, month = 0] = day.split("-").map(Number);
  return { from: `${day.slice(0, 7)}-01`, to: new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10) };
}

describe("GET …/usage", () => {
  it("gives one row for everything when it is asked for no groups", async () => {
    expect(await usage()).toEqual({
      ...monthOf(today),
      currency: "USD",
      complete_from: null,
      tag_combinations: { kept: 0, most: 1000, has_other: false, names: [] },
      filter_names: {},
      data: [figures(4, 3_150_000)],
    });
  });

  it("gives one row of zeros for a month without requests", async () => {
    expect(await usage("?month=2020-01")).toEqual({
      from: "2020-01-01",
      to: "2020-01-31",
      currency: "USD",
      complete_from: null,
      tag_combinations: { kept: 0, most: 1000, has_other: false, names: [] },
      filter_names: {},
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
    expect(shown.text).toMatch(
      /^row_id,day,organization_id,[a-z0-9_,]+,server_tool_microcents,session_id\r\n$/,
    );
    expect(whole.text).toBe(shown.text);
  });

  it.each([
    { query: "month=2026-13", param: "month" },
    { query: "month=november", param: "month" },
    { query: "group_by=days", param: "group_by" },
    { query: "group_by=", param: "group_by" },
    { query: "group_by=day,day", param: "group_by" },
    { query: "group_by=day,week", param: "group_by" },
    { query: "top=0", param: "top" },
    { query: "order=name", param: "order" },
    { query: "from=2026-02-30", param: "from" },
    { query: "to=2026-11-30", param: "from" },
    { query: "from=2026-11-30&to=2026-11-01", param: "to" },
    { query: "from=2026-11-01&month=2026-11", param: "month" },
    { query: "from=2025-01-01&to=2026-11-30", param: "from" },
    { query: "format=xml", param: "format" },
    { query: "groupby=day", param: "groupby" },
  ])("refuses ?$query with 400", async ({ query, param }) => {
    const path = `/api/organizations/${organization}/usage?${query}`;
    expect(await admin.refused("GET", path)).toMatchObject({ status: 400, param });
  });

  it("sums up days across months, in weeks from Monday or in months", async () => {
    const days = `from=${addDays(today, -60)}&to=${today}`;
    const monday = addDays(today, -((new Date(today).getUTCDay() + 6) % 7));
    expect((await usage(`?${days}&group_by=week`))["data"]).toEqual([
      { week: monday, ...figures(4, 3_150_000) },
    ]);
    expect(await usage(`?${days}&group_by=month`)).toMatchObject({
      from: addDays(today, -60),
      to: today,
      data: [{ month: today.slice(0, 7), ...figures(4, 3_150_000) }],
    });
    expect((await usage(`?from=${addDays(today, -60)}&to=${addDays(today, -1)}`))["data"]).toEqual([
      figures(0, 0),
    ]);
  });

  it("ranks the largest groups, and sums up the others in one row", async () => {
    const [a, b] = keys;
    const largest = { key_id: a, key_name: "a", ...figures(3, 2_900_000) };
    const others = { others: 1, key_id: null, key_name: null, ...figures(1, 250_000) };
    expect((await usage("?group_by=key&top=1"))["data"]).toEqual([largest, others]);
    expect((await usage("?group_by=key&top=2"))["data"]).toEqual([
      largest,
      { key_id: b, key_name: "b", ...figures(1, 250_000) },
    ]);
    const [, small] = (await usage("?group_by=day,model&top=1&order=requests"))["data"] as object[];
    expect(small).toEqual({ day: today, others: 1, model: null, ...figures(1, 400_000) });
  });

  it("tells hours and sessions of the requests that are still listed, which is all here", async () => {
    const identity = { ...(await createIdentity(admin.store, keyOf(keys[1]!))), session: "nightly" };
    await admin.store.charge(chargeInput(identity, 1, 70n, { final: FINAL }));
    const bySession = await usage("?group_by=session");
    expect(bySession["complete_from"]).toBeNull();
    const costs = (bySession["data"] as Record<string, unknown>[]).map((row) => [
      row["session_id"],
      row["requests"],
      row["cost_microcents"],
    ]);
    expect(costs).toEqual([
      ["nightly", 1, 70],
      [null, 4, 3_150_000],
    ]);
    const [hour] = (await usage("?session=nightly&group_by=hour,key"))["data"] as Record<string, unknown>[];
    expect(hour).toMatchObject({ key_id: keys[1], requests: 1, cost_microcents: 70 });
    expect(hour?.["hour"]).toMatch(new RegExp(`^${identity.day}T\\d\\d:00Z$`));
    expect((await usage("?session=night"))["data"]).toMatchObject([{ requests: 0 }]);
    const csv = await admin.call(
      "GET",
      `/api/organizations/${organization}/usage?group_by=session&format=csv`,
    );
    expect(parseCsv(csv.text).rows.map((row) => row["session_id"])).toEqual(["nightly", ""]);
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
