/** Whoever signs in with an API key sees this key only, and changes nothing. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { API_ROUTES } from "../../src/management/admin/api/routes.ts";
import { PAGE_ROUTES } from "../../src/management/admin/dashboard/page-routes.ts";
import { UNKNOWN_TRACE } from "../../src/shared/stored/reporting.ts";
import { chargeInput, createIdentity, FINAL, type TestKey } from "../store/fixture.ts";
import { cookieOf, createPageClient, formTokenOf } from "../support/page-client.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "./admin-fixture.ts";

type Made = Awaited<ReturnType<typeof createApiKey>>;

let admin: AdminUnderTest;
let organization = "";
let mine: Made;
let theirs: Made;
const requests = { mine: "", theirs: "" };
let cookie = "";

const pages = () => createPageClient(admin.url);
const base = () => `/organizations/${organization}`;
const get = (path: string, as = cookie) => pages().get(path, as);
const signIn = async (secret: string) => cookieOf(await pages().signIn(secret, {}));

async function spend({ id }: Made, microcents: bigint): Promise<string> {
  const key: TestKey = { organizationId: organization, keyId: id, hash: "" };
  const identity = await createIdentity(admin.store, key);
  await admin.store.charge(chargeInput(identity, 1, microcents, { final: FINAL }));
  return identity.requestId;
}

beforeAll(async () => {
  admin = await startAdmin({ contact: "team@example.com" });
  organization = await createOrganization(admin, { name: "Acme" });
  mine = await createApiKey(admin, organization, {
    name: "mine",
    limits: [{ period: "day", kind: "cap", cents: 5 }],
  });
  theirs = await createApiKey(admin, organization, { name: "theirs" });
  requests.mine = await spend(mine, 1_000_000n);
  requests.theirs = await spend(theirs, 77_000_000n);
  cookie = await signIn(mine.key);
});
afterAll(() => admin.stop());

describe("a session of an API key", () => {
  it("leads to the key: what is left of which cap, base URLs, snippets, usage and requests", async () => {
    expect((await get("/")).headers["location"]).toBe(`${base()}/me`);
    const { status, text } = await get(`${base()}/me`);
    expect(status).toBe(200);
    expect(text).toContain("0.04 USD left today");
    expect(text).toContain("/v1</code>");
    expect(text).toContain("acme/echo-small");
    expect(text).toContain(requests.mine);
    for (const hidden of [theirs.id, requests.theirs, "theirs", mine.key, "0.77"]) {
      expect(text).not.toContain(hidden);
    }
    const own = await get(`${base()}/me/requests/${requests.mine}`);
    expect([own.status, own.text.includes("Completed")]).toEqual([200, true]);
  });

  it("says which cap stops the key, when it resets and whom to ask", async () => {
    const group = await admin.ok("POST", `/api${base()}/groups`, {
      body: { name: "Search", limits: [{ period: "week", kind: "cap", cents: 0 }] },
    });
    const made = await createApiKey(admin, organization, { name: "stopped", group_id: group["id"] });
    const { text } = await get(`${base()}/me`, await signIn(made.key));
    expect(text).toContain("Weekly hard cap of 0.00 USD for group &quot;Search&quot; reached");
    expect(text).toContain("It resets on Monday 00:00 UTC.");
    expect(text).toContain("mailto:team@example.com");
    expect(text).toMatch(/This sign-in can&#39;t rotate the API key[^]*for a new secret\./u);
  });

  it("takes links of errors, which lead to an admin's page, to the key's own", async () => {
    for (const path of [`keys/${mine.id}`, `groups/group_1`, "settings"]) {
      expect((await get(`${base()}/${path}`)).headers["location"]).toBe(`${base()}/me#limits`);
    }
    const request = `/requests/${requests.mine}`;
    expect((await get(base() + request)).headers["location"]).toBe(`${base()}/me${request}`);
  });

  it("has nothing of what a model server has said about the operator's account", async () => {
    const key: TestKey = { organizationId: organization, keyId: mine.id, hash: "" };
    const identity = await createIdentity(admin.store, key);
    const cause = "Project `proj_HIDDEN` in organization org-HIDDEN has no access";
    const trace = { ...UNKNOWN_TRACE, upstream: { name: "local", status: 403, cause } };
    const final = { ...FINAL, status: 502, errorCode: "upstream_error", trace };
    await admin.store.charge(chargeInput(identity, 1, 0n, { final }));
    const { text } = await get(`${base()}/me/requests/${identity.requestId}`);
    expect(text).toContain("returned 403");
    expect(text).not.toContain("HIDDEN");
    expect((await get(`${base()}/me`)).text).not.toContain("HIDDEN");
    const all = await admin.ok("GET", `/api${base()}/requests/${identity.requestId}`);
    expect(all["upstream"]).toMatchObject({ cause });
  });

  it("opens nothing of another key or organization", async () => {
    const other = await createOrganization(admin, { name: "Other" });
    expect((await get(`${base()}/me/requests/${requests.theirs}`)).status).toBe(404);
    for (const path of [`/organizations/${other}/me`, `/organizations/${other}/keys`]) {
      expect([403, 404]).toContain((await get(path)).status);
    }
    // Whatever the address names, the rows are the key's.
    for (const query of [`?key_id=${theirs.id}`, "?user_id=x", "?model=acme/echo-small"]) {
      expect((await get(`${base()}/me${query}`)).text).not.toContain("theirs");
    }
  });

  it("opens none of the pages but its own, and sends no form", async () => {
    const { text } = await get(`${base()}/me`);
    const token = formTokenOf({ text });
    const fill = (path: string): string =>
      path.replace(":organization", organization).replace(":key", mine.id).replace(/:\w+/gu, "x");
    for (const { method, path, key } of PAGE_ROUTES) {
      if (key === true) continue;
      const answer =
        method === "GET"
          ? await get(fill(path))
          : await pages().post(fill(path), { form_token: token, sure: "yes", name: "x" }, { cookie });
      const isLedHome = answer.headers["location"]?.startsWith(`${base()}/me`) === true;
      expect([path, answer.status === 403 || answer.status === 404 || isLedHome]).toEqual([path, true]);
    }
    const [record] = (await admin.store.listKeys(organization, { limit: 1, after: null })).items;
    expect(record).toMatchObject({ id: mine.id, name: "mine", disabled: false });
  });

  it("has no route of the API that changes something", () => {
    const open = API_ROUTES.filter((route) => "key" in route && route.key);
    expect(open.length).toBeGreaterThan(0);
    expect(open.filter(({ method, path }) => method !== "GET" || !path.includes("/me"))).toEqual([]);
  });

  it("is no token of the API: neither the key nor the session's secret", async () => {
    const secret = /igw_session=([^;]+)/u.exec(cookie)?.[1] ?? "";
    for (const token of [mine.key, secret]) {
      expect(await admin.refused("GET", `/api${base()}/me/usage`, { token })).toMatchObject({ status: 401 });
    }
    const headers = { cookie };
    const answer = await admin.call("GET", `/api${base()}/me/usage`, { token: null, headers });
    expect(answer.status).toBe(401);
  });
});

describe("signing in with an API key", () => {
  it("begins a session with a secret of its own, and ends the one before", async () => {
    const first = await signIn(mine.key);
    const fixed = cookieOf(await pages().signIn(mine.key, {}, `igw_session=${"A".repeat(43)}`));
    expect(fixed).not.toContain("A".repeat(43));
    const second = cookieOf(await pages().signIn(mine.key, {}, first));
    expect(second).not.toBe(first);
    expect((await get(`${base()}/me`, first)).headers["location"]).toContain("/sign-in");
    expect((await get(`${base()}/me`, second)).status).toBe(200);
  });

  it("takes no changed cookie, and the stored hash is none", async () => {
    const changed = cookie.replace(
      /igw_session=(.)/u,
      (_, one: string) => `igw_session=${one === "A" ? "B" : "A"}`,
    );
    expect((await get(`${base()}/me`, changed)).headers["location"]).toContain("/sign-in");
    const [stored] = (await admin.store.listSessions(organization, { limit: 1, after: null })).items;
    expect((await get(`${base()}/me`, `igw_session=${stored?.hash}`)).headers["location"]).toContain(
      "/sign-in",
    );
  });

  it.each(["rotated", "disabled", "deleted", "expired"] as const)(
    "is over once the key is %s",
    async (end) => {
      const made = await createApiKey(admin, organization, { name: end });
      const own = await signIn(made.key);
      expect((await get(`${base()}/me`, own)).status).toBe(200);
      const ends = {
        rotated: () => admin.ok("POST", `${made.path}/rotate`),
        disabled: () => admin.ok("PATCH", made.path, { body: { disabled: true } }),
        deleted: () => admin.ok("DELETE", made.path),
        expired: () =>
          admin.store.changeKey({ organizationId: organization, keyId: made.id }, { expiresAtMs: 1 }, null),
      };
      await ends[end]();
      expect((await get(`${base()}/me`, own)).headers["location"]).toContain("/sign-in");
      expect((await pages().signIn(made.key, {})).status).toBe(401);
    },
  );

  it("is listed for admins, who end it", async () => {
    const made = await createApiKey(admin, organization, { name: "listed" });
    const own = await signIn(made.key);
    const { data } = await admin.ok("GET", `/api${base()}/sessions`);
    const session = (data as Record<string, unknown>[]).find(({ name }) => name === "listed");
    expect(session).toMatchObject({ type: "key", role: "key", user_id: null });
    await admin.ok("DELETE", `/api${base()}/sessions/${String(session?.["id"])}`);
    expect((await get(`${base()}/me`, own)).headers["location"]).toContain("/sign-in");
  });

  it("is throttled like every sign-in, and no answer tells a wrong key from another one", async () => {
    const wrong = mine.key.slice(0, -1) + (mine.key.endsWith("A") ? "B" : "A");
    const answers = [];
    for (let attempt = 0; attempt < 11; attempt += 1) answers.push((await pages().signIn(wrong, {})).status);
    expect(answers.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
    expect(answers.at(-1)).toBe(429);
    expect((await pages().signIn(mine.key, {})).status).toBe(429);
    // Not for those who sign in with a token.
    expect((await pages().signIn(OPERATOR_TOKEN, {})).status).toBe(303);
    expect(JSON.stringify(admin.logs)).not.toContain(mine.key);
  });
});
