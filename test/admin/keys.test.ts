import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isWellFormedKey } from "../../src/data-path/auth/key-format.ts";
import {
  type AdminUnderTest,
  admit,
  createApiKey,
  createOrganization,
  listAll,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
beforeAll(async () => {
  admin = await startAdmin();
  organization = await createOrganization(admin);
});
afterAll(() => admin.stop());

const keysOf = (id: string): string => `/api/organizations/${id}/keys`;
const decision = async (key: string): Promise<string> => (await admit(admin, key)).decision;
describe("POST …/keys", () => {
  it("makes a key that works at once, with 600 requests per minute when nobody says otherwise", async () => {
    const answer = await admin.call("POST", keysOf(organization), { body: { name: "ci" } });
    const { key, ...shown } = answer.json();
    expect(answer.status).toBe(201);
    expect(isWellFormedKey(String(key))).toBe(true);
    expect(shown).toMatchObject({
      organization_id: organization,
      name: "ci",
      display: `sk-igw-…${String(key).slice(-4)}`,
      requests_per_minute: 600,
      hard_cap_cents: null,
      budget_cents: null,
      allowed_models: null,
      max_concurrent_requests: null,
      expires_at: null,
      disabled: false,
      spent_cents: 0,
    });
    expect(await admin.ok("GET", `${keysOf(organization)}/${String(shown["id"])}`)).toEqual(shown);
    expect(await decision(String(key))).toBe("admitted");
  });

  it("takes every setting", async () => {
    const body = {
      name: "all",
      requests_per_minute: 1_000_000,
      hard_cap_cents: 0,
      budget_cents: 9_000_000_000,
      allowed_models: ["acme/echo-small"],
      max_concurrent_requests: 3,
      expires_at: "2100-01-01T01:00:00+01:00",
      note: "the nightly build's",
      disabled: true,
    };
    const made = await admin.ok("POST", keysOf(organization), { body });
    expect(made).toMatchObject({ ...body, expires_at: "2100-01-01T00:00:00.000Z" });
  });

  it("applies the organization's defaults where its creator says nothing; null is something", async () => {
    const id = await createOrganization(admin, {
      key_defaults: { requests_per_minute: 60, hard_cap_cents: 100, budget_cents: 50 },
    });
    const plain = await admin.ok("POST", keysOf(id), { body: { name: "plain" } });
    expect(plain).toMatchObject({ requests_per_minute: 60, hard_cap_cents: 100, budget_cents: 50 });
    const body = { name: "own", requests_per_minute: 90, hard_cap_cents: null, budget_cents: 1 };
    expect(await admin.ok("POST", keysOf(id), { body })).toMatchObject(body);
  });

  it.each([
    { name: "no name", body: {}, code: "missing_required_parameter", param: "name" },
    { name: "a name of a no-break space", body: { name: "\u00a0" }, param: "name" },
    { name: "a name of a zero-width space", body: { name: "\u200b" }, param: "name" },
    { name: "a name of fillers", body: { name: "\u2060\u3164 \ufeff" }, param: "name" },
    { name: "a rate of 0", body: { requests_per_minute: 0 }, param: "requests_per_minute" },
    {
      name: "a rate above the largest",
      body: { requests_per_minute: 1_000_001 },
      param: "requests_per_minute",
    },
    { name: "no rate at all", body: { requests_per_minute: null }, param: "requests_per_minute" },
    { name: "a cap above the largest", body: { hard_cap_cents: 9_000_000_001 }, param: "hard_cap_cents" },
    {
      name: "a cap beyond what JSON holds",
      body: '{"name":"a","hard_cap_cents":1e400}',
      param: "hard_cap_cents",
    },
    {
      name: "a model that there is not",
      body: { allowed_models: ["acme/echo-smal"] },
      param: "allowed_models.0",
    },
    { name: "an empty list of models", body: { allowed_models: [] }, param: "allowed_models" },
    {
      name: "a model twice",
      body: { allowed_models: ["acme/echo-small", "acme/echo-small"] },
      param: "allowed_models",
    },
    {
      name: "no concurrent requests",
      body: { max_concurrent_requests: 0 },
      param: "max_concurrent_requests",
    },
    { name: "an expiry in the past", body: { expires_at: "2020-01-01T00:00:00Z" }, param: "expires_at" },
    { name: "an expiry without a zone", body: { expires_at: "2100-01-01T00:00:00" }, param: "expires_at" },
    { name: "a day as expiry", body: { expires_at: "2100-01-01" }, param: "expires_at" },
    { name: "a day that there is not", body: { expires_at: "2100-02-30T00:00:00Z" }, param: "expires_at" },
    { name: "a number as expiry", body: { expires_at: 4_102_444_800 }, param: "expires_at" },
    { name: "shrinking without strict caps", body: { on_cap: "shrink" }, param: "on_cap" },
    { name: "a text for a flag", body: { disabled: "true" }, param: "disabled" },
    { name: "a misspelled field", body: { hard_cap: 1 }, param: "hard_cap" },
    { name: "a key of its own choice", body: { key: "sk-mine" }, param: "key" },
  ])("refuses $name with 400", async ({ body, code = "invalid_parameter", param, name }) => {
    const given = typeof body === "string" || name === "no name" ? body : { name: "a", ...body };
    expect(await admin.refused("POST", keysOf(organization), { body: given })).toMatchObject({
      status: 400,
      code,
      param,
    });
  });

  it("lets a key shrink under strict caps, and keep it when they are gone", async () => {
    const id = await createOrganization(admin);
    const { path } = await createApiKey(admin, id);
    expect(await admin.refused("PATCH", path, { body: { on_cap: "shrink" } })).toMatchObject({
      status: 400,
      param: "on_cap",
    });
    await admin.ok("PATCH", `/api/organizations/${id}`, { body: { strict_caps: true } });
    await admin.ok("PATCH", path, { body: { on_cap: "shrink" } });
    await admin.ok("PATCH", `/api/organizations/${id}`, { body: { strict_caps: false } });
    // A form sends what it was shown.
    await admin.ok("PATCH", path, { body: { on_cap: "shrink", note: "x" } });
    await admin.ok("PATCH", path, { body: { on_cap: null } });
    expect((await admin.refused("PATCH", path, { body: { on_cap: "shrink" } })).param).toBe("on_cap");
  });

  it("names the nearest model", async () => {
    const body = { name: "a", allowed_models: ["acme/echo-smal"] };
    const { message } = await admin.refused("POST", keysOf(organization), { body });
    expect(message).toContain("did you mean `acme/echo-small`?");
  });
});

describe("GET …/keys", () => {
  it("lists those that are not deleted, in the order of their creation, page by page to the end", async () => {
    const id = await createOrganization(admin);
    const made = [];
    for (let index = 0; index < 6; index += 1) made.push(await createApiKey(admin, id));
    await admin.ok("DELETE", made[2]?.path ?? "");
    const listed = (await listAll(admin, keysOf(id), 2)).map((key) => key.id);
    expect(listed).toEqual(made.filter((_, index) => index !== 2).map((key) => key.id));
  });

  it("gives 20 at a time when nobody says otherwise", async () => {
    const id = await createOrganization(admin);
    for (let index = 0; index < 21; index += 1) await createApiKey(admin, id);
    const page = await admin.ok("GET", keysOf(id));
    expect(page["data"]).toHaveLength(20);
    expect(page["has_more"]).toBe(true);
    expect((await admin.ok("GET", `${keysOf(id)}?limit=100`))["data"]).toHaveLength(21);
  });

  it("shows what each key has spent this month, and never a key itself", async () => {
    const id = await createOrganization(admin);
    const [first, second] = [await createApiKey(admin, id), await createApiKey(admin, id)];
    const body = { amount_microcents: 1_999_999, reason: "test", key_id: first.id };
    await admin.ok("POST", `/api/organizations/${id}/spend-corrections`, { body });
    const answer = await admin.call("GET", keysOf(id));
    expect(answer.json()["data"]).toMatchObject([
      { id: first.id, spent_cents: 1, spent_microcents: 1_999_999 },
      { id: second.id, spent_cents: 0, spent_microcents: 0 },
    ]);
    expect(answer.text).not.toContain(first.key);
  });
});

describe("PATCH …/keys/{key}", () => {
  it("holds from the next request on", async () => {
    const { key, path } = await createApiKey(admin, organization);
    await admin.ok("PATCH", path, { body: { disabled: true } });
    expect(await decision(key)).toBe("key_disabled");
    await admin.ok("PATCH", path, { body: { disabled: false, hard_cap_cents: 0 } });
    expect(await decision(key)).toBe("key_cap_reached");
    await admin.ok("PATCH", path, { body: { hard_cap_cents: 1, requests_per_minute: 60 } });
    const admission = await admit(admin, key);
    expect(admission).toMatchObject({
      decision: "admitted",
      key: { requestsPerMinute: 60 },
      caps: [{ scope: "key", period: "month", cents: 1 }],
    });
  });

  it.each([
    { name: "the version that was read", header: '"1"', status: 200 },
    { name: "any version", header: "*", status: 200 },
    { name: "an older version", header: '"0"', status: 412 },
  ])("answers $status to If-Match with $name", async ({ header, status }) => {
    const { path } = await createApiKey(admin, organization);
    const answer = await admin.call("PATCH", path, {
      headers: { "if-match": header },
      body: { name: "new" },
    });
    expect(answer.status).toBe(status);
    expect(answer.headers["etag"]).toBe(status === 200 ? '"2"' : '"1"');
  });

  it("goes through with If-Match after requests: they do not change the version", async () => {
    const { key, path } = await createApiKey(admin, organization);
    const etag = String((await admin.call("GET", path)).headers["etag"]);
    expect(await decision(key)).toBe("admitted");
    const answer = await admin.call("PATCH", path, { headers: { "if-match": etag }, body: { name: "new" } });
    expect(answer.status).toBe(200);
  });

  it.each([
    { name: "an unknown field", body: { rpm: 1 }, param: "rpm" },
    { name: "a name of nothing", body: { name: null }, param: "name" },
    { name: "an unknown model", body: { allowed_models: ["x"] }, param: "allowed_models.0" },
    { name: "an expiry in the past", body: { expires_at: "2020-01-01T00:00:00Z" }, param: "expires_at" },
  ])("refuses $name with 400 and changes nothing", async ({ body, param }) => {
    const { path } = await createApiKey(admin, organization);
    expect(await admin.refused("PATCH", path, { body: { budget_cents: 1, ...body } })).toMatchObject({
      status: 400,
      param,
    });
    expect(await admin.ok("GET", path)).toMatchObject({ budget_cents: null });
  });

  it("takes an expiry away", async () => {
    const { path } = await createApiKey(admin, organization, { expires_at: "2100-01-01T00:00:00Z" });
    expect(await admin.ok("PATCH", path, { body: { expires_at: null } })).toMatchObject({ expires_at: null });
  });
});

describe("POST …/keys/{key}/rotate", () => {
  it("gives a new key and ends the old one at once; id, limits and spend stay", async () => {
    const made = await createApiKey(admin, organization, { hard_cap_cents: 7, requests_per_minute: 90 });
    const rotated = await admin.ok("POST", `${made.path}/rotate`);
    expect(rotated).toMatchObject({ id: made.id, hard_cap_cents: 7, requests_per_minute: 90 });
    expect(rotated["key"]).not.toBe(made.key);
    expect(await decision(String(rotated["key"]))).toBe("admitted");
    expect(await decision(made.key)).toBe("unknown_key");
  });

  it("lets the old key work on for the time of grace", async () => {
    const made = await createApiKey(admin, organization);
    const rotated = await admin.ok("POST", `${made.path}/rotate`, { body: { grace_seconds: 3600 } });
    expect(Date.parse(String(rotated["former_key_until"]))).toBeGreaterThan(Date.now() + 3_000_000);
    expect(await decision(String(rotated["key"]))).toBe("admitted");
    expect(await decision(made.key)).toBe("admitted");
  });

  it.each([
    { name: "a negative grace", body: { grace_seconds: -1 }, param: "grace_seconds" },
    { name: "a grace of more than 30 days", body: { grace_seconds: 2_592_001 }, param: "grace_seconds" },
    { name: "an unknown field", body: { grace: 1 }, param: "grace" },
  ])("refuses $name with 400, and the key works on", async ({ body, param }) => {
    const { key, path } = await createApiKey(admin, organization);
    expect(await admin.refused("POST", `${path}/rotate`, { body })).toMatchObject({ status: 400, param });
    expect(await decision(key)).toBe("admitted");
  });
});

describe("DELETE …/keys/{key}", () => {
  it("ends the key at once and for good", async () => {
    const { id, key, path } = await createApiKey(admin, organization);
    const answer = await admin.call("DELETE", path);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(await decision(key)).toBe("unknown_key");
    for (const [method, suffix] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/rotate"],
    ] as const) {
      const refusal = await admin.refused(
        method,
        path + suffix,
        method === "PATCH" ? { body: { name: "a" } } : {},
      );
      expect(refusal).toMatchObject({ status: 404, code: "key_not_found" });
    }
    const listed = (await admin.ok("GET", `${keysOf(organization)}?limit=100`))["data"] as { id: string }[];
    expect(listed.map((one) => one.id)).not.toContain(id);
  });

  it("is refused with 412 when somebody else has changed the key", async () => {
    const { key, path } = await createApiKey(admin, organization);
    const answer = await admin.call("DELETE", path, { headers: { "if-match": '"0"' } });
    expect(answer.status).toBe(412);
    expect(await decision(key)).toBe("admitted");
  });
});

describe("POST …/keys/revoke-all", () => {
  it("ends every key of this organization and none of another", async () => {
    const id = await createOrganization(admin);
    const keys = [await createApiKey(admin, id), await createApiKey(admin, id, { disabled: true })];
    const other = await createApiKey(admin, organization);
    const answer = await admin.ok("POST", `${keysOf(id)}/revoke-all`);
    expect(answer).toMatchObject({ revoked: 2 });
    for (const { key } of keys) expect(await decision(key)).toBe("unknown_key");
    expect(await decision(other.key)).toBe("admitted");
    expect(await admin.ok("POST", `${keysOf(id)}/revoke-all`)).toEqual({ revoked: 0, data: [] });
  });
});

describe("a key that does not exist", () => {
  it.each([
    { name: "of no organization", id: "key_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11" },
    { name: "of another form", id: "x" },
    { name: "with a brace in it", id: "key_%7D%3Aorganization" },
    { name: "with a slash in it", id: "key_%2F.." },
  ])("$name is 404", async ({ id }) => {
    expect(await admin.refused("GET", `${keysOf(organization)}/${id}`)).toMatchObject({
      status: 404,
      code: "key_not_found",
    });
  });
});
