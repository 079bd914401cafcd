import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chargeInput, createIdentity, FINAL, openRecordInput } from "../store/fixture.ts";
import { cookieOf, createPageClient, formTokenOf } from "../support/page-client.ts";
import {
  type AdminUnderTest,
  admit,
  createApiKey,
  createOrganization,
  createToken,
  listAll,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.stop());

const pathOf = (id: string): string => `/api/organizations/${id}`;

async function createDeleted(): Promise<string> {
  const id = await createOrganization(admin);
  await admin.ok("DELETE", pathOf(id));
  return id;
}

describe("DELETE /api/organizations/{organization}", () => {
  it("refuses every key and token from the next call on, and frees the name", async () => {
    const id = await createOrganization(admin, { name: "Ending" });
    const { key } = await createApiKey(admin, id);
    const token = await createToken(admin, id, "admin");
    expect((await admit(admin, key)).decision).toBe("admitted");
    const answer = await admin.call("DELETE", pathOf(id));
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect((await admit(admin, key)).decision).toBe("unknown_key");
    expect(await admin.refused("GET", pathOf(id), { token })).toMatchObject({ status: 401 });
    await createOrganization(admin, { name: "Ending" });
  });

  it("leaves to the operator what was spent, and what was in flight is charged", async () => {
    const id = await createOrganization(admin);
    const made = await createApiKey(admin, id, { name: "ci" });
    const identify = () => createIdentity(admin.store, { organizationId: id, keyId: made.id, hash: "" });
    const [settled, inFlight] = [await identify(), await identify()];
    await admin.store.charge(chargeInput(settled, 1, 7n, { final: FINAL }));
    await admin.store.openRecord(openRecordInput(inFlight));
    await admin.ok("DELETE", pathOf(id));
    await admin.store.charge(chargeInput(inFlight, 1, 5n, { final: FINAL }));
    expect(await admin.ok("GET", pathOf(id))).toMatchObject({
      state: "deleted",
      deleted_at: expect.any(String),
      spent_microcents: 12,
    });
    expect(await admin.ok("GET", `${pathOf(id)}/usage`)).toMatchObject({ data: [{ cost_microcents: 12 }] });
    const exported = (await admin.call("GET", `${pathOf(id)}/usage/export`)).text;
    expect(exported).toContain(",ci,");
    const { data } = await admin.ok("GET", `${pathOf(id)}/requests`);
    expect(new Set((data as { id: string }[]).map((one) => one.id))).toEqual(
      new Set([settled.requestId, inFlight.requestId]),
    );
    expect(await admin.ok("GET", `${pathOf(id)}/audit`)).toMatchObject({
      data: [{ action: "organization.deleted", after: null }, {}, {}],
    });
  });

  it("leaves nothing of it to be changed, and says when it was deleted", async () => {
    const id = await createDeleted();
    for (const [method, path, body] of [
      ["PATCH", pathOf(id), { budget_cents: 5 }],
      ["DELETE", pathOf(id), undefined],
      ["POST", `${pathOf(id)}/keys`, { name: "late" }],
      ["POST", `${pathOf(id)}/tokens`, { name: "late", role: "admin" }],
    ] as const) {
      const refusal = await admin.refused(method, path, body === undefined ? {} : { body });
      expect(refusal).toMatchObject({ status: 404, code: "organization_not_found" });
      expect(refusal.message).toMatch(/was deleted at \d{4}-/);
    }
  });

  it("is not done to a version that somebody else has changed", async () => {
    const id = await createOrganization(admin);
    await admin.ok("PATCH", pathOf(id), { body: { budget_cents: 5 } });
    const headers = { "if-match": '"1"' };
    expect(await admin.refused("DELETE", pathOf(id), { headers })).toMatchObject({ status: 412 });
    expect(await admin.ok("GET", pathOf(id))).toMatchObject({ deleted_at: null });
  });
});

describe("GET /api/organizations", () => {
  it("lists deleted ones with ?deleted=true alone, page by page", async () => {
    const ids = [await createDeleted(), await createDeleted(), await createDeleted()];
    const there = (await listAll(admin, "/api/organizations", 100)).map(({ id }) => id);
    expect(there.filter((id) => ids.includes(id))).toEqual([]);
    const first = await admin.ok("GET", "/api/organizations?deleted=true&limit=2");
    const rest = await admin.ok("GET", `/api/organizations?deleted=true&after=${String(first["next"])}`);
    const listed = [first, rest].flatMap(({ data }) => (data as { id: string }[]).map(({ id }) => id));
    expect(listed).toEqual(expect.arrayContaining(ids));
  });

  it.each([
    { query: "deleted=yes", param: "deleted" },
    { query: "deleted=true&search=a", param: "search" },
  ])("refuses ?$query with 400", async ({ query, param }) => {
    expect(await admin.refused("GET", `/api/organizations?${query}`)).toMatchObject({ status: 400, param });
  });

  it("shows no deleted one to a token", async () => {
    const token = await createToken(admin, await createOrganization(admin), "admin");
    await createDeleted();
    expect((await admin.ok("GET", "/api/organizations?deleted=true", { token }))["data"]).toEqual([]);
  });
});

describe("the dashboard", () => {
  it("deletes an organization after a question, and shows what is left of it", async () => {
    const id = await createOrganization(admin, { name: "Paged" });
    const pages = createPageClient(admin.url);
    const cookie = cookieOf(await pages.signIn(OPERATOR_TOKEN));
    const settings = `/organizations/${id}/settings`;
    const form_token = formTokenOf(await pages.get(settings, cookie));
    const asked = await pages.post(`${settings}/delete`, { form_token }, { cookie });
    expect(asked.text).toContain("This cannot be undone");
    expect(await admin.ok("GET", pathOf(id))).toMatchObject({ deleted_at: null });
    const done = await pages.post(`${settings}/delete`, { form_token, sure: "yes" }, { cookie });
    expect([done.status, done.headers["location"]]).toEqual([
      303,
      "/organizations?done=organization_deleted",
    ]);
    expect((await pages.get("/organizations", cookie)).text).not.toContain(id);
    expect((await pages.get("/organizations/deleted", cookie)).text).toContain(id);
    const left = await pages.get(settings, cookie);
    expect(left.text).toContain("This organization was deleted at");
    expect(left.text).not.toContain("Delete the organization");
    expect((await pages.get(`/organizations/${id}/usage`, cookie)).status).toBe(200);
  });

  it("lets no administrator of an organization delete it", async () => {
    const id = await createOrganization(admin);
    const pages = createPageClient(admin.url);
    const cookie = cookieOf(await pages.signIn(await createToken(admin, id, "admin")));
    const settings = `/organizations/${id}/settings`;
    const page = await pages.get(settings, cookie);
    expect(page.text).not.toContain("Delete the organization");
    const form = { form_token: formTokenOf(page), sure: "yes" };
    expect((await pages.post(`${settings}/delete`, form, { cookie })).status).toBe(403);
    expect(await admin.ok("GET", pathOf(id))).toMatchObject({ deleted_at: null });
  });
});
