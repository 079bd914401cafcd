import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminUnderTest, admit, createApiKey, createOrganization, startAdmin } from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
let base = "";
let team = "";
let research = "";
let ann = "";
beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  base = `/api/organizations/${organization}`;
  team = await make("groups", { name: "Team" });
  research = await make("groups", { name: "Research" });
  ann = await make("users", { name: "Ann", group_id: team });
});
afterAll(() => admin.stop());

async function make(kind: "users" | "groups", body: object, of = base): Promise<string> {
  return String((await admin.ok("POST", `${of}/${kind}`, { body }))["id"]);
}

const NOBODY = { user_id: null, group_id: null, user: null, group: null };

describe("a key's user and group", () => {
  it("are nobody when nothing is said, and can be set, changed and taken away", async () => {
    const { path } = await createApiKey(admin, organization);
    expect(await admin.ok("GET", path)).toMatchObject(NOBODY);
    const owned = { user_id: ann, user: { id: ann, name: "Ann" } };
    expect(await admin.ok("PATCH", path, { body: { user_id: ann } })).toMatchObject({
      ...owned,
      group_id: null,
      group: { id: team, name: "Team" },
    });
    const moved = { ...owned, group_id: research, group: { id: research, name: "Research" } };
    expect(await admin.ok("PATCH", path, { body: { group_id: research } })).toMatchObject(moved);
    expect(await admin.ok("POST", `${path}/rotate`)).toMatchObject(moved);
    expect(await admin.ok("PATCH", path, { body: { user_id: null, group_id: null } })).toMatchObject(NOBODY);
  });

  it("are in the answer that makes it", async () => {
    const body = { name: "ci", user_id: ann, group_id: research };
    const made = await admin.ok("POST", `${base}/keys`, { body });
    expect(made).toMatchObject({ ...body, user: { name: "Ann" }, group: { name: "Research" } });
    const { key: _secret, ...shown } = made;
    expect(await admin.ok("GET", `${base}/keys/${String(made["id"])}`)).toEqual(shown);
  });

  it("are refused by their field where they are not there or another organization's", async () => {
    const other = `/api/organizations/${await createOrganization(admin)}`;
    const { path } = await createApiKey(admin, organization, { user_id: ann });
    const wrong = {
      user_id: [await make("users", { name: "theirs" }, other), `user_${"0".repeat(36)}`, "Ann", 5],
      group_id: [await make("groups", { name: "theirs" }, other), `group_${"0".repeat(36)}`, "Team", ""],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) {
        const refused = { status: 400, code: "invalid_parameter", param: field };
        const body = { name: "x", [field]: value };
        expect(await admin.refused("POST", `${base}/keys`, { body })).toMatchObject(refused);
        expect(await admin.refused("PATCH", path, { body })).toMatchObject(refused);
        expect(
          await admin.refused("GET", `${base}/keys?${field}=${encodeURIComponent(value)}`),
        ).toMatchObject(refused);
      }
    }
    expect(await admin.ok("GET", path)).toMatchObject({ name: "ci", user_id: ann });
  });

  it("are what lists are narrowed down to", async () => {
    const bob = await make("users", { name: "Bob" });
    const first = await createApiKey(admin, organization, { user_id: bob });
    const second = await createApiKey(admin, organization, { user_id: bob, group_id: research });
    const ids = async (query: string) => {
      const { data } = await admin.ok("GET", `${base}/keys?limit=100&${query}`);
      return (data as { id: string }[]).map(({ id }) => id);
    };
    expect((await ids(`user_id=${bob}`)).toSorted()).toEqual([first.id, second.id].toSorted());
    expect(await ids(`user_id=${bob}&group_id=${research}`)).toEqual([second.id]);
    expect(await admin.ok("GET", `${base}/users/${bob}`)).toMatchObject({ key_count: 2 });
    const page = await admin.ok("GET", `${base}/keys?limit=1&user_id=${bob}`);
    expect(page).toMatchObject({ has_more: true });
    const next = await ids(`user_id=${bob}&after=${String(page["next"])}`);
    expect(next).toHaveLength(1);
  });

  it("are in the audit log", async () => {
    const { id, path } = await createApiKey(admin, organization);
    await admin.ok("PATCH", path, { body: { user_id: ann, group_id: research } });
    const { data } = await admin.ok("GET", `${base}/audit?limit=1`);
    expect(data).toMatchObject([
      {
        action: "key.updated",
        target: { id },
        before: { user_id: null, group_id: null },
        after: { user_id: ann, group_id: research },
      },
    ]);
  });
});

describe("the end of a user or a group", () => {
  it("leaves its keys, which are nobody's then and work on", async () => {
    const cid = await make("users", { name: "Cid", group_id: team });
    const group = await make("groups", { name: "short-lived" });
    const { key, path } = await createApiKey(admin, organization, { user_id: cid, group_id: group });
    await admin.ok("DELETE", `${base}/groups/${group}`);
    expect(await admin.ok("GET", path)).toMatchObject({
      user_id: cid,
      group_id: null,
      group: { id: team },
    });
    await admin.ok("DELETE", `${base}/users/${cid}?keys=keep`);
    expect(await admin.ok("GET", path)).toMatchObject(NOBODY);
    expect(await admin.ok("PATCH", path, { body: { note: "x" } })).toMatchObject(NOBODY);
    expect((await admit(admin, key)).decision).toBe("admitted");
  });

  it("takes its keys along when that is asked for, each with its entry in the audit log", async () => {
    const dan = await make("users", { name: "Dan", group_id: team });
    const group = await make("groups", { name: "trial" });
    const first = await createApiKey(admin, organization, { user_id: dan, name: "first" });
    const second = await createApiKey(admin, organization, { group_id: group, name: "second" });
    const others = await createApiKey(admin, organization, { user_id: ann });
    for (const [kind, id, { key, path, id: keyId }] of [
      ["users", dan, first],
      ["groups", group, second],
    ] as const) {
      const owner = `${base}/${kind}/${id}`;
      const late = { headers: { "if-match": '"9"' } };
      expect(await admin.refused("DELETE", `${owner}?keys=delete`, late)).toMatchObject({ status: 412 });
      expect((await admit(admin, key)).decision).toBe("admitted");
      await admin.ok("DELETE", `${owner}?keys=delete`);
      expect((await admit(admin, key)).decision).toBe("unknown_key");
      expect(await admin.refused("GET", path)).toMatchObject({ code: "key_not_found" });
      expect(await admin.refused("GET", owner)).toMatchObject({ status: 404 });
      const { data } = await admin.ok("GET", `${base}/audit?limit=2`);
      expect(data).toMatchObject([
        { action: kind === "users" ? "user.deleted" : "group.deleted", target: { id } },
        { action: "key.deleted", target: { id: keyId } },
      ]);
    }
    expect((await admit(admin, others.key)).decision).toBe("admitted");
  });

  it("is not what somebody else says of its keys", async () => {
    const eve = await make("users", { name: "Eve" });
    for (const query of ["keys=all", "key=delete"]) {
      expect(await admin.refused("DELETE", `${base}/users/${eve}?${query}`)).toMatchObject({ status: 400 });
    }
    expect(await admin.ok("GET", `${base}/users/${eve}`)).toMatchObject({ id: eve });
  });
});
