/** What holds for each owner, with what is spent of it in its window of now. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatOwnerIds } from "../../src/shared/stored/owner-ids.ts";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  startAdmin,
} from "./admin-fixture.ts";

type Row = Record<string, unknown> & { readonly window_start: string | null; readonly resets_at: string };

const DAY_MS = 86_400_000;
const row = (period: string, kind: string, cents: number) => ({ period, kind, cents });

let admin: AdminUnderTest;
let organization = "";
let name = "";
let path = "";
let key = "";
let zoe = "";
let search = "";

async function make(kind: "users" | "groups", body: object): Promise<string> {
  return String((await admin.ok("POST", `${path}/${kind}`, { body }))["id"]);
}

async function charge(cents: number): Promise<void> {
  const identity = await createIdentity(admin.store, { organizationId: organization, keyId: key, hash: "" });
  const owners = formatOwnerIds({ userId: zoe, groupId: search });
  const charged = chargeInput({ ...identity, owners }, 1, BigInt(cents) * 1_000_000n, { final: FINAL });
  await admin.store.charge(charged);
}

async function readLimits(of: string): Promise<readonly Row[]> {
  return (await admin.ok("GET", `${path}${of}/limits`))["data"] as readonly Row[];
}
const told = ({ scope, period, kind, cents, spent_cents, remaining_cents }: Row) =>
  [scope, period, kind, cents, spent_cents, remaining_cents].join(" ");

beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  path = `/api/organizations/${organization}`;
  name = String((await admin.ok("GET", path))["name"]);
  search = await make("groups", {
    name: "Search",
    limits: [row("month", "cap", 200_000)],
    member_limits: [row("week", "cap", 2000), row("day", "cap", 900)],
  });
  zoe = await make("users", { name: "Zoë Bell", group_id: search, limits: [row("day", "cap", 500)] });
  key = (await createApiKey(admin, organization, { name: "laptop", user_id: zoe, hard_cap_cents: 300 })).id;
  await createApiKey(admin, organization, { name: "build", group_id: search });
  await admin.ok("PATCH", path, { body: { limits: [row("total", "budget", 100)] } });
  await charge(450);
});
afterAll(() => admin.stop());

describe("the limits of an owner", () => {
  it("are of a key all that its requests meet, the narrowest owner's first", async () => {
    const rows = await readLimits(`/keys/${key}`);
    expect(rows.map(told)).toEqual([
      "key month cap 300 450 0",
      "user day cap 500 450 50",
      "user week cap 2000 450 1550",
      "group month cap 200000 450 199550",
      "organization total budget 100 450 0",
    ]);
    expect(rows.map(({ owner }) => owner)).toEqual([
      { id: key, name: "laptop", user_count: null, key_count: null },
      { id: zoe, name: "Zoë Bell", user_count: null, key_count: 1 },
      { id: zoe, name: "Zoë Bell", user_count: null, key_count: 1 },
      { id: search, name: "Search", user_count: 1, key_count: 1 },
      { id: organization, name, user_count: null, key_count: null },
    ]);
  });

  it("say of a user which it has as a member, and of whom; its own go before these", async () => {
    const rows = await readLimits(`/users/${zoe}`);
    const group = { scope: "group", id: search, name: "Search" };
    expect(rows.map(({ scope, period, member_of: from }) => [scope, period, from])).toEqual([
      ["user", "day", null],
      ["user", "week", group],
      ["group", "month", null],
      ["organization", "total", null],
    ]);
  });

  it("are of a user without a group what the organization gives each, too", async () => {
    await admin.ok("PATCH", path, { body: { member_limits: [row("month", "cap", 700)] } });
    const alone = await make("users", { name: "Alone" });
    const [first, ...others] = await readLimits(`/users/${alone}`);
    const from = { scope: "organization", id: organization, name };
    expect(first).toMatchObject({ scope: "user", period: "month", spent_cents: 0, member_of: from });
    expect(others.map(({ scope }) => scope)).toEqual(["organization"]);
  });

  it("are of a group its pool's, and of an organization its own alone", async () => {
    expect((await readLimits(`/groups/${search}`)).map(told)).toEqual([
      "group month cap 200000 450 199550",
      "organization total budget 100 450 0",
    ]);
    expect((await readLimits("")).map(told)).toEqual(["organization total budget 100 450 0"]);
  });

  it("have the window of the time that the answer names", async () => {
    const answer = await admin.ok("GET", `${path}/keys/${key}/limits`);
    const rows = answer["data"] as readonly Row[];
    const timeMs = Date.parse(String(answer["time"]));
    const windows = new Map(
      rows.map(({ period, window_start: start, resets_at: end }) => [period, { start, end }]),
    );
    expect(windows.get("total")).toEqual({ start: null, end: null });
    for (const [period, days] of [
      ["day", [1]],
      ["week", [7]],
      ["month", [28, 29, 30, 31]],
    ] as const) {
      const { start, end } = windows.get(period) ?? { start: "", end: "" };
      const [startMs, endMs] = [Date.parse(String(start)), Date.parse(end)];
      expect(startMs).toBeLessThanOrEqual(timeMs);
      expect(endMs).toBeGreaterThan(timeMs);
      expect(days).toContain((endMs - startMs) / DAY_MS);
    }
    expect(new Date(String(windows.get("week")?.start)).getUTCDay()).toBe(1);
  });

  it("have the raises that are live, of their own period alone", async () => {
    const raise = { period: "day", add_cents: 250, expires_at: "2099-12-04T00:00:00Z", reason: "launch" };
    const made = await admin.ok("POST", `${path}/users/${zoe}/raises`, { body: raise });
    const rows = await readLimits(`/keys/${key}`);
    expect(rows.filter(({ scope }) => scope === "user")).toMatchObject([
      { period: "day", cents: 750, raised_cents: 250, remaining_cents: 300, raises: [made] },
      { period: "week", cents: 2000, raised_cents: 0, raises: [] },
    ]);
  });

  it("are none where nobody has any, and are read by viewers of the organization alone", async () => {
    const other = await createOrganization(admin);
    expect((await admin.ok("GET", `/api/organizations/${other}/limits`))["data"]).toEqual([]);
    const token = await createToken(admin, organization, "viewer");
    for (const of of ["", `/keys/${key}`, `/users/${zoe}`, `/groups/${search}`]) {
      expect((await admin.call("GET", `${path}${of}/limits`, { token })).status).toBe(200);
      const strange = `/api/organizations/${other}${of}/limits`;
      expect((await admin.call("GET", strange)).status).toBe(of === "" ? 200 : 404);
      expect((await admin.call("GET", strange, { token })).status).toBe(404);
    }
  });
});

describe("the tightest limit of users and groups", () => {
  const list = async (kind: string, query = "?sort=name&limit=100") => {
    const { data } = await admin.ok("GET", `${path}/${kind}${query}`);
    return new Map((data as Record<string, unknown>[]).map((one) => [one["name"], one]));
  };

  it("is shown in sorted lists, with what each has as a member and its group's", async () => {
    const bystander = await make("users", { name: "Bystander", group_id: search });
    const users = await list("users");
    expect(users.get("Zoë Bell")).toMatchObject({
      tightest_limit: { period: "day", kind: "cap", cents: 750, spent_cents: 450, raised_cents: 250 },
    });
    expect(users.get("Bystander")).toMatchObject({
      id: bystander,
      tightest_limit: { scope: "group", period: "month", spent_cents: 450 },
    });
    expect((await list("groups")).get("Search")).toMatchObject({
      tightest_limit: { period: "month", kind: "cap", cents: 200_000, spent_cents: 450 },
    });
    for (const kind of ["users", "groups"]) {
      for (const one of (await list(kind, "")).values()) expect(one).not.toHaveProperty("tightest_limit");
    }
  });

  it("is a cap that is reached before a budget that is passed by more, and null where there is none", async () => {
    await make("groups", { name: "Unlimited" });
    const limits = [row("month", "budget", 1), row("month", "cap", 400), row("total", "cap", 5000)];
    await admin.ok("PATCH", `${path}/groups/${search}`, { body: { limits } });
    const groups = await list("groups");
    expect(groups.get("Search")).toMatchObject({ tightest_limit: { period: "month", kind: "cap" } });
    expect(groups.get("Unlimited")).toMatchObject({ tightest_limit: null });
    await admin.ok("PATCH", `${path}/groups/${search}`, { body: { limits: [row("day", "cap", 0)] } });
    expect((await list("groups")).get("Search")).toMatchObject({
      tightest_limit: { period: "day", cents: 0, remaining_cents: 0 },
    });
  });
});

describe("the state of a key and of its organization", () => {
  beforeAll(() => admin.ok("PATCH", `${path}/groups/${search}`, { body: { limits: [] } }));

  it.each([
    [row("day", "cap", 450), "cap_reached"],
    [row("week", "budget", 450), "over_budget"],
    [row("total", "cap", 451), "active"],
  ])("goes by their limits of every window: %j", async (limit, state) => {
    for (const of of ["", `/keys/${key}`]) {
      const before = await admin.ok("GET", `${path}${of}`);
      const changed = await admin.ok("PATCH", `${path}${of}`, { body: { limits: [limit] } });
      expect(changed["state"]).toBe(state);
      expect(await admin.ok("GET", `${path}${of}`)).toMatchObject({ state });
      await admin.ok("PATCH", `${path}${of}`, { body: { limits: before["limits"] } });
    }
  });

  it.each(["/users/zoe", "/groups/search", ""])(
    "of a key is cap_reached if the cap of %s is, in lists and alone",
    async (owner) => {
      const of = owner.replace("zoe", zoe).replace("search", search);
      const { id } = await createApiKey(admin, organization, { user_id: zoe });
      expect(await admin.ok("GET", `${path}/keys/${id}`)).toMatchObject({ state: "active" });
      const before = await admin.ok("GET", `${path}${of}`);
      await admin.ok("PATCH", `${path}${of}`, { body: { limits: [row("day", "cap", 0)] } });
      for (const query of ["", "?sort=name", "?sort=name&state=cap_reached"]) {
        const { data } = await admin.ok("GET", `${path}/keys${query}`);
        const states = new Map((data as Row[]).map(({ id, state }) => [id, state]));
        expect([query, states.get(id)]).toEqual([query, "cap_reached"]);
      }
      expect(await admin.ok("GET", `${path}/keys/${id}`)).toMatchObject({ state: "cap_reached" });
      await admin.ok("PATCH", `${path}${of}`, { body: { limits: before["limits"] } });
    },
  );
});
