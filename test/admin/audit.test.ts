import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  listAll,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

interface Entry {
  readonly action: string;
  readonly [field: string]: unknown;
}

async function readLog(organization: string): Promise<Entry[]> {
  const page = await admin.ok("GET", `/api/organizations/${organization}/audit?limit=100`);
  return page["data"] as Entry[];
}

describe("the audit log", () => {
  it("has every kind of change, newest first", async () => {
    const id = await createOrganization(admin);
    const path = `/api/organizations/${id}`;
    await admin.ok("PATCH", path, { body: { name: "New" } });
    const key = await createApiKey(admin, id);
    await admin.ok("PATCH", key.path, { body: { disabled: true } });
    await admin.ok("POST", `${key.path}/rotate`);
    await admin.ok("DELETE", key.path);
    await createApiKey(admin, id);
    await admin.ok("POST", `${path}/keys/revoke-all`);
    const token = await admin.ok("POST", `${path}/tokens`, { body: { name: "t", role: "viewer" } });
    await admin.ok("DELETE", `${path}/tokens/${String(token["id"])}`);
    await admin.ok("POST", `${path}/spend-corrections`, { body: { amount_cents: 1, reason: "r" } });
    expect((await readLog(id)).map(({ action }) => action)).toEqual([
      "spend.corrected",
      "token.deleted",
      "token.created",
      "keys.revoked",
      "key.created",
      "key.deleted",
      "key.rotated",
      "key.updated",
      "key.created",
      "organization.updated",
      "organization.created",
    ]);
  });

  it("says who, when, what, before, after and in which call", async () => {
    const id = await createOrganization(admin);
    const key = await createApiKey(admin, id, { name: "deploy", hard_cap_cents: 100 });
    const token = await createToken(admin, id, "admin");
    const answer = await admin.call("PATCH", key.path, {
      token,
      body: { hard_cap_cents: 200, disabled: false },
    });
    const [entry] = await readLog(id);
    expect(entry).toMatchObject({
      actor: { type: "token", id: expect.stringMatching(/^token_/), name: "the admin", role: "admin" },
      action: "key.updated",
      target: { type: "key", id: key.id, name: "deploy" },
      before: { hard_cap_cents: 100 },
      after: { hard_cap_cents: 200 },
      request_id: answer.headers["x-request-id"],
    });
    expect(entry?.["before"]).not.toHaveProperty("disabled");
    expect(Math.abs(Date.parse(String(entry?.["at"])) - Date.now())).toBeLessThan(60_000);
  });

  it("is read for one object, page by page", async () => {
    const id = await createOrganization(admin);
    const [key, other] = [await createApiKey(admin, id), await createApiKey(admin, id)];
    for (const cents of [1, 2]) await admin.ok("PATCH", key.path, { body: { hard_cap_cents: cents } });
    await admin.ok("PATCH", other.path, { body: { name: "other" } });
    const read = (query: string) =>
      admin.ok("GET", `/api/organizations/${id}/audit?target_id=${key.id}${query}`);
    const first = await read("&limit=2");
    expect(first).toMatchObject({
      data: [{ after: { hard_cap_cents: 2 } }, { after: { hard_cap_cents: 1 } }],
      has_more: true,
    });
    expect(await read(`&limit=2&after=${String(first["next"])}`)).toMatchObject({
      data: [{ action: "key.created", target: { id: key.id } }],
      next: null,
    });
  });

  it("names the operator", async () => {
    const id = await createOrganization(admin);
    expect((await readLog(id))[0]).toMatchObject({
      actor: { type: "operator", id: null, name: null, role: "operator" },
    });
  });

  it("has nothing of a call that was refused or changed nothing", async () => {
    const id = await createOrganization(admin);
    const key = await createApiKey(admin, id);
    await admin.refused("PATCH", key.path, { body: { hard_cap_cents: -1 } });
    await admin.refused("PATCH", key.path, { headers: { "if-match": '"9"' }, body: { name: "x" } });
    await admin.ok("PATCH", key.path, { body: { name: "ci" } });
    await admin.ok("PATCH", key.path, { body: {} });
    expect((await readLog(id)).map(({ action }) => action)).toEqual(["key.created", "organization.created"]);
  });

  it("never holds a key or a token", async () => {
    const id = await createOrganization(admin);
    const made = await createApiKey(admin, id);
    const rotated = await admin.ok("POST", `${made.path}/rotate`);
    const token = await createToken(admin, id, "admin");
    const text = JSON.stringify(await readLog(id)) + JSON.stringify(admin.logs);
    for (const secret of [made.key, String(rotated["key"]), token]) {
      expect(text).not.toContain(secret.slice(8, -4));
    }
  });

  it("is paged to the end", async () => {
    const id = await createOrganization(admin);
    const key = await createApiKey(admin, id);
    for (let cap = 1; cap <= 5; cap += 1) {
      await admin.ok("PATCH", key.path, { body: { hard_cap_cents: cap } });
    }
    const entries = await listAll(admin, `/api/organizations/${id}/audit`, 3);
    expect(entries).toEqual(await readLog(id));
    expect(entries).toHaveLength(7);
  });

  it.each([
    "+",
    "0-0",
    "18446744073709551616-0",
    "1-99999999999999999999",
    "0-0-1",
    "18446744073709551616-0-1",
  ])("refuses an `after` that is no entry's id with 400: %s", async (after) => {
    const id = await createOrganization(admin);
    for (const list of ["audit", "alerts"]) {
      const refusal = await admin.refused("GET", `/api/organizations/${id}/${list}?after=${after}`);
      expect(refusal).toMatchObject({ status: 400, param: "after" });
    }
  });

  it("takes the largest id that there can be", async () => {
    const path = `/api/organizations/${await createOrganization(admin)}/audit`;
    const largest = "18446744073709551615-18446744073709551615-9";
    expect((await admin.ok("GET", `${path}?after=${largest}`))["data"]).toHaveLength(1);
  });
});
