import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  admit,
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

const pathOf = (id: string): string => `/api/organizations/${id}`;

describe("POST /api/organizations", () => {
  it("makes an organization with nothing but a name and a currency", async () => {
    const answer = await admin.call("POST", "/api/organizations", {
      body: { name: "Minimal", currency: "USD" },
    });
    const made = answer.json();
    expect(answer.status).toBe(201);
    expect(made).toMatchObject({
      name: "Minimal",
      currency: "USD",
      hard_cap_cents: null,
      budget_cents: null,
      strict_caps: false,
      suspended: false,
      notifications: { dashboard: true, emails: [], webhook: null },
      model_names: { aliases: {}, default_model: null },
      key_defaults: { requests_per_minute: null, hard_cap_cents: null, budget_cents: null },
      spent_cents: 0,
    });
    expect(answer.headers["location"]).toBe(pathOf(String(made["id"])));
    expect(answer.headers["etag"]).toBe('"1"');
    expect(await admin.ok("GET", pathOf(String(made["id"])))).toEqual(made);
  });

  it("takes every setting", async () => {
    const body = {
      name: "Größe & Söhne 🏭",
      currency: "EUR",
      hard_cap_cents: 9_000_000_000,
      budget_cents: 0,
      strict_caps: true,
      suspended: true,
      notifications: { dashboard: false, emails: ["a@example.com"] },
      model_names: { aliases: { "gpt-4o-mini": "acme/echo-large" }, default_model: "acme/echo-small" },
      key_defaults: { requests_per_minute: 60, hard_cap_cents: 100, budget_cents: null },
    };
    const { id } = await admin.ok("POST", "/api/organizations", { body });
    expect(await admin.ok("GET", pathOf(String(id)))).toMatchObject(body);
  });

  it("shows the webhook's secret in the answer that sets the URL, and never again", async () => {
    const url = "https://example.com/hook";
    const id = await createOrganization(admin);
    const set = await admin.ok("PATCH", pathOf(id), { body: { notifications: { webhook: { url } } } });
    expect(set).toMatchObject({
      notifications: { webhook: { url, secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/) } },
    });
    for (const answer of [
      await admin.ok("GET", pathOf(id)),
      await admin.ok("PATCH", pathOf(id), { body: { notifications: { webhook: { url } } } }),
      await admin.ok("PATCH", pathOf(id), { body: { notifications: { dashboard: false } } }),
    ]) {
      expect(answer).toMatchObject({ notifications: { webhook: { url } } });
      expect(JSON.stringify(answer)).not.toContain("whsec_");
    }
    expect(JSON.stringify(await admin.ok("GET", `${pathOf(id)}/audit`))).not.toContain("whsec_");
  });
});

describe("GET /api/organizations", () => {
  it("lists all, in the order of their creation, page by page to the end", async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index += 1) made.push(await createOrganization(admin));
    const listed = (await listAll(admin, "/api/organizations", 2)).map(({ id }) => id);
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.filter((id) => made.includes(id))).toEqual([...made].sort());
  });

  it.each([
    { query: "limit=0", param: "limit" },
    { query: "limit=101", param: "limit" },
    { query: "limit=1.5", param: "limit" },
    { query: "limit=", param: "limit" },
    { query: "limit=1&limit=2", param: "limit" },
    { query: "after=x", param: "after" },
    { query: "page=2", param: "page" },
  ])("refuses ?$query with 400", async ({ query, param }) => {
    expect(await admin.refused("GET", `/api/organizations?${query}`)).toMatchObject({ status: 400, param });
  });
});

describe("PATCH /api/organizations/{organization}", () => {
  it("changes what is given and leaves the rest, also inside of objects", async () => {
    const id = await createOrganization(admin, {
      hard_cap_cents: 100,
      notifications: { emails: ["a@example.com"] },
      key_defaults: { requests_per_minute: 60 },
    });
    const body = {
      budget_cents: 50,
      notifications: { dashboard: false },
      key_defaults: { hard_cap_cents: 7 },
    };
    expect(await admin.ok("PATCH", pathOf(id), { body })).toMatchObject({
      hard_cap_cents: 100,
      budget_cents: 50,
      notifications: { dashboard: false, emails: ["a@example.com"] },
      key_defaults: { requests_per_minute: 60, hard_cap_cents: 7, budget_cents: null },
    });
    expect(await admin.ok("PATCH", pathOf(id), { body: { hard_cap_cents: null } })).toMatchObject({
      hard_cap_cents: null,
      budget_cents: 50,
    });
  });

  it("loses no change of two that are made at once in one object", async () => {
    const id = await createOrganization(admin);
    await Promise.all([
      admin.ok("PATCH", pathOf(id), { body: { key_defaults: { hard_cap_cents: 1 } } }),
      admin.ok("PATCH", pathOf(id), { body: { key_defaults: { budget_cents: 2 } } }),
      admin.ok("PATCH", pathOf(id), { body: { key_defaults: { requests_per_minute: 3 } } }),
    ]);
    expect(await admin.ok("GET", pathOf(id))).toMatchObject({
      key_defaults: { hard_cap_cents: 1, budget_cents: 2, requests_per_minute: 3 },
    });
  });

  it("changes the currency as long as nothing was spent, and answers 409 afterwards", async () => {
    const id = await createOrganization(admin);
    expect(await admin.ok("PATCH", pathOf(id), { body: { currency: "EUR" } })).toMatchObject({
      currency: "EUR",
    });
    await admin.ok("POST", `${pathOf(id)}/spend-corrections`, { body: { amount_cents: 1, reason: "test" } });
    const refusal = await admin.refused("PATCH", pathOf(id), { body: { currency: "USD" } });
    expect(refusal).toMatchObject({ status: 409, code: "currency_locked", param: "currency" });
    expect(await admin.ok("PATCH", pathOf(id), { body: { currency: "EUR" } })).toMatchObject({
      currency: "EUR",
    });
  });

  it.each([
    { name: "the version that was read", tag: (tag: string) => tag, status: 200 },
    { name: "any version", tag: () => "*", status: 200 },
    { name: "one of several", tag: (tag: string) => `"99", ${tag}`, status: 200 },
    { name: "an older version", tag: () => '"0"', status: 412 },
    { name: "a weak validator", tag: (tag: string) => `W/${tag}`, status: 412 },
    { name: "no validator at all", tag: () => "1", status: 412 },
  ])("answers $status to If-Match with $name", async ({ tag, status }) => {
    const name = `Before ${status} ${tag('"1"')}`;
    const id = await createOrganization(admin, { name });
    const etag = String((await admin.call("GET", pathOf(id))).headers["etag"]);
    const headers = { "if-match": tag(etag) };
    const answer = await admin.call("PATCH", pathOf(id), { headers, body: { name: `After ${name}` } });
    expect(answer.status).toBe(status);
    expect(answer.headers["etag"]).toBe(status === 200 ? '"2"' : '"1"');
    expect(await admin.ok("GET", pathOf(id))).toMatchObject({
      name: status === 200 ? `After ${name}` : name,
    });
  });

  it("lets one of two callers win that read the same version", async () => {
    const id = await createOrganization(admin);
    const statuses = await Promise.all(
      ["A", "B"].map(async (name) => {
        const headers = { "if-match": '"1"' };
        const body = { key_defaults: { hard_cap_cents: 1 }, name };
        return (await admin.call("PATCH", pathOf(id), { headers, body })).status;
      }),
    );
    expect(statuses.sort((left, right) => left - right)).toEqual([200, 412]);
  });

  it("changes nothing, the version neither, when it is given nothing", async () => {
    const id = await createOrganization(admin);
    const answer = await admin.call("PATCH", pathOf(id), { body: {} });
    expect(answer.headers["etag"]).toBe('"1"');
    expect((await admin.ok("GET", `${pathOf(id)}/audit`))["data"]).toHaveLength(1);
  });

  it("holds from the next request on", async () => {
    const id = await createOrganization(admin);
    const { key } = await createApiKey(admin, id);
    const decision = async (): Promise<string> => (await admit(admin, key)).decision;
    expect(await decision()).toBe("admitted");
    await admin.ok("PATCH", pathOf(id), { body: { hard_cap_cents: 0 } });
    expect(await decision()).toBe("organization_cap_reached");
    await admin.ok("PATCH", pathOf(id), { body: { hard_cap_cents: null, suspended: true } });
    expect(await decision()).toBe("organization_suspended");
    await admin.ok("PATCH", pathOf(id), { body: { suspended: false } });
    expect(await decision()).toBe("admitted");
  });

  it.each([
    { field: "suspended", body: { suspended: false } },
    { field: "currency", body: { currency: "EUR" } },
  ])("leaves $field to the operator", async ({ field, body }) => {
    const id = await createOrganization(admin, { suspended: true });
    const token = await createToken(admin, id, "admin");
    expect(await admin.refused("PATCH", pathOf(id), { token, body })).toMatchObject({
      status: 403,
      param: field,
    });
  });
});

describe("GET /api/organizations?search=", () => {
  it("finds by a part of the name, in capitals or not, and by the id, page by page", async () => {
    const names = ["Zebra One", "ZEBRA two", "Ｚebra Straße", "Zeppelin"];
    const ids: string[] = [];
    for (const name of names) ids.push(await createOrganization(admin, { name }));
    const find = async (search: string): Promise<unknown[]> => {
      const page = await admin.ok("GET", `/api/organizations?search=${encodeURIComponent(search)}`);
      return (page["data"] as { name: unknown }[]).map(({ name }) => name);
    };
    expect(await find("zebra")).toEqual(names.slice(0, 3));
    expect(await find("straße")).toEqual([names[2]]);
    expect(await find(ids[3] ?? "")).toEqual(["Zeppelin"]);
    expect(await find("no such name")).toEqual([]);
    const first = await admin.ok("GET", "/api/organizations?search=zebra&limit=2");
    expect(first).toMatchObject({ data: [{ id: ids[0] }, { id: ids[1] }], has_more: true });
    const second = await admin.ok("GET", `/api/organizations?search=zebra&limit=2&after=${ids[1]}`);
    expect(second).toMatchObject({ data: [{ id: ids[2] }], has_more: false, next: null });
  });

  it("shows a token nothing but its own organization", async () => {
    const own = await createOrganization(admin, { name: "Quagga own" });
    await createOrganization(admin, { name: "Quagga other" });
    const token = await createToken(admin, own, "viewer");
    const find = (search: string) => admin.ok("GET", `/api/organizations?search=${search}`, { token });
    expect((await find("quagga"))["data"]).toMatchObject([{ id: own }]);
    expect((await find("other"))["data"]).toEqual([]);
  });
});
