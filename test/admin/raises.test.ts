/** Temporary raises, on each of the four owners. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createId } from "../../src/data-path/store/ids.ts";
import { type AdminUnderTest, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

const OWNERS = ["organization", "key", "user", "group"] as const;
const WEEK = [{ period: "week", kind: "cap", cents: 2000 }];
const RAISE = { period: "week", add_cents: 5000, expires_at: "2099-12-04T00:00:00.000Z", reason: "launch" };

/** The path of an owner with a week's cap, in an organization of its own. */
async function createOwner(kind: (typeof OWNERS)[number], limits: readonly object[] = WEEK): Promise<string> {
  const organization = await createOrganization(admin);
  const path = `/api/organizations/${organization}`;
  const make = async () => {
    if (kind === "organization") return path;
    if (kind === "key") return `${path}/keys/${(await createApiKey(admin, organization, { name: "ci" })).id}`;
    const made = await admin.ok("POST", `${path}/${kind}s`, { body: { name: "Any" } });
    return `${path}/${kind}s/${String(made["id"])}`;
  };
  const owner = await make();
  await admin.ok("PATCH", owner, { body: { limits } });
  return owner;
}

const create = (path: string, fields: object = {}) =>
  admin.call("POST", `${path}/raises`, { body: { ...RAISE, ...fields } });
const organizationOf = (path: string) => path.split("/").slice(0, 4).join("/");

describe.each(OWNERS)("raises of a %s", (kind) => {
  it("are shown with it, leave the cap as it is, and are taken back", async () => {
    const path = await createOwner(kind);
    const made = await create(path);
    expect(made.status).toBe(201);
    const raise = made.json();
    expect(raise).toEqual({
      ...RAISE,
      id: expect.stringMatching(/^raise_/) as string,
      created_by: { type: "operator", id: null, name: null },
    });
    expect(await admin.ok("GET", path)).toMatchObject({ limits: WEEK, raises: [raise] });
    expect((await admin.call("DELETE", `${path}/raises/${String(raise["id"])}`)).status).toBe(204);
    expect(await admin.ok("GET", path)).toMatchObject({ limits: WEEK, raises: [] });
    const again = await admin.call("DELETE", `${path}/raises/${String(raise["id"])}`);
    expect([again.status, again.json()]).toMatchObject([404, { error: { code: "raise_not_found" } }]);
  });

  it("are in the audit log, with whose cap it is", async () => {
    const path = await createOwner(kind);
    const raise = (await create(path)).json();
    await admin.call("DELETE", `${path}/raises/${String(raise["id"])}`);
    const { data } = await admin.ok("GET", `${organizationOf(path)}/audit?limit=2`);
    const target = { type: kind, id: path.split("/").at(-1) };
    expect(data).toMatchObject([
      { action: "raise.deleted", target, before: raise, after: null },
      { action: "raise.created", target, before: null, after: raise },
    ]);
  });

  it("are four at most, without those that have ended", async () => {
    const path = await createOwner(kind);
    const soon = new Date(Date.now() + 1_500).toISOString();
    expect((await create(path, { expires_at: soon })).status).toBe(201);
    for (let count = 1; count <= 3; count += 1) expect((await create(path)).status).toBe(201);
    const fifth = await create(path);
    expect([fifth.status, fifth.json()]).toMatchObject([409, { error: { code: "too_many_raises" } }]);
    await expect.poll(async () => (await create(path)).status, { timeout: 10_000 }).toBe(201);
    expect(((await admin.ok("GET", path))["raises"] as unknown[]).length).toBe(4);
  });

  it.each([
    [{ period: "year" }, "period", 'expected "day" or "week" or "month" or "total"'],
    [{ period: "day" }, "period", "expected the period of one of its caps: week"],
    [{ add_cents: 0 }, "add_cents", "expected a whole number of cents from 1"],
    [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at", "expected a time in the future"],
    [{ expires_at: "Friday" }, "expires_at", "expected an RFC 3339 time"],
    [{ reason: "" }, "reason", "expected a text of 1 to 200 characters"],
  ])("are refused with the field's name: %j", async (fields, field, expected) => {
    const path = await createOwner(kind);
    const refused = await create(path, fields);
    expect(refused.status).toBe(400);
    const { message, param } = refused.json()["error"] as { message: string; param: string };
    expect(param).toBe(field);
    expect(message).toContain(expected);
  });

  it("need a cap, and are no field of a change", async () => {
    const path = await createOwner(kind, [{ period: "week", kind: "budget", cents: 2000 }]);
    const refused = (await create(path)).json()["error"] as { message: string };
    expect(refused.message).toContain("it has no cap. Set one first");
    expect((await admin.call("PATCH", path, { body: { raises: [] } })).status).toBe(400);
  });

  it("are nobody else's", async () => {
    const path = await createOwner(kind);
    const raise = (await create(path)).json();
    const other = await createOwner(kind);
    expect((await admin.call("DELETE", `${other}/raises/${String(raise["id"])}`)).status).toBe(404);
    const id = path.split("/").at(-1) ?? "";
    if (kind === "organization") return;
    const strange = `${organizationOf(other)}/${kind}s/${id}`;
    expect((await create(strange)).json()).toMatchObject({ error: { code: `${kind}_not_found` } });
  });
});

describe("a raise", () => {
  it("of a user lifts what its group gives each member", async () => {
    const user = await createOwner("user", []);
    expect((await create(user)).status).toBe(400);
    const path = organizationOf(user);
    const group = await admin.ok("POST", `${path}/groups`, { body: { name: "Team", member_limits: WEEK } });
    await admin.ok("PATCH", user, { body: { group_id: group["id"] } });
    expect((await create(user)).status).toBe(201);
  });

  it("of a month raises the cap that has its old name", async () => {
    const key = await createOwner("key", []);
    await admin.ok("PATCH", key, { body: { hard_cap_cents: 100 } });
    expect((await create(key, { period: "month" })).status).toBe(201);
    expect(await admin.ok("GET", key)).toMatchObject({ hard_cap_cents: 100 });
  });

  it("of somebody who is not there is a 404", async () => {
    const path = organizationOf(await createOwner("key"));
    for (const kind of ["key", "user", "group"] as const) {
      const refused = await create(`${path}/${kind}s/${createId(kind, Date.now())}`);
      expect([refused.status, refused.json()]).toMatchObject([404, { error: { code: `${kind}_not_found` } }]);
    }
  });
});
