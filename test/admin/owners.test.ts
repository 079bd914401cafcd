import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_SETTINGS } from "../../src/shared/settings/user.ts";
import {
  type AdminUnderTest,
  createOrganization,
  createToken,
  listAll,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
let other = "";
beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
  other = await createOrganization(admin);
});
afterAll(() => admin.stop());

const pathOf = (kind: "users" | "groups", id = organization) => `/api/organizations/${id}/${kind}`;

async function make(kind: "users" | "groups", body: object, id = organization): Promise<string> {
  return String((await admin.ok("POST", pathOf(kind, id), { body }))["id"]);
}

describe("POST …/users and …/groups", () => {
  it("makes them with every setting, and shows them as they are", async () => {
    const group = await admin.ok("POST", pathOf("groups"), {
      body: { name: "Research", note: "third floor" },
    });
    expect(group).toMatchObject({ organization_id: organization, name: "Research", note: "third floor" });
    const body = {
      name: "Ann Smith",
      email: "ann@example.com",
      group_id: group["id"],
      note: "on leave",
      disabled: true,
    };
    const answer = await admin.call("POST", pathOf("users"), { body });
    const user = answer.json();
    expect(answer.status).toBe(201);
    expect(answer.headers["etag"]).toBe('"1"');
    expect(answer.headers["location"]).toBe(`${pathOf("users")}/${String(user["id"])}`);
    expect(user).toMatchObject({
      ...body,
      organization_id: organization,
      external: null,
      group: { id: group["id"], name: "Research" },
    });
    expect(await admin.ok("GET", `${pathOf("users")}/${String(user["id"])}`)).toEqual(user);
    expect(await admin.ok("GET", `${pathOf("groups")}/${String(group["id"])}`)).toEqual({
      ...group,
      user_count: 1,
    });
  });

  it("makes them of a name alone", async () => {
    const plain = await admin.ok("POST", pathOf("users"), { body: { name: "ci" } });
    const nothing = { email: null, group_id: null, group: null, note: null, disabled: false, key_count: 0 };
    expect(plain).toMatchObject({ name: "ci", ...nothing });
    expect(await admin.ok("POST", pathOf("groups"), { body: { name: "ops" } })).toMatchObject({
      note: null,
    });
  });

  it.each([
    { name: "no name", body: {}, code: "missing_required_parameter", param: "name" },
    { name: "a name of nothing that can be seen", body: { name: "\u200b" }, param: "name" },
    { name: "what is no mail address", body: { name: "a", email: "ann" }, param: "email" },
    {
      name: "an email address with a line break",
      body: { name: "a", email: "a@b.de\n" },
      param: "email",
    },
    { name: "what is no group", body: { name: "a", group_id: "research" }, param: "group_id" },
    {
      name: "a group that there is not",
      body: { name: "a", group_id: "group_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11" },
      param: "group_id",
    },
    {
      name: "an identity, which is not set here",
      body: { name: "a", external: { issuer: "i", subject: "s" } },
      param: "external",
    },
  ])("refuses $name, and names the field", async ({ body, code = "invalid_parameter", param }) => {
    expect(await admin.refused("POST", pathOf("users"), { body })).toMatchObject({
      status: 400,
      code,
      param,
    });
  });

  it("refuses a group of another organization in a body, which is as if it were not there", async () => {
    const strange = await make("groups", { name: "theirs" }, other);
    const body = { name: "a", group_id: strange };
    const refused = { status: 400, code: "invalid_parameter", param: "group_id" };
    expect(await admin.refused("POST", pathOf("users"), { body })).toMatchObject(refused);
    const id = await make("users", { name: "a" });
    expect(
      await admin.refused("PATCH", `${pathOf("users")}/${id}`, { body: { group_id: strange } }),
    ).toMatchObject(refused);
    expect(await admin.refused("GET", `${pathOf("users")}?group_id=${strange}`)).toMatchObject(refused);
  });
});

describe("…/users/{user} and …/groups/{group}", () => {
  it("of another organization, a deleted one or none are 404", async () => {
    const paths = [
      `${pathOf("users")}/${await make("users", { name: "theirs" }, other)}`,
      `${pathOf("groups")}/${await make("groups", { name: "theirs" }, other)}`,
      `${pathOf("users")}/user_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11`,
      `${pathOf("groups")}/evil}`,
    ];
    for (const kind of ["users", "groups"] as const) {
      const path = `${pathOf(kind)}/${await make(kind, { name: "gone" })}`;
      await admin.ok("DELETE", path);
      paths.push(path);
    }
    for (const path of paths) {
      const code = path.includes("/users/") ? "user_not_found" : "group_not_found";
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const given = method === "PATCH" ? { body: { name: "mine" } } : {};
        expect(await admin.refused(method, path, given)).toMatchObject({ status: 404, code });
      }
    }
  });

  it("changes what is given and leaves the rest, and nothing when somebody else was faster", async () => {
    for (const kind of ["users", "groups"] as const) {
      const path = `${pathOf(kind)}/${await make(kind, { name: "first", note: "stays" })}`;
      const changed = await admin.call("PATCH", path, {
        body: { name: "second" },
        headers: { "if-match": '"1"' },
      });
      expect(changed.headers["etag"]).toBe('"2"');
      expect(changed.json()).toMatchObject({ name: "second", note: "stays" });
      const late = { headers: { "if-match": '"1"' } };
      const refused = { status: 412, code: "version_conflict" };
      expect(await admin.refused("PATCH", path, { ...late, body: { name: "third" } })).toMatchObject(refused);
      expect(await admin.refused("DELETE", path, late)).toMatchObject(refused);
      expect(await admin.ok("GET", path)).toMatchObject({ name: "second" });
      await admin.ok("DELETE", path, { headers: { "if-match": '"2"' } });
    }
  });

  it("shows who a user is at whoever signs people in, once that has set it", async () => {
    const external = { issuer: "https://login.example.com", subject: "42" };
    const settings = { ...defaultsOf(USER_SETTINGS), name: "Ann" };
    const made = await admin.store.findOrCreateExternalUser(organization, external, settings);
    const id = made.outcome === "created" ? made.user.id : "";
    expect(await admin.ok("GET", `${pathOf("users")}/${id}`)).toMatchObject({ external });
  });

  it("reads the group of a user as null once it is deleted, in every answer", async () => {
    const group = await make("groups", { name: "short-lived" });
    const id = await make("users", { name: "Bereft", group_id: group });
    await admin.ok("DELETE", `${pathOf("groups")}/${group}`);
    const path = `${pathOf("users")}/${id}`;
    const nothing = { group_id: null, group: null };
    expect(await admin.ok("GET", path)).toMatchObject(nothing);
    expect(await admin.ok("PATCH", path, { body: { note: "x" } })).toMatchObject(nothing);
    const { data } = await admin.ok("GET", `${pathOf("users")}?search=bereft`);
    expect(data).toMatchObject([nothing]);
    expect(await admin.refused("GET", `${pathOf("users")}?group_id=${group}`)).toMatchObject({
      status: 400,
      param: "group_id",
    });
  });
});

describe("GET …/users and …/groups", () => {
  it("list them page by page, those of a group, and those that a search finds", async () => {
    const id = await createOrganization(admin);
    const group = await make("groups", { name: "Search" }, id);
    for (const [index, name] of ["Ann Smith", "Bob Miller", "Cid Anders", "Hannah"].entries()) {
      await make("users", { name, ...(index < 2 ? { group_id: group } : {}) }, id);
    }
    const names = async (query: string) => {
      const { data } = await admin.ok("GET", `${pathOf("users", id)}?${query}`);
      return (data as { name: string }[]).map(({ name }) => name);
    };
    const listed = await listAll(admin, pathOf("users", id), 1);
    expect(listed.map(({ name }) => name)).toEqual(await names("limit=100"));
    expect((await names(`group_id=${group}`)).toSorted()).toEqual(["Ann Smith", "Bob Miller"]);
    expect(await names("search=AN")).toEqual(["Cid Anders", "Ann Smith"]);
    expect(await names(`search=an&group_id=${group}`)).toEqual(["Ann Smith"]);
    const first = await admin.ok("GET", `${pathOf("users", id)}?search=an&limit=1`);
    expect(first).toMatchObject({ data: [{ name: "Cid Anders" }], has_more: true });
    const after = String(first["next"]);
    expect(await names(`search=an&limit=1&after=${after}`)).toEqual(["Ann Smith"]);
    const found = await admin.ok("GET", `${pathOf("groups", id)}?search=sea`);
    expect(found).toMatchObject({ data: [{ id: group }], next: null });
  });

  it("refuse the place of another list", async () => {
    const id = await make("users", { name: "Ann" });
    for (const query of [`search=an&after=${id}`, "after=YW5uAHVzZXI", "after=1-1", "search="]) {
      expect(await admin.refused("GET", `${pathOf("users")}?${query}`)).toMatchObject({ status: 400 });
    }
  });

  it("are read by viewers, who change nothing, and by nobody of another organization", async () => {
    const viewer = await createToken(admin, organization, "viewer");
    const strange = await createToken(admin, other, "admin");
    const id = await make("users", { name: "Ann" });
    const path = `${pathOf("users")}/${id}`;
    expect(await admin.ok("GET", path, { token: viewer })).toMatchObject({ id });
    const body = { name: "b" };
    expect(await admin.refused("PATCH", path, { token: viewer, body })).toMatchObject({ status: 403 });
    expect(await admin.refused("DELETE", path, { token: viewer })).toMatchObject({ status: 403 });
    expect(await admin.refused("GET", path, { token: strange })).toMatchObject({
      status: 404,
      code: "organization_not_found",
    });
  });
});

describe("the audit log", () => {
  it("has what was made, what was changed, and what it was before it was deleted", async () => {
    const id = await createOrganization(admin);
    const group = await make("groups", { name: "Research" }, id);
    const user = await make("users", { name: "Ann" }, id);
    const path = `${pathOf("users", id)}/${user}`;
    await admin.ok("PATCH", path, { body: { group_id: group, name: "Ann" } });
    await admin.ok("PATCH", path, { body: { name: "Ann" } });
    await admin.ok("DELETE", path);
    await admin.ok("DELETE", `${pathOf("groups", id)}/${group}`);
    const { data } = await admin.ok("GET", `/api/organizations/${id}/audit?limit=5`);
    expect(data).toMatchObject([
      { action: "group.deleted", target: { type: "group", id: group, name: "Research" } },
      { action: "user.deleted", before: { name: "Ann", group_id: group }, after: null },
      { action: "user.updated", before: { group_id: null }, after: { group_id: group } },
      { action: "user.created", target: { type: "user", id: user, name: "Ann" }, before: null },
      { action: "group.created", after: { name: "Research", note: null } },
    ]);
  });
});

describe("an organization that has as many as it may", () => {
  it("gets a 409 that says how many there can be", async () => {
    const id = await createOrganization(admin);
    await admin.client.zadd(
      `igw:{${id}}:groups`,
      ...Array.from({ length: 1_000 }, (_, index) => [0, `group_${index}`]).flat(),
    );
    const refused = await admin.refused("POST", pathOf("groups", id), { body: { name: "one more" } });
    expect(refused).toMatchObject({ status: 409, code: "organization_full" });
    expect(refused.message).toContain("1000 groups");
  });
});
