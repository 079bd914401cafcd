/** Lists that are sorted, filtered, searched and counted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminUnderTest, createOrganization, startAdmin } from "./admin-fixture.ts";

const KEYS = 30;

describe("sorted lists of an organization", () => {
  let admin: AdminUnderTest;
  let path = "";
  const ids = new Map<string, string>();
  const make = async (
    kind: string,
    body: Readonly<Record<string, unknown>> & { readonly name: string },
  ): Promise<string> => {
    const id = String((await admin.ok("POST", `${path}/${kind}`, { body }))["id"]);
    ids.set(body.name, id);
    return id;
  };
  const spend = (body: object) =>
    admin.ok("POST", `${path}/spend-corrections`, { body: { reason: "test", ...body } });
  const list = async (kind: string, query: string) => {
    const answer: Record<string, unknown> = await admin.ok("GET", `${path}/${kind}?${query}`);
    const rows = answer["data"] as Record<string, unknown>[];
    return {
      ...answer,
      next: answer["next"],
      totals: answer["totals"],
      rows,
      names: rows.map(({ name }) => name),
    };
  };

  beforeAll(async () => {
    admin = await startAdmin();
    path = `/api/organizations/${await createOrganization(admin)}`;
    const search = await make("groups", {
      name: "Search",
      note: "ranking",
      limits: [{ period: "week", kind: "cap", cents: 500 }],
    });
    await make("groups", { name: "Ads" });
    const zoe = await make("users", { name: "Zoë", email: "zoe@example.com", group_id: search });
    await make("users", { name: "ann", note: "on leave" });
    for (let index = 0; index < KEYS; index += 1) await make("keys", { name: `service-${index}` });
    await make("keys", { name: "of Zoë", user_id: zoe });
    await make("keys", { name: "capped", hard_cap_cents: 100, note: "Temporary" });
    await make("keys", { name: "off", disabled: true });
    await spend({ key_id: ids.get("capped"), amount_microcents: 95_000_000 });
    await spend({ key_id: ids.get("service-7"), amount_microcents: 300_000_000 });
  }, 60_000);
  afterAll(() => admin.stop());

  it("count all and have pages in the order of names, numbers by their value", async () => {
    const first = await list("keys", "sort=name&search=service&limit=20");
    expect(first).toMatchObject({ total_count: KEYS, has_more: true });
    const rest = await list("keys", `sort=name&search=service&limit=20&after=${String(first.next)}`);
    expect(rest).toMatchObject({ has_more: false, next: null });
    expect([...first.names, ...rest.names]).toEqual(
      Array.from({ length: KEYS }, (_, index) => `service-${index}`),
    );
  });

  it("are sorted by spend and by how much of the tightest limit is used, either way", async () => {
    expect((await list("keys", "sort=-spend&limit=2")).names).toEqual(["service-7", "capped"]);
    expect((await list("keys", "sort=-limit&limit=2")).names).toEqual(["capped", "of Zoë"]);
    expect((await list("keys", "sort=spend")).names).not.toContain("service-7");
  });

  it("are filtered by state, by limit and by owner, of which a group has the keys of its users", async () => {
    expect((await list("keys", "sort=name&state=disabled")).names).toEqual(["off"]);
    expect((await list("keys", "sort=name&limit_state=near")).names).toEqual(["capped"]);
    expect((await list("keys", "sort=name&limit_state=below")).names).toEqual(["of Zoë"]);
    for (const owner of [`user_id=${ids.get("Zoë")}`, `group_id=${ids.get("Search")}`]) {
      expect((await list("keys", `sort=name&${owner}`)).names).toEqual(["of Zoë"]);
    }
  });

  it("are searched in names, notes, email addresses and what is shown of a key", async () => {
    const [capped] = (await list("keys", "sort=name&search=TEMPORARY")).rows;
    expect(capped).toMatchObject({ name: "capped" });
    const display = encodeURIComponent(String(capped?.["display"]));
    expect((await list("keys", `sort=name&search=${display}`)).names).toEqual(["capped"]);
    expect((await list("users", "sort=name&search=zoe%40")).names).toEqual(["Zoë"]);
    expect((await list("users", "sort=name&search=leave")).names).toEqual(["ann"]);
    expect((await list("groups", "sort=name&search=ranking")).names).toEqual(["Search"]);
  });

  it("show spend, last use and tightest limit, and who is stopped by a user's or group's cap", async () => {
    const owners = { user_id: ids.get("Zoë"), group_id: ids.get("Search") };
    await spend({ key_id: ids.get("of Zoë"), ...owners, amount_microcents: 600_000_000 });
    const cap = { scope: "group", period: "week", kind: "cap", cents: 500, spent_cents: 600 };
    expect((await list("keys", "sort=name&state=cap_reached")).rows).toMatchObject([
      { name: "of Zoë", state: "cap_reached", tightest_limit: cap, last_used_at: null },
    ]);
    expect((await list("groups", "sort=-spend")).rows).toMatchObject([
      { name: "Search", spent_microcents: 600_000_000, tightest_limit: cap, last_used_at: null },
      { name: "Ads", spent_microcents: 0, tightest_limit: null },
    ]);
    expect((await list("users", "sort=-spend&limit=1")).rows).toMatchObject([
      { name: "Zoë", spent_microcents: 600_000_000, group: { name: "Search" }, tightest_limit: cap },
    ]);
  });

  it("have the spend of all that match, not only of the page", async () => {
    const { totals, rows } = await list("keys", "sort=-spend&limit=1&search=service");
    expect(rows).toHaveLength(1);
    expect(totals).toEqual([{ currency: "USD", count: KEYS, spent_microcents: 300_000_000 }]);
  });

  it("reject a place of another order, and words that they do not know", async () => {
    const place = `after=${ids.get("capped")}`;
    expect(await admin.refused("GET", `${path}/keys?sort=name&${place}`)).toMatchObject({ param: "after" });
    expect(await admin.refused("GET", `${path}/keys?after=20`)).toMatchObject({ param: "after" });
    expect(await admin.refused("GET", `${path}/keys?sort=size`)).toMatchObject({ param: "sort" });
    expect(await admin.refused("GET", `${path}/users?sort=name&state=expired`)).toMatchObject({
      param: "state",
    });
  });
});

describe("the operator's sorted list of organizations", () => {
  let admin: AdminUnderTest;
  const ids = new Map<string, string>();
  const list = async (query: string) => {
    const answer = await admin.ok("GET", `/api/organizations?${query}`);
    const rows = answer["data"] as Record<string, unknown>[];
    return { ...answer, rows, names: rows.map(({ name }) => name) };
  };

  beforeAll(async () => {
    admin = await startAdmin();
    const make = async (name: string, cents: number, body: object = {}) => {
      const id = await createOrganization(admin, { name, ...body });
      ids.set(name, id);
      const correction = { body: { reason: "test", amount_cents: cents } };
      if (cents > 0) await admin.ok("POST", `/api/organizations/${id}/spend-corrections`, correction);
    };
    await make("Calm", 0);
    await make("Busy", 900, { hard_cap_cents: 1_000 });
    await make("Stopped", 500, { limits: [{ period: "day", kind: "cap", cents: 400 }] });
    await make("Ünder", 300, { currency: "EUR", hard_cap_cents: 10_000 });
    await admin.ok("PATCH", `/api/organizations/${ids.get("Calm")}`, { body: { suspended: true } });
  });
  afterAll(() => admin.stop());

  it("is in the order of spend, name or limit, with counts and totals by currency", async () => {
    const bySpend = await list("sort=-spend&limit=2");
    expect(bySpend).toMatchObject({ names: ["Busy", "Stopped"], total_count: 4, next: "2", has_more: true });
    expect(bySpend).toMatchObject({
      totals: expect.arrayContaining([
        { currency: "USD", count: 3, spent_microcents: 1_400_000_000 },
        { currency: "EUR", count: 1, spent_microcents: 300_000_000 },
      ]) as unknown,
    });
    expect((await list("sort=-spend&limit=2&after=2")).names).toEqual(["Ünder", "Calm"]);
    expect((await list("sort=name")).names).toEqual(["Busy", "Calm", "Stopped", "Ünder"]);
    const tightest = { scope: "organization", period: "day", cents: 400, spent_cents: 500 };
    expect((await list("sort=-limit&limit=1")).rows).toMatchObject([
      { name: "Stopped", state: "cap_reached", tightest_limit: tightest },
    ]);
  });

  it("is filtered by state and limit, and searched by name or id", async () => {
    expect((await list("sort=name&state=suspended")).names).toEqual(["Calm"]);
    expect((await list("sort=name&state=cap_reached")).names).toEqual(["Stopped"]);
    expect((await list("sort=name&limit_state=near")).names).toEqual(["Busy"]);
    expect((await list("sort=name&search=%C3%BCnd")).names).toEqual(["Ünder"]);
    expect((await list(`sort=name&search=${ids.get("Busy")}`)).names).toEqual(["Busy"]);
  });

  it("rejects a sort that organizations don't have, and places of another order", async () => {
    for (const [query, param] of [
      ["sort=last_used", "sort"],
      ["sort=name&deleted=true", "sort"],
      ["after=2", "after"],
      [`sort=name&after=${ids.get("Busy")}`, "after"],
    ]) {
      expect(await admin.refused("GET", `/api/organizations?${query}`)).toMatchObject({ param });
    }
  });
});
