/** Usage by whose the requests were when they were admitted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatOwnerIds, type OwnerIds } from "../../src/shared/stored/owner-ids.ts";
import { addTestGroup, addTestUser, chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { findFocusBreaches } from "../support/focus-checker.ts";
import { parseCsv } from "../support/parse-csv.ts";
import { type AdminUnderTest, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
let key = "";
let ann = "";
let team = "";
let gone = "";

/** One request of one key, and of whoever had it then. */
async function spend(owners: OwnerIds, microcents: bigint): Promise<void> {
  const identity = await createIdentity(admin.store, { organizationId: organization, keyId: key, hash: "" });
  const input = chargeInput({ ...identity, owners: formatOwnerIds(owners) }, 1, microcents, { final: FINAL });
  await admin.store.charge(input);
}

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  key = (await createApiKey(admin, organization, { name: "ci" })).id;
  team = await addTestGroup(admin.store, organization, { name: "Search" });
  ann = await addTestUser(admin.store, organization, { name: "Ann" });
  gone = await addTestUser(admin.store, organization, { name: "=Bob" });
  await spend({ userId: null, groupId: null }, 1n);
  await spend({ userId: ann, groupId: null }, 20n);
  await spend({ userId: ann, groupId: team }, 300n);
  await spend({ userId: gone, groupId: team }, 4_000n);
  await spend({ userId: null, groupId: team }, 50_000n);
  await admin.ok("DELETE", `/api/organizations/${organization}/users/${gone}`);
});
afterAll(() => admin.stop());

const path = (rest: string): string => `/api/organizations/${organization}/usage${rest}`;

async function costs(query: string): Promise<unknown[]> {
  const { data } = await admin.ok("GET", path(query));
  return (data as Record<string, unknown>[]).map((row) => {
    const { user_id: user, user_name: userName, group_id: group, group_name: groupName } = row;
    const told = [user, userName, group, groupName].filter((one) => one !== undefined);
    return [...told, row["cost_microcents"]];
  });
}

describe("usage by user and group", () => {
  it("adds up what each user spent, with the name of one who was deleted since", async () => {
    expect(await costs("?group_by=user")).toEqual([
      [ann, "Ann", 320],
      [gone, "=Bob", 4_000],
      [null, null, 50_001],
    ]);
  });

  it("adds up what each group spent", async () => {
    expect(await costs("?group_by=group")).toEqual([
      [team, "Search", 54_300],
      [null, null, 21],
    ]);
  });

  it("keeps each pair of both apart, in the order of users and whatever the caller's", async () => {
    const rows = [
      [ann, "Ann", team, "Search", 300],
      [ann, "Ann", null, null, 20],
      [gone, "=Bob", team, "Search", 4_000],
      [null, null, team, "Search", 50_000],
      [null, null, null, null, 1],
    ];
    expect(await costs("?group_by=user,group")).toEqual(rows);
    expect(await costs("?group_by=group,user")).toEqual(rows);
  });

  it("is narrowed down to a user's or a group's, of a deleted one too", async () => {
    expect(await costs(`?user_id=${ann}`)).toEqual([[320]]);
    expect(await costs(`?group_id=${team}`)).toEqual([[54_300]]);
    expect(await costs(`?user_id=${gone}&group_id=${team}`)).toEqual([[4_000]]);
    expect(await costs(`?user_id=${gone}&group_by=group,user`)).toEqual([
      [gone, "=Bob", team, "Search", 4_000],
    ]);
  });

  it("has no rows for another organization's user, and refuses what is no id by the field's name", async () => {
    const other = await createOrganization(admin, { name: "Other" });
    const stranger = await addTestUser(admin.store, other, { name: "Eve" });
    expect(await costs(`?user_id=${stranger}&group_by=user`)).toEqual([]);
    for (const [field, value] of [
      ["user_id", team],
      ["group_id", ann],
      ["user_id", "x"],
    ]) {
      expect(await admin.refused("GET", path(`?${field}=${value}`))).toMatchObject({
        status: 400,
        param: field,
      });
    }
  });
});

/** Columns of whose rows are, and what they cost. */
const shown = (row: Record<string, string>): string[] =>
  ["user_id", "user_name", "group_id", "group_name", "cost_microcents"].map((name) => row[name] ?? "missing");

describe("a table of usage", () => {
  it("has one row for each owner of one key and model, each with an id of its own", async () => {
    const { rows } = parseCsv((await admin.call("GET", path("/export"))).text);
    expect(rows.map(shown)).toEqual([
      ["", "", "", "", "1"],
      ["", "", team, "Search", "50000"],
      [ann, "Ann", "", "", "20"],
      [ann, "Ann", team, "Search", "300"],
      [gone, "'=Bob", team, "Search", "4000"],
    ]);
    const day = rows[0]!["day"];
    const model = rows[0]!["model"];
    expect(rows.map((row) => row["row_id"])).toEqual([
      `${day} ${key} ${model} -`,
      `${day} ${key}.${team} ${model} -`,
      `${day} ${key}.${ann} ${model} -`,
      `${day} ${key}.${ann}.${team} ${model} -`,
      `${day} ${key}.${gone}.${team} ${model} -`,
    ]);
  });

  it("is gone on with behind any of these rows, in each format", async () => {
    for (const [format, column] of [
      ["csv", "row_id"],
      ["focus", "x_RowId"],
    ] as const) {
      const whole = (await admin.call("GET", path(`/export?format=${format}`))).text;
      const [header = "", ...lines] = whole.trimEnd().split("\r\n");
      const ids = parseCsv(whole).rows.map((row) => row[column]!);
      for (const [position, id] of ids.entries()) {
        const after = encodeURIComponent(id);
        const rest = (await admin.call("GET", path(`/export?format=${format}&after=${after}`))).text;
        expect([header, ...lines.slice(0, position + 1), ...rest.split("\r\n").slice(0, -1)]).toEqual([
          header,
          ...lines,
        ]);
      }
    }
  });

  it("tells rows of `group_by=user,group` apart as CSV", async () => {
    const { rows } = parseCsv((await admin.call("GET", path("?group_by=user,group&format=csv"))).text);
    expect(rows.map((row) => row["row_id"])).toEqual([
      `all -.${ann}.${team} - -`,
      `all -.${ann} - -`,
      `all -.${gone}.${team} - -`,
      `all -.${team} - -`,
      "all - - -",
    ]);
    expect(rows.map(shown)[2]).toEqual([gone, "'=Bob", team, "Search", "4000"]);
  });

  it("says it in FOCUS in columns of the gateway's own, which the specification allows", async () => {
    const { columns, rows } = parseCsv((await admin.call("GET", path("/export?format=focus"))).text);
    expect(findFocusBreaches(columns, rows)).toEqual([]);
    expect(rows.at(-1)).toMatchObject({
      x_UserId: gone,
      x_UserName: "'=Bob",
      x_GroupId: team,
      x_GroupName: "Search",
    });
    expect(rows[0]).toMatchObject({ x_UserId: "", x_UserName: "", x_GroupId: "", x_GroupName: "" });
  });
});

describe("names of users and groups", () => {
  it("are read in batches, those of another organization or of no id not at all", async () => {
    const other = await createOrganization(admin, { name: "Other names" });
    const stranger = await addTestUser(admin.store, other, { name: "Eve" });
    const unknown = Array.from(
      { length: 1_200 },
      (_, number) => `user_01934f6e-7d3a-7c1e-9a40-${String(number).padStart(12, "0")}`,
    );
    const ids = [...unknown, ann, "key:x", stranger, team, gone];
    expect(await admin.store.readOwnerNames(organization, ids)).toEqual(
      new Map([
        [ann, "Ann"],
        [team, "Search"],
        [gone, "=Bob"],
      ]),
    );
  });
});
