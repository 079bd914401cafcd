import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { API_ROUTES } from "../../src/management/admin/api/routes.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  createToken,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

let admin: AdminUnderTest;
let organization = "";
let other = "";
let adminToken = "";
let viewerToken = "";
// Each test is in a minute of its own: wrong tokens are counted, and there are many routes to try them at.
let minutes = 0;
beforeEach(() => {
  minutes += 1;
});
beforeAll(async () => {
  admin = await startAdmin({ nowMs: () => Date.now() + minutes * 60_000 });
  organization = await createOrganization(admin);
  other = await createOrganization(admin);
  adminToken = await createToken(admin, organization, "admin");
  viewerToken = await createToken(admin, organization, "viewer");
});
afterAll(() => admin.stop());

const ROUTES = API_ROUTES.map((route) => ({ ...route, name: `${route.method} ${route.path}` }));
const IN_ORGANIZATION = ROUTES.filter((route) => route.path.includes("{organization}"));

/** The route's path in an organization, with ids that belong to nothing. */
function fill(path: string, organizationId: string): string {
  return path
    .replace("{organization}", organizationId)
    .replace(/\{(\w+)\}/, (_, name: string) => `${name}_unknown`);
}

describe("without a valid token", () => {
  it.each(ROUTES)("$name is 401", async ({ method, path }) => {
    const { key } = await createApiKey(admin, organization);
    for (const token of [null, "igw_op_wrong", `igw_org_${"a".repeat(43)}`, key]) {
      const answer = await admin.call(method, fill(path, organization), { token });
      expect(answer.status).toBe(401);
      expect(answer.headers["www-authenticate"]).toBe("Bearer");
    }
  });

  it.each([
    { name: "another scheme", authorization: "Basic abc" },
    { name: "no token behind the scheme", authorization: "Bearer" },
    { name: "the token without a scheme", authorization: "igw_op_for-tests" },
    { name: "the token in part", authorization: "Bearer igw_op_for-test" },
    { name: "two tokens", authorization: "Bearer igw_op_for-tests igw_op_for-tests" },
  ])("$name is 401", async ({ authorization }) => {
    const answer = await admin.call("GET", "/api/organizations", { token: null, headers: { authorization } });
    expect(answer.status).toBe(401);
  });

  it("an unknown endpoint is 401 too, and the API's description is open", async () => {
    expect((await admin.call("GET", "/api/nothing", { token: null })).status).toBe(401);
    const answer = await admin.call("GET", "/api/openapi.json", { token: null });
    expect(answer.json()).toMatchObject({ openapi: "3.1.0", servers: [{ url: "/" }] });
  });

  it("the APIs' descriptions name the addresses by which people and clients reach them, where those are set", async () => {
    const elsewhere = await startAdmin({
      dashboardUrl: "https://gateway.example.com",
      gatewayUrl: "https://api.example.com",
    });
    try {
      expect(await elsewhere.ok("GET", "/api/openapi.json", { token: null })).toMatchObject({
        servers: [{ url: "https://gateway.example.com" }],
      });
      expect(await elsewhere.ok("GET", "/api/openapi-customers.json", { token: null })).toMatchObject({
        servers: [{ url: "https://api.example.com" }],
      });
    } finally {
      await elsewhere.stop();
    }
  });

  it("the scheme's case does not matter", async () => {
    const headers = { authorization: "bEARER igw_op_for-tests" };
    expect((await admin.call("GET", "/api/catalog", { token: null, headers })).status).toBe(200);
  });
});

describe("an organization's token", () => {
  it.each(IN_ORGANIZATION)("finds nothing at $name of another organization", async ({ method, path }) => {
    for (const token of [adminToken, viewerToken]) {
      const refusal = await admin.refused(method, fill(path, other), { token });
      expect(refusal).toMatchObject({ status: 404, code: "organization_not_found" });
    }
  });

  it("does not reach another organization's key through its own", async () => {
    const foreign = await createApiKey(admin, other);
    const path = `/api/organizations/${organization}/keys/${foreign.id}`;
    expect(await admin.refused("GET", path, { token: adminToken })).toMatchObject({ status: 404 });
    expect(await admin.refused("DELETE", path, { token: adminToken })).toMatchObject({ status: 404 });
    expect(await admin.refused("GET", path)).toMatchObject({ status: 404 });
    expect(await admin.ok("GET", foreign.path)).toMatchObject({ id: foreign.id });
  });

  it("sees of all organizations its own", async () => {
    for (const token of [adminToken, viewerToken]) {
      const page = await admin.ok("GET", "/api/organizations", { token });
      expect(page).toMatchObject({ data: [{ id: organization }], has_more: false, next: null });
    }
  });

  it.each(ROUTES.filter((route) => route.access === "operator"))(
    "is refused $name with 403",
    async ({ method, path }) => {
      const refusal = await admin.refused(method, fill(path, organization), { token: adminToken, body: {} });
      expect(refusal).toMatchObject({ status: 403, code: "permission_denied" });
    },
  );
});

describe("a viewer", () => {
  it.each(ROUTES.filter((route) => route.access !== "read"))(
    "is refused $name with 403",
    async ({ method, path }) => {
      const refusal = await admin.refused(method, fill(path, organization), { token: viewerToken, body: {} });
      expect(refusal).toMatchObject({ status: 403, code: "permission_denied" });
    },
  );

  it.each(ROUTES.filter((route) => route.access === "read"))("may read $name", async ({ method, path }) => {
    const answer = await admin.call(method, fill(path, organization), { token: viewerToken });
    expect([200, 204, 404]).toContain(answer.status);
    expect(answer.text).not.toContain("organization_not_found");
  });
});

describe("an admin of an organization", () => {
  it("manages its keys, limits and tokens", async () => {
    const token = adminToken;
    const path = `/api/organizations/${organization}`;
    const key = await admin.ok("POST", `${path}/keys`, { token, body: { name: "a" } });
    await admin.ok("PATCH", `${path}/keys/${String(key["id"])}`, { token, body: { hard_cap_cents: 1 } });
    await admin.ok("PATCH", path, { token, body: { hard_cap_cents: 1000 } });
    const made = await admin.ok("POST", `${path}/tokens`, { token, body: { name: "b", role: "viewer" } });
    await admin.ok("DELETE", `${path}/tokens/${String(made["id"])}`, { token });
    await admin.ok("DELETE", `${path}/keys/${String(key["id"])}`, { token });
    expect(await admin.ok("GET", path, { token })).toMatchObject({ hard_cap_cents: 1000 });
  });
});

describe("…/tokens", () => {
  it("shows a token once, and then by its last four characters", async () => {
    const id = await createOrganization(admin);
    const path = `/api/organizations/${id}/tokens`;
    const made = await admin.ok("POST", path, { body: { name: "ci", role: "viewer" } });
    const { token, ...shown } = made;
    expect(shown).toMatchObject({
      name: "ci",
      role: "viewer",
      display: `igw_org_…${String(token).slice(-4)}`,
    });
    const list = await admin.call("GET", path);
    expect(list.json()).toEqual({ data: [shown], has_more: false, next: null });
    expect(list.text).not.toContain(String(token));
  });

  it("ends a token with its deletion", async () => {
    const id = await createOrganization(admin);
    const path = `/api/organizations/${id}/tokens`;
    const made = await admin.ok("POST", path, { body: { name: "ci", role: "admin" } });
    const token = String(made["token"]);
    await admin.ok("GET", path, { token });
    const answer = await admin.call("DELETE", `${path}/${String(made["id"])}`);
    expect([answer.status, answer.text]).toEqual([204, ""]);
    expect(await admin.refused("GET", path, { token })).toMatchObject({ status: 401 });
    expect(await admin.refused("DELETE", `${path}/${String(made["id"])}`)).toMatchObject({
      status: 404,
      code: "token_not_found",
    });
  });

  it("cannot be deleted through another organization", async () => {
    const made = await admin.ok("POST", `/api/organizations/${other}/tokens`, {
      body: { name: "a", role: "admin" },
    });
    const path = `/api/organizations/${organization}/tokens/${String(made["id"])}`;
    expect(await admin.refused("DELETE", path)).toMatchObject({ status: 404 });
    await admin.ok("GET", `/api/organizations/${other}/keys`, { token: String(made["token"]) });
  });

  it.each([
    { name: "no role", body: { name: "a" }, param: "role" },
    { name: "no name", body: { role: "admin" }, param: "name" },
    { name: "a role that there is not", body: { name: "a", role: "owner" }, param: "role" },
    { name: "the operator's role", body: { name: "a", role: "operator" }, param: "role" },
  ])("refuses $name with 400", async ({ body, param }) => {
    const path = `/api/organizations/${organization}/tokens`;
    expect(await admin.refused("POST", path, { body })).toMatchObject({ status: 400, param });
  });

  it("stores no token, only its hash", async () => {
    const token = await createToken(admin, organization, "admin");
    const everything = await dumpRedis(admin);
    expect(everything).not.toContain(token);
    expect(everything).not.toContain(token.slice("igw_org_".length));
  });
});

describe("an organization that there is not", () => {
  it.each(IN_ORGANIZATION)("is 404 at $name", async ({ method, path }) => {
    for (const id of ["org_01934f6e-7d3a-7c1e-9a40-5f0c2b8d6e11", "x", "org_%7Bx%7D"]) {
      const refusal = await admin.refused(method, fill(path, id));
      expect(refusal).toMatchObject({ status: 404, code: "organization_not_found" });
    }
  });
});

/** All that Redis holds, as text. */
async function dumpRedis({ client }: AdminUnderTest): Promise<string> {
  const names = await client.keys("*");
  const values = await Promise.all(
    names.map(async (name) => {
      const type = await client.type(name);
      if (type === "hash") return JSON.stringify(await client.hgetall(name));
      if (type === "string") return client.get(name);
      return type === "stream" ? JSON.stringify(await client.xrange(name, "-", "+")) : "";
    }),
  );
  return names.map((name, position) => `${name} ${values[position]}`).join("\n");
}

describe("after a hundred wrong tokens in a minute from one address", () => {
  it("nobody there is listened to, until the minute is over", async () => {
    let nowMs = Date.now();
    const metrics = {
      render: async () => ({ contentType: "text/plain", text: "up 1\n" }),
      token: "for-prometheus",
      isLocal: true,
    };
    const guarded = await startAdmin({ nowMs: () => nowMs, metrics });
    try {
      const status = async (path: string, token: string | null) =>
        (await guarded.call("GET", path, { token })).status;
      for (let attempt = 0; attempt < 100; attempt += 1) {
        expect(await status("/api/organizations", `igw_op_guess-${attempt}`)).toBe(401);
      }
      expect(await status("/api/organizations", OPERATOR_TOKEN)).toBe(429);
      expect(await status("/metrics", "for-prometheus")).toBe(429);
      const refused = await guarded.call("GET", "/api/organizations");
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
      expect(refused.json()).toMatchObject({ error: { code: "too_many_wrong_tokens" } });
      nowMs += 60_000;
      expect(await status("/api/organizations", OPERATOR_TOKEN)).toBe(200);
      expect(await status("/metrics", "for-prometheus")).toBe(200);
    } finally {
      await guarded.stop();
    }
  });

  it("does not count calls without a token", async () => {
    for (let attempt = 0; attempt < 120; attempt += 1) {
      expect((await admin.call("GET", "/api/organizations", { token: null })).status).toBe(401);
    }
  });
});

describe("GET /metrics without a token of its own", () => {
  it("is for this machine: not for a name of another site, and not through a proxy", async () => {
    const metrics = {
      render: async () => ({ contentType: "text/plain", text: "up 1\n" }),
      token: null,
      isLocal: true,
    };
    const local = await startAdmin({ metrics });
    try {
      const { port } = new URL(local.url);
      const status = async (headers: Record<string, string>, token: string | null = null) =>
        (await local.call("GET", "/metrics", { token, headers })).status;
      for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`]) {
        expect(await status({ host })).toBe(200);
      }
      for (const host of [
        "evil.example",
        `evil.example:${port}`,
        "127.0.0.1.evil.example",
        "localhost.evil.example",
      ]) {
        expect(await status({ host })).toBe(401);
        expect(await status({ host }, OPERATOR_TOKEN)).toBe(200);
      }
      expect(await status({ host: `localhost:${port}`, "x-forwarded-for": "203.0.113.7" })).toBe(401);
    } finally {
      await local.stop();
    }
  });
});

describe("an API key that a client has sent as its model or in its path", () => {
  it("is not to be read among the requests", async () => {
    const { id: keyId, key } = await createApiKey(admin, organization);
    const requestId = createId("req", Date.now());
    await admin.store.recordRequest({
      organizationId: organization,
      keyId,
      requestId,
      route: `POST /v1/${key}`,
      model: key,
      status: 404,
      errorCode: "model_not_found",
      checks: [],
    });
    const base = `/api/organizations/${organization}/requests`;
    for (const path of [base, `${base}/${requestId}`]) {
      const answer = await admin.call("GET", path, { token: viewerToken });
      expect(answer.text).toContain(requestId);
      expect(answer.text).not.toContain(key);
    }
  });
});
