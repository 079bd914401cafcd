import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseMonth } from "../../src/shared/time/calendar.ts";
import { verifyUsage } from "../../src/data-path/request-log/verify-usage.ts";
import { readExportRows } from "../../src/management/admin/usage-export/export-rows.ts";
import { findFocusBreaches } from "../support/focus-checker.ts";
import { parseCsv, splitLines } from "../support/parse-csv.ts";
import { chargeInput, createIdentity, FINAL, openRecordInput } from "../store/fixture.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

const MONTH = "2028-02";
const DAYS = ["2028-02-01", "2028-02-28", "2028-02-29"];
const TAGS = ["", "team=search", "feature=a,team=search"];

let admin: AdminUnderTest;
let organization = "";
let keys: string[] = [];

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin, { name: 'Acme, "Inc"' });
  const names = ["=HYPERLINK(1)", "+b"];
  keys = await Promise.all(names.map(async (name) => (await createApiKey(admin, organization, { name })).id));
  let cost = 123_456_789_012_345n;
  for (const day of DAYS) {
    for (const keyId of keys) {
      for (const tags of TAGS) {
        for (const model of ["acme/echo-small", "zeta/model:beta"]) {
          const key = { organizationId: organization, keyId, hash: "" };
          const identity = { ...(await createIdentity(admin.store, key)), month: MONTH, day, model, tags };
          await admin.store.openRecord(openRecordInput(identity));
          await admin.store.charge(
            chargeInput(identity, 1, (cost += 1_000_003n), { toolMicrocents: 7n, final: FINAL }),
          );
        }
      }
    }
  }
  await admin.ok("DELETE", `/api/organizations/${organization}/keys/${keys[1]}`);
});
afterAll(() => admin.stop());

const ROWS = DAYS.length * 2 * TAGS.length * 2;

async function download(query: string): Promise<{ readonly bytes: Buffer; readonly headers: Headers }> {
  const url = `${admin.url}/api/organizations/${organization}/usage/export?month=${MONTH}${query}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
  expect([answer.status, query]).toEqual([200, query]);
  return { bytes: Buffer.from(await answer.arrayBuffer()), headers: answer.headers };
}

const text = async (query: string): Promise<string> => (await download(query)).bytes.toString("utf8");
const sumOf = (amounts: readonly (string | undefined)[]): bigint =>
  amounts.reduce((sum, amount) => sum + BigInt(amount ?? "x"), 0n);
/** "1234567.89012345" → microcents. */
const microcents = (decimal: string | undefined): string => String(decimal).replace(".", "");

async function spent(): Promise<bigint> {
  return (await admin.store.readSpend(organization, MONTH)).organizationMicrocents;
}

describe("an export of a month's usage", () => {
  it("has a row for each day, key, model and combination of tags, with names beside ids", async () => {
    const { bytes, headers } = await download("");
    const { columns, rows } = parseCsv(bytes.toString("utf8"));
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(headers.get("content-disposition")).toBe(
      `attachment; filename="usage-${organization}-${MONTH}.csv"`,
    );
    expect(columns.slice(0, 8)).toEqual([
      "row_id",
      "day",
      "organization_id",
      "organization_name",
      "key_id",
      "key_name",
      "model",
      "tags",
    ]);
    expect(rows).toHaveLength(ROWS);
    expect(new Set(rows.map((row) => row["row_id"])).size).toBe(ROWS);
    const shown = rows.map((row) => [row["day"], row["key_id"], row["model"], row["tags"]].join(" "));
    expect(shown).toEqual(shown.toSorted());
    expect(new Set(rows.map((row) => row["organization_name"]))).toEqual(new Set(['Acme, "Inc"']));
    expect(rows[0]).toMatchObject({ requests: "1", input_tokens: "10", output_tokens: "7", currency: "USD" });
    for (const column of [
      "cache_write_tokens",
      "cache_write_1h_tokens",
      "input_audio_tokens",
      "output_audio_tokens",
      "server_tool_microcents",
    ]) {
      expect(columns).toContain(column);
    }
  });

  it("makes a cell that a spreadsheet would run a text, and leaves numbers alone", async () => {
    const { rows } = parseCsv(await text(""));
    expect(new Set(rows.map((row) => row["key_name"]))).toEqual(new Set(["'=HYPERLINK(1)", "'+b"]));
  });

  it("adds up to the spend that `usage verify` finds no difference in, in each format", async () => {
    const { differences } = await verifyUsage(admin.store, MONTH, null);
    expect(differences).toEqual([]);
    const csv = parseCsv(await text("&format=csv")).rows;
    const focus = parseCsv(await text("&format=focus")).rows;
    const lines = (await text("&format=jsonl")).trimEnd().split("\n");
    const sums = [
      sumOf(csv.map((row) => row["cost_microcents"])),
      sumOf(csv.map((row) => microcents(row["cost"]))),
      sumOf(lines.map((line) => /"cost_microcents":(-?\d+)/u.exec(line)?.[1])),
      sumOf(lines.map((line) => microcents((JSON.parse(line) as { cost: string }).cost))),
      sumOf(focus.map((row) => microcents(row["BilledCost"]))),
      sumOf(focus.map((row) => row["x_CostMicrocents"])),
    ];
    expect(new Set(sums)).toEqual(new Set([await spent()]));
  });

  it("has what of it was for tools of the model server in a column of its own, in each format", async () => {
    const csv = parseCsv(await text("&format=csv")).rows;
    const focus = parseCsv(await text("&format=focus")).rows;
    const lines = (await text("&format=jsonl")).trimEnd().split("\n");
    const told = [
      csv.map((row) => Number(row["server_tool_microcents"])),
      focus.map((row) => Number(row["x_ServerToolMicrocents"])),
      lines.map((line) => (JSON.parse(line) as Record<string, unknown>)["server_tool_microcents"]),
    ];
    const requests = csv.map((row) => (row["model"] === "" ? 0 : Number(row["requests"])));
    expect(told).toEqual([0, 1, 2].map(() => requests.map((count) => 7 * count)));
  });

  it("is JSON lines with tags as an object", async () => {
    const lines = (await text("&format=jsonl")).trimEnd().split("\n");
    const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows).toHaveLength(ROWS);
    expect(rows.map((row) => row["tags"])).toContainEqual({ feature: "a", team: "search" });
    expect(rows[0]).toMatchObject({
      organization_name: 'Acme, "Inc"',
      key_name: expect.any(String) as string,
    });
  });

  it("goes on behind any row without a header, and ends as the whole one does", async () => {
    for (const format of ["csv", "focus"]) {
      const whole = splitLines(await text(`&format=${format}`));
      const column = whole[0]!.findIndex((name) => name === "row_id" || name === "x_RowId");
      for (const have of [1, 7, ROWS - 1, ROWS]) {
        const after = encodeURIComponent(whole[have]![column]!);
        const rest = splitLines(await text(`&format=${format}&after=${after}`));
        expect([...whole.slice(0, have + 1), ...rest]).toEqual(whole);
      }
    }
  });

  it("can be compressed", async () => {
    const { bytes, headers } = await download("&gzip=true&format=focus");
    expect(headers.get("content-type")).toBe("application/gzip");
    expect(headers.get("content-disposition")).toContain(`${MONTH}.focus.csv.gz`);
    expect(gunzipSync(bytes).toString("utf8")).toBe(await text("&format=focus"));
  });

  it("reads a day only when its first row is asked for", async () => {
    const read: string[] = [];
    const store = {
      getKey: (reference: { organizationId: string; keyId: string }) => admin.store.getKey(reference),
      readOwnerNames: (id: string, ids: readonly string[]) => admin.store.readOwnerNames(id, ids),
      readUsageOfDay: (id: string, day: string) => {
        read.push(day);
        return admin.store.readUsageOfDay(id, day);
      },
    };
    const month = parseMonth(MONTH)!;
    const rows = readExportRows(
      store,
      { id: organization, name: "Acme", currency: "USD" },
      { month, after: null },
    );
    await rows.next();
    expect(read).toEqual(["2028-02-01"]);
    await rows.next();
    expect(read.at(-1)).toBe("2028-02-28");
    await rows.return(undefined);
  });

  it("has a header alone for a month without requests, and refuses what is no format, month or row", async () => {
    const path = `/api/organizations/${organization}/usage/export`;
    const empty = await admin.call("GET", `${path}?month=2020-01&format=jsonl`);
    expect([empty.status, empty.text]).toEqual([200, ""]);
    for (const query of ["format=xml", "month=2026-13", "after=x", "gzip=1"]) {
      expect((await admin.call("GET", `${path}?${query}`)).status).toBe(400);
    }
  });
});

describe("an export as FOCUS", () => {
  it("keeps the specification's rules for columns, corrections included", async () => {
    const correction = { amount_microcents: -1_234_567, reason: "refund", key_id: keys[0] };
    await admin.ok("POST", `/api/organizations/${organization}/spend-corrections`, { body: correction });
    const now = await admin.call("GET", `/api/organizations/${organization}/usage/export?format=focus`);
    const current = parseCsv(now.text);
    expect(current.rows).toHaveLength(1);
    expect(current.rows[0]).toMatchObject({
      BilledCost: "-0.01234567",
      ChargeCategory: "Adjustment",
      ChargeClass: "",
      PricingQuantity: "",
    });
    const { columns, rows } = parseCsv(await text("&format=focus"));
    expect(findFocusBreaches(columns, [...rows, ...current.rows])).toEqual([]);
    expect(rows[0]).toMatchObject({
      BillingAccountId: organization,
      BillingPeriodStart: "2028-02-01T00:00:00Z",
      BillingPeriodEnd: "2028-03-01T00:00:00Z",
      ChargePeriodStart: "2028-02-01T00:00:00Z",
      ChargePeriodEnd: "2028-02-02T00:00:00Z",
      ChargeCategory: "Usage",
      PricingQuantity: "20",
      PricingUnit: "Tokens",
      PublisherName: "acme",
      ServiceCategory: "AI and Machine Learning",
      SubAccountType: "API key",
      Tags: "{}",
    });
  });

  it("would not pass the check with a column less, a null too many or a value of another form", async () => {
    const { columns, rows } = parseCsv(await text("&format=focus"));
    const [row] = rows;
    const idsOf = (names: readonly string[], changed: object = {}): string[] =>
      findFocusBreaches(names, [{ ...row!, ...changed }]).map((breach) => breach.replace(/:[^:]*$/u, ""));
    expect(idsOf(columns.slice(1))).toEqual(["CostAndUsage-D-006-M"]);
    expect(idsOf([...columns, "Cost"])).toHaveLength(1);
    expect(idsOf(columns, { ServiceName: "" })).not.toEqual([]);
    expect(idsOf(columns, { ChargePeriodEnd: "2028-02-02" })).not.toEqual([]);
    expect(idsOf(columns, { PricingUnit: "" })).not.toEqual([]);
    expect(idsOf(columns, { ServiceSubcategory: "Spreadsheets" })).not.toEqual([]);
    expect(idsOf(columns, { BillingCurrency: "usd" })).not.toEqual([]);
    expect(idsOf(columns, { Tags: '{"team":{}}' })).not.toEqual([]);
  });
});
