/** Spend corrections that are a user's or a group's. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { verifyUsage } from "../../src/data-path/request-log/verify-usage.ts";
import { verifyWindows } from "../../src/data-path/request-log/verify-windows.ts";
import { LIMIT_PERIODS } from "../../src/shared/settings/limits.ts";
import type { WindowSpend } from "../../src/shared/stored/windows.ts";
import { type AdminUnderTest, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

const LIMITS = LIMIT_PERIODS.map((period) => ({ period, kind: "cap", cents: 100_000 }));
const CENT = 1_000_000;

let base = "";
let organization = "";
let team = "";
let other = "";
/** In the team. */
let ann = "";
/** In no group. */
let bob = "";
/** Ann's. */
let key = "";

beforeEach(async () => {
  organization = await createOrganization(admin);
  base = `/api/organizations/${organization}`;
  const create = async (path: string, body: object) =>
    String((await admin.ok("POST", base + path, { body }))["id"]);
  team = await create("/groups", { name: "Team", limits: LIMITS });
  other = await create("/groups", { name: "Other" });
  ann = await create("/users", { name: "Ann", group_id: team });
  bob = await create("/users", { name: "Bob" });
  key = (await createApiKey(admin, organization, { user_id: ann })).id;
});

const correct = (fields: object, headers: Readonly<Record<string, string>> = {}) =>
  admin.ok("POST", `${base}/spend-corrections`, {
    headers,
    body: { amount_cents: 5, reason: "a", ...fields },
  });
const refused = (fields: object, headers: Readonly<Record<string, string>> = {}) =>
  admin.refused("POST", `${base}/spend-corrections`, {
    headers,
    body: { amount_cents: 5, reason: "a", ...fields },
  });

/** Of each period, who has spent what: "user_… 5000000". */
async function readCounters(): Promise<Record<string, readonly string[]>> {
  const month = new Date(await admin.store.timeMs()).toISOString();
  const { windows } = await admin.store.listWindows(organization, month.slice(0, 7));
  const counters = new Map<string, readonly string[]>();
  for (const window of windows) {
    const read = await admin.store.readWindow(organization, window);
    const spends = read.filter(({ microcents }) => microcents !== 0n).map(formatSpend);
    // Of the day and the week before there is nothing.
    if (spends.length > 0) counters.set(window.period, sort(spends));
  }
  return Object.fromEntries(counters);
}

const sort = (texts: readonly string[]) => texts.toSorted((one, other) => (one < other ? -1 : 1));
const formatSpend = ({ scope, id, microcents }: WindowSpend): string => `${id ?? scope} ${microcents}`;

async function readUsage() {
  const { data } = await admin.ok("GET", `${base}/usage?group_by=key,user,group,model`);
  return data;
}

describe("a spend correction", () => {
  it.each([
    {
      name: "of a key is its user's and its group's",
      fields: () => ({ key_id: key }),
      owners: () => [key, ann, team],
    },
    {
      name: "of a user is its group's",
      fields: () => ({ user_id: ann }),
      owners: () => [null, ann, team],
    },
    {
      name: "of a user without a group is nobody else's",
      fields: () => ({ user_id: bob }),
      owners: () => [null, bob, null],
    },
    {
      name: "of a group is no user's",
      fields: () => ({ group_id: team }),
      owners: () => [null, null, team],
    },
    {
      name: "of a key and a group that is not its own is that group's",
      fields: () => ({ key_id: key, group_id: other }),
      owners: () => [key, ann, other],
    },
    {
      name: "of a key and a user that is not its own is that user's",
      fields: () => ({ key_id: key, user_id: bob }),
      owners: () => [key, bob, null],
    },
    {
      name: "of a user and no group is nobody else's",
      fields: () => ({ user_id: ann, group_id: null }),
      owners: () => [null, ann, null],
    },
    {
      name: "of a key and nobody is the key's alone",
      fields: () => ({ key_id: key, user_id: null, group_id: null }),
      owners: () => [key, null, null],
    },
    {
      name: "of the organization is nobody else's",
      fields: () => ({}),
      owners: () => [null, null, null],
    },
  ])("$name, in its usage row and in every window", async ({ fields, owners }) => {
    const [keyId = null, userId = null, groupId = null] = owners();
    const told = { key_id: keyId, user_id: userId, group_id: groupId };
    expect(await correct(fields())).toMatchObject({ ...told, amount_microcents: 5 * CENT });
    expect(await readUsage()).toMatchObject([
      { ...told, model: null, requests: 0, cost_microcents: 5 * CENT },
    ]);
    const all = ["organization", keyId, userId, groupId].filter((id) => id !== null);
    const counted = (ids: readonly string[]) => sort(ids.map((id) => `${id} ${5 * CENT}`));
    expect(await readCounters()).toEqual({
      day: counted(all),
      week: counted(all),
      total: counted(all),
      month: counted(all),
    });
    const month = new Date(await admin.store.timeMs()).toISOString().slice(0, 7);
    expect((await verifyUsage(admin.store, month, null)).differences).toEqual([]);
    expect((await verifyWindows(admin.store, month)).differences).toEqual([]);
  });

  it("refuses at a user's cap, and a credit lets pass again", async () => {
    const body = { limits: [{ period: "week", kind: "cap", cents: 5 }] };
    await admin.ok("PATCH", `${base}/users/${bob}`, { body });
    const made = await createApiKey(admin, organization, { user_id: bob });
    const { admit } = await import("./admin-fixture.ts");
    await correct({ user_id: bob });
    expect((await admit(admin, made.key)).decision).toBe("user_cap_reached");
    await correct({ user_id: bob, amount_cents: -1 });
    expect((await admit(admin, made.key)).decision).toBe("admitted");
  });

  it("tells of a group's budget that it reaches", async () => {
    await admin.ok("PATCH", `${base}/groups/${other}`, {
      body: { limits: [{ period: "total", kind: "budget", cents: 5 }] },
    });
    await correct({ group_id: other });
    expect((await admin.ok("GET", `${base}/alerts`))["data"]).toMatchObject([
      { scope: "group", group_id: other, period: "total", threshold_percent: 100 },
      { scope: "group", group_id: other, period: "total", threshold_percent: 80 },
    ]);
  });

  it("says whose it is in the audit log", async () => {
    await correct({ key_id: key });
    await correct({ reason: "of all" });
    const { data } = await admin.ok("GET", `${base}/audit?limit=2`);
    const [last, first] = data as readonly { readonly after: object }[];
    expect(first?.after).toMatchObject({ key_id: key, user_id: ann, group_id: team });
    expect(last?.after).not.toHaveProperty("user_id");
  });

  it("is another with the Idempotency-Key of one that names somebody else, and counts once with its own", async () => {
    const headers = { "idempotency-key": "refund" };
    const first = await correct({ user_id: ann }, headers);
    expect(await correct({ user_id: ann }, headers)).toEqual({ ...first, repeated: true });
    const others = [{}, { user_id: bob }, { user_id: ann, group_id: team }, { user_id: ann, group_id: null }];
    for (const fields of others) {
      expect(await refused(fields, headers)).toMatchObject({ status: 409, code: "idempotency_key_reused" });
    }
    // Who has moved or is gone since changes nothing of what was counted.
    await admin.ok("DELETE", `${base}/users/${ann}?keys=keep`);
    expect(await correct({ user_id: ann }, headers)).toEqual({ ...first, repeated: true });
  });

  it("names the field of one that is not there, was deleted, or is another organization's", async () => {
    const elsewhere = await createOrganization(admin);
    const create = async (kind: string) => {
      const made = await admin.ok("POST", `/api/organizations/${elsewhere}/${kind}`, {
        body: { name: "Far" },
      });
      return made["id"];
    };
    await admin.ok("DELETE", `${base}/users/${bob}?keys=keep`);
    const refusals = [
      { fields: { user_id: await create("users") }, param: "user_id" },
      { fields: { group_id: await create("groups") }, param: "group_id" },
      { fields: { key_id: key, user_id: bob }, param: "user_id" },
      { fields: { user_id: ann, group_id: `group_${"0".repeat(8)}` }, param: "group_id" },
      { fields: { user_id: team }, param: "user_id" },
      { fields: { group_id: 7 }, param: "group_id" },
      { fields: { key_id: (await createApiKey(admin, elsewhere)).id }, param: "key_id" },
    ];
    for (const { fields, param } of refusals) {
      expect({ fields, ...(await refused(fields)) }).toMatchObject({ fields, status: 400, param });
    }
    expect(await readUsage()).toEqual([]);
  });
});
