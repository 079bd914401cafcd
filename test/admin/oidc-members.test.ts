/** The role member: what it sees and changes is its own, by every call and every form, and all else is refused. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ReportTurns } from "../../src/management/admin/report-turns.ts";
import { runRoute } from "../../src/management/admin/api/run-route.ts";
import { API_ROUTES } from "../../src/management/admin/api/routes.ts";
import { AdminError } from "../../src/management/admin/admin-error.ts";
import { PAGE_ROUTES } from "../../src/management/admin/dashboard/page-routes.ts";
import type { Principal } from "../../src/management/admin/principal.ts";
import type { ApiServices } from "../../src/management/admin/api/route.ts";
import { newKeySettings } from "../../src/shared/settings/new-key.ts";
import { ORGANIZATION_SETTINGS } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_SETTINGS } from "../../src/shared/settings/user.ts";
import { createId } from "../../src/data-path/store/ids.ts";
import type { WebClient } from "../support/oidc/web-client.ts";
import { createPageClient, formTokenOf } from "../support/page-client.ts";
import { admit, createApiKey, NO_EMAILS_SENT, testCatalog } from "./admin-fixture.ts";
import { readAudit, rolesIn, type SignInUnderTest, startSignIn } from "./oidc-fixture.ts";

let under: SignInUnderTest;
let other = "";
let mia: WebClient;
let me = "";
let userId = "";
beforeAll(async () => {
  under = await startSignIn();
  const body = { name: "Else", currency: "USD" };
  const made = await under.admin.ok("POST", "/api/organizations", { body });
  other = String(made["id"]);
  mia = (await under.signIn("mia")).client;
  me = `${under.url}/organizations/${under.organization}/me`;
  userId = await userOf("mia");
});
afterAll(() => under.stop());

async function userOf(subject: string): Promise<string> {
  const external = { issuer: under.provider.issuer, subject };
  return (await under.store.findExternalUser(under.organization, external))?.id ?? "";
}

async function createMember(subject: string): Promise<{ readonly id: string }> {
  const external = { issuer: under.provider.issuer, subject };
  const settings = { ...defaultsOf(USER_SETTINGS), name: subject };
  const made = await under.store.findOrCreateExternalUser(under.organization, external, settings);
  if (!("user" in made)) throw new Error(made.outcome);
  return made.user;
}

const services = (): ApiServices => ({
  store: under.store,
  reports: new ReportTurns(),
  catalog: () => testCatalog,
  readConfigState: () => ({ catalogSince: "", refused: null, waitingForRestart: [] }),
  email: NO_EMAILS_SENT,
  allowPrivateWebhooks: false,
  logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
});

function principalOf(role: "member" | "viewer", id: string | null = userId): Principal {
  const person = { issuer: under.provider.issuer, subject: "mia", name: "Mia" };
  return { type: "person", name: "Mia", role, organizationId: under.organization, userId: id, person };
}

/** A call in the name of somebody who has signed in, as the dashboard makes it. The code of its error, or its answer. */
async function call(
  name: string,
  params: Record<string, string> = {},
  {
    principal = principalOf("member"),
    body,
    query = "",
  }: { principal?: Principal; body?: object; query?: string } = {},
) {
  const route = API_ROUTES.find((one) => `${one.method} ${one.path}` === name);
  if (route === undefined) throw new Error(`there is no ${name}`);
  const all: Record<string, string> = { organization: under.organization, ...params };
  const own = Object.entries(all).filter(([one]) => route.path.includes(`{${one}}`));
  const request = new Request(`http://localhost/?${query}`, {
    method: route.method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const incoming = { request, principal, params: Object.fromEntries(own), requestId: "req_test" };
  try {
    return await runRoute(route, incoming, services());
  } catch (thrown) {
    if (thrown instanceof AdminError) return thrown;
    throw thrown;
  }
}

const ME = "/api/organizations/{organization}/me";
const codeOf = (answer: unknown): string => (answer instanceof AdminError ? answer.code : "done");
const NAMES = API_ROUTES.map(({ method, path }) => `${method} ${path}`);
const OWN = NAMES.filter((name) => name.includes(ME));
/** Whoever calls is told who that is, and ends the sign-in that is called with. */
const OF_CALLER = ["GET /api/whoami", "DELETE /api/session"];
const OF_OTHERS = NAMES.filter((name) => !name.includes(ME) && !OF_CALLER.includes(name));

describe("every call of the management API", () => {
  it("is either somebody's own or not for members", () => {
    const allowed = API_ROUTES.filter(({ member }) => member === true);
    expect(allowed.map(({ method, path }) => `${method} ${path}`)).toEqual([...OWN, ...OF_CALLER]);
    expect(OF_OTHERS.length).toBeGreaterThan(50);
  });

  it.each(OF_OTHERS)("is refused to a member: %s", async (name) => {
    const ids = { key: "key_x", user: userId, group: "group_x", token: "token_x", session: "session_x" };
    for (const body of [undefined, {}, { name: "x", hard_cap_cents: null, limits: [] }]) {
      const given = body === undefined || name.startsWith("GET") ? {} : { body };
      expect(codeOf(await call(name, ids, given))).toBe("permission_denied");
    }
  });

  it.each(NAMES.filter((name) => name.includes("{organization}")))(
    "finds nothing of another organization: %s",
    async (name) => {
      for (const principal of [principalOf("member"), principalOf("viewer")]) {
        const answer = await call(name, { organization: other, key: "key_x", user: userId }, { principal });
        expect(codeOf(answer)).toBe("organization_not_found");
      }
    },
  );

  it.each(OWN.filter((name) => !name.startsWith("GET")))("changes nothing for a viewer: %s", async (name) => {
    const answer = await call(name, { key: "key_x" }, { principal: principalOf("viewer"), body: {} });
    expect(codeOf(answer)).toBe("permission_denied");
  });

  it.each(OWN)("is nobody's without a user: %s", async (name) => {
    const body = name === `POST ${ME}/keys` ? { name: "x" } : name.startsWith("PATCH") ? {} : undefined;
    for (const id of [null, createId("user", Date.now())]) {
      const answer = await call(
        name,
        { key: "key_x" },
        { principal: principalOf("member", id), ...(body && { body }) },
      );
      expect(codeOf(answer)).toBe("user_not_found");
    }
  });
});

describe("every page", () => {
  const path = (template: string, organization: string): string =>
    under.url + template.replace(":organization", organization).replaceAll(/:\w+/gu, "unknown");
  const PAGES = PAGE_ROUTES.map(({ method, path: template, member }) => ({ method, template, member }));
  const FOR_OTHERS = PAGES.filter(({ member }) => member !== true);
  const send = async (client: WebClient, method: string, url: string) => {
    if (method === "GET") return client.get(url);
    const form_token = formTokenOf(await client.get(me));
    return client.post(url, { form_token, sure: "yes", name: "x", limits: "day cap 999" });
  };

  it.each(FOR_OTHERS)("is refused to a member: $method $template", async ({ method, template }) => {
    // A link of an error leads to the member's own page.
    const isLedHome = method === "GET" && /\/(?:settings|requests\/:request)$/u.test(template);
    for (const organization of [under.organization, other]) {
      const answer = await send(mia, method, path(template, organization));
      expect(answer.status).toBe(isLedHome && organization === under.organization ? 303 : 403);
      expect(answer.text).not.toContain("Else");
    }
  });

  it.each(PAGES.filter(({ member, template }) => member === true && template.includes(":organization")))(
    "of one's own is none in another organization: $method $template",
    async ({ method, template }) => {
      expect((await send(mia, method, path(template, other))).status).toBe(404);
    },
  );

  it.each(PAGES)("is closed to a session that was ended: $method $template", async ({ method, template }) => {
    const { client } = await under.signIn("max");
    const form_token = formTokenOf(await client.get(me));
    const { items } = await under.store.listSessions(under.organization, { limit: 1, after: null });
    await under.store.endSession(items[0]?.hash ?? "");
    const url = path(template, under.organization);
    const answer =
      method === "GET" ? await client.get(url) : await client.post(url, { form_token, sure: "yes" });
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toContain("/sign-in");
  });
});

describe("a member", () => {
  it("is led to its own page, is one user whenever it comes, and made in the audit log", async () => {
    const again = (await under.signIn("mia")).client;
    const page = await again.follow(await again.get(`${under.url}/`));
    expect(page.url).toBe(me);
    expect(page.text).toContain("Mia Member (member)");
    expect(page.text).toContain("You have no limits of your own");
    expect(await userOf("mia")).toBe(userId);
    const user = await under.admin.ok("GET", `/api/organizations/${under.organization}/users/${userId}`);
    expect(user).toMatchObject({
      name: "Mia Member",
      external: { issuer: under.provider.issuer, subject: "mia" },
    });
    const entries = await readAudit(under.admin, `/api/organizations/${under.organization}/audit?limit=100`);
    const made = entries.filter(
      ({ action, actor }) => action === "user.created" && actor["subject"] === "mia",
    );
    expect(made).toHaveLength(1);
  });

  it("makes, rotates, disables and deletes a key on its page, which counts to its user", async () => {
    const post = async (path: string, form: Record<string, string> = {}) =>
      mia.post(`${me}${path}`, { form_token: formTokenOf(await mia.get(me)), sure: "yes", ...form });
    const made = await post("/keys", { name: "laptop", limits: "day cap 5.00" });
    expect(made.status).toBe(201);
    const secret = /sk-igw-[A-Za-z0-9]{30,}/u.exec(made.text)?.[0] ?? "";
    const { items } = await under.store.listKeys(under.organization, { limit: 10, after: null }, { userId });
    const [record] = items;
    expect(record).toMatchObject({
      name: "laptop",
      userId,
      limits: [{ period: "day", kind: "cap", cents: 500 }],
    });
    expect((await admit(under, secret)).decision).toBe("admitted");
    const rotated = await post(`/keys/${record?.id}/rotate`);
    const next = /sk-igw-[A-Za-z0-9]{30,}/u.exec(rotated.text)?.[0] ?? "";
    expect((await admit(under, secret)).decision).toBe("unknown_key");
    expect((await admit(under, next)).decision).toBe("admitted");
    expect((await post(`/keys/${record?.id}/disable`)).status).toBe(303);
    expect((await admit(under, next)).decision).not.toBe("admitted");
    expect((await post(`/keys/${record?.id}/delete`)).status).toBe(303);
    expect(
      (await under.store.listKeys(under.organization, { limit: 10, after: null }, { userId })).items,
    ).toEqual([]);
  });

  it("reaches no key of another, nor one of nobody's", async () => {
    await under.signIn("max");
    const foreign = await createApiKey(under.admin, under.organization, { user_id: await userOf("max") });
    const nobodys = await createApiKey(under.admin, under.organization);
    for (const { id: key } of [foreign, nobodys]) {
      for (const name of OWN.filter((one) => one.includes("{key}"))) {
        const body = name.startsWith("PATCH") ? { body: { name: "mine" } } : {};
        expect(codeOf(await call(name, { key }, body))).toBe("key_not_found");
      }
    }
    expect((await call(`GET ${ME}/keys`)) as object).toMatchObject({ body: { data: [] } });
  });

  it.each<[string, object]>([
    ["another's", { user_id: "user_00000000-0000-7000-8000-000000000000" }],
    ["of a group", { group_id: "group_00000000-0000-7000-8000-000000000000" }],
    ["with raises", { raises: [] }],
    ["without the cap that new keys have", { hard_cap_cents: null }],
    ["with a cap above that of new keys", { hard_cap_cents: 1_001 }],
    [
      "with a cap above its own",
      {
        limits: [
          { period: "day", kind: "cap", cents: 501 },
          { period: "month", kind: "cap", cents: 1_000 },
        ],
      },
    ],
    [
      "with a cap above that of each member",
      {
        limits: [
          { period: "week", kind: "cap", cents: 701 },
          { period: "month", kind: "cap", cents: 1_000 },
        ],
      },
    ],
    ["with a higher rate", { requests_per_minute: 61 }],
  ])("makes no key %s", async (_, fields) => {
    const path = `/api/organizations/${under.organization}`;
    await under.admin.ok("PATCH", path, {
      body: {
        key_defaults: { hard_cap_cents: 1_000, requests_per_minute: 60 },
        member_limits: [{ period: "week", kind: "cap", cents: 700 }],
      },
    });
    await under.admin.ok("PATCH", `${path}/users/${userId}`, {
      body: { limits: [{ period: "day", kind: "cap", cents: 500 }] },
    });
    const answer = await call(`POST ${ME}/keys`, {}, { body: { name: "x", ...fields } });
    expect(codeOf(answer)).toBe("invalid_parameter");
    expect(await under.store.countOwned(under.organization, "user", [userId])).toEqual([
      { keys: 0, users: 0 },
    ]);
  });

  it("loosens no key that it has: neither its limits nor that it is disabled", async () => {
    const fields = { user_id: userId, disabled: true };
    const { id: key, path } = await createApiKey(under.admin, under.organization, fields);
    for (const body of [
      { disabled: false },
      { hard_cap_cents: null },
      { limits: [] },
      { requests_per_minute: 1 },
      { user_id: null },
      { expires_at: null },
      { allowed_models: null },
    ]) {
      expect(codeOf(await call(`PATCH ${ME}/keys/{key}`, { key }, { body }))).toBe("invalid_parameter");
    }
    expect(await under.admin.ok("GET", path)).toMatchObject({ disabled: true, user_id: userId });
    await under.admin.ok("DELETE", path);
  });

  it("has as many keys as it may, however many it makes at once", async () => {
    await under.admin.ok("PATCH", `/api/organizations/${under.organization}`, { body: { max_own_keys: 3 } });
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, place) => call(`POST ${ME}/keys`, {}, { body: { name: `k${place}` } })),
    );
    const codes = made.map(codeOf).sort();
    expect(codes.filter((code) => code === "done").length).toBeLessThanOrEqual(3);
    expect(new Set(codes)).toEqual(new Set(["done", "organization_full"]));
    const [owned] = await under.store.countOwned(under.organization, "user", [userId]);
    expect(owned?.keys).toBe(codes.filter((code) => code === "done").length);
    expect(codeOf(await call(`GET ${ME}`))).toBe("done");
  });

  it("makes so many keys in a minute, also when it deletes each", async () => {
    const { id } = await createMember("max");
    const principal = principalOf("member", id);
    const make = () => call(`POST ${ME}/keys`, {}, { principal, body: { name: "k" } });
    await under.admin.ok("PATCH", `/api/organizations/${under.organization}`, { body: { max_own_keys: 3 } });
    for (let made = 0; made < 30; made += 1) {
      const key = ((await make()) as { body: { id: string } }).body.id;
      await call(`DELETE ${ME}/keys/{key}`, { key }, { principal });
    }
    expect(codeOf(await make())).toBe("too_many_new_keys");
  });

  it("has its keys beside those that its tokens go by, which do not count", async () => {
    const { id } = await createMember("lea");
    const principal = principalOf("member", id);
    for (const provider of ["corp", "partner"]) {
      const defaults = newKeySettings(`jwt:${provider}`, defaultsOf(ORGANIZATION_SETTINGS).keyDefaults);
      const settings = { ...defaults, userId: id };
      await under.store.findOrCreateProviderKey(under.organization, provider, settings);
    }
    await under.admin.ok("PATCH", `/api/organizations/${under.organization}`, { body: { max_own_keys: 1 } });
    const make = async () => codeOf(await call(`POST ${ME}/keys`, {}, { principal, body: { name: "k" } }));
    expect([await make(), await make()]).toEqual(["done", "organization_full"]);
    const counts = { key_count: 1, most_keys: 1 };
    expect(await call(`GET ${ME}`, {}, { principal })).toMatchObject({ body: counts });
    const data = [{ name: "jwt:corp" }, { name: "jwt:partner" }, { name: "k" }];
    expect(await call(`GET ${ME}/keys`, {}, { principal })).toMatchObject({ body: { data } });
  });

  it("sees usage and requests of its own alone, whatever it asks for", async () => {
    for (const [name, query] of [
      [`GET ${ME}/usage`, "user_id=user_00000000-0000-7000-8000-000000000000"],
      [`GET ${ME}/requests`, "user_id=user_00000000-0000-7000-8000-000000000000"],
      [`GET ${ME}/requests`, "group_id=group_00000000-0000-7000-8000-000000000000"],
    ] as const) {
      expect(codeOf(await call(name, {}, { query }))).toBe("invalid_parameter");
    }
  });

  it("sees no amounts of its limits if the organization hides amounts", async () => {
    const organization = `/api/organizations/${under.organization}`;
    const limits = [{ period: "day", kind: "cap", cents: 4321 }];
    await under.admin.ok("PATCH", `${organization}/users/${userId}`, { body: { limits } });
    expect(await call(`GET ${ME}/limits`)).toMatchObject({
      body: { data: [{ cents: 4321 }, { period: "week" }] },
    });
    await under.admin.ok("PATCH", organization, { body: { hide_amounts: true } });
    const amounts = { cents: null, raised_cents: null, spent_cents: null, remaining_cents: null, raises: [] };
    expect(await call(`GET ${ME}/limits`)).toMatchObject({ body: { data: [amounts, amounts] } });
    expect((await mia.get(me)).text).not.toContain("43.21");
    await under.admin.ok("PATCH", organization, { body: { hide_amounts: false } });
    await under.admin.ok("PATCH", `${organization}/users/${userId}`, { body: { limits: [] } });
  });

  it("is signed out and not let in again while its user is disabled", async () => {
    const { client } = await under.signIn("max");
    const max = `/api/organizations/${under.organization}/users/${await userOf("max")}`;
    await under.admin.ok("PATCH", max, { body: { disabled: true } });
    expect((await client.get(me)).status).toBe(303);
    const [ended] = await readAudit(under.admin, `/api/organizations/${under.organization}/audit`);
    expect(ended).toMatchObject({ action: "session.ended", after: { reason: "user_disabled" } });
    const again = await under.signIn("max");
    expect(again.answer.status).toBe(403);
    expect(again.answer.text).toContain("Your user is disabled. Ask an admin");
    expect((await readAudit(under.admin, "/api/audit"))[0]).toMatchObject({
      action: "session.refused",
      after: { reason: "user_disabled" },
    });
    await under.admin.ok("PATCH", max, { body: { disabled: false } });
    expect((await under.signIn("max")).answer.status).toBe(200);
  });

  it("loses its session with its role", async () => {
    const { client } = await under.signIn("max");
    const host = new URL(under.url).host;
    const roles = rolesIn(under.organization).slice(0, 3);
    const providers = [{ name: "corp", issuer: under.provider.issuer, client_id: "dashboard", roles }];
    const renewed = await under.startHost(providers);
    const cookie = `igw_session=${client.cookie(host, "igw_session")}`;

    const answer = await createPageClient(renewed.url).get(`/organizations/${under.organization}/me`, cookie);
    expect(answer.status).toBe(303);
    await renewed.stop();
  });
});
