/** Signing in with a real identity provider, step by step as a browser does it. `test/dashboard/oidc.test.ts` has a browser. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signInAtProvider, WebClient } from "../support/oidc/web-client.ts";
import { formTokenOf } from "../support/page-client.ts";
import { goesTo, readAudit, rolesIn, type SignInUnderTest, startSignIn } from "./oidc-fixture.ts";

let under: SignInUnderTest;
beforeAll(async () => {
  under = await startSignIn();
});
afterAll(() => under.stop());

const host = (): string => new URL(under.url).host;
const statusOf = async (client: WebClient, path: string): Promise<number> =>
  (await client.get(under.url + path)).status;

describe("whoever signs in with a provider", () => {
  it.each([
    ["olga", "Olga Operator (operator)"],
    ["adam", "Adam Admin (admin)"],
    ["vera", "Vera Viewer (viewer)"],
  ])("%s has the role of the first group that matches", async (login, shown) => {
    const { client, answer } = await under.signIn(login);
    expect(answer.status).toBe(200);
    expect(goesTo(answer)).toBe("/");
    const page = await client.follow(await client.get(`${under.url}/`));
    expect(page.status).toBe(200);
    expect(page.text).toContain(shown);
  });

  it("is led to the page that was asked for, and to no other site", async () => {
    const next = `/organizations/${under.organization}/keys?a=b&c=%22`;
    expect(goesTo((await under.signIn("vera", { next })).answer)).toBe(next);
    for (const foreign of ["//evil.example", "https://evil.example", "/\\evil.example", "/.//evil.example"]) {
      expect(goesTo((await under.signIn("vera", { next: foreign })).answer)).toBe("/");
    }
    expect(goesTo((await under.signIn("vera", { next: `/${"a".repeat(3000)}` })).answer)).toBe("/");
  });

  it("is refused who is in no group that has a role, and is told the name that the provider has", async () => {
    const { client, answer } = await under.signIn("nobody");
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("corp knows you as No Body");
    expect(client.cookie(host(), "igw_session")).toBeUndefined();
    const [entry] = await readAudit(under.admin, "/api/audit");
    expect(entry).toMatchObject({
      action: "session.refused",
      actor: { type: "person", name: "No Body", issuer: under.provider.issuer, subject: "nobody" },
      after: { provider: "corp", reason: "no_role" },
    });
  });

  it("has what a viewer and an administrator of the organization may, and no more", async () => {
    const vera = (await under.signIn("vera")).client;
    const adam = (await under.signIn("adam")).client;
    const base = `${under.url}/organizations/${under.organization}`;
    const make = async (client: WebClient): Promise<number> => {
      const form_token = formTokenOf(await client.get(`${base}/keys`));
      const form = { form_token, name: "made", "allowed_models.all": "yes" };
      return (await client.post(`${base}/keys`, form)).status;
    };
    expect([await make(vera), await make(adam)]).toEqual([403, 201]);
    expect(await statusOf(adam, "/organizations/deleted")).toBe(403);
    expect(await statusOf(adam, "/sessions")).toBe(403);
    const [made] = await readAudit(under.admin, `/api/organizations/${under.organization}/audit`);
    expect(made).toMatchObject({
      action: "key.created",
      actor: { type: "person", name: "Adam Admin", issuer: under.provider.issuer, subject: "adam" },
    });
  });

  it("is in the audit log of the organization, the operator's role in the log of none", async () => {
    await under.signIn("vera");
    const start = { action: "session.started", after: { provider: "corp", role: "viewer" } };
    const who = { type: "person", issuer: under.provider.issuer, subject: "vera" };
    const [ofOrganization] = await readAudit(under.admin, `/api/organizations/${under.organization}/audit`);
    expect(ofOrganization).toMatchObject({ ...start, actor: who });
    await under.signIn("olga");
    const [ofNone] = await readAudit(under.admin, "/api/audit");
    expect(ofNone).toMatchObject({
      action: "session.started",
      actor: { subject: "olga" },
      after: { role: "operator" },
    });
  });
});

describe("the way to the provider and back", () => {
  it("cannot be gone by another browser, nor again", async () => {
    const first = await under.signIn("vera");
    const stranger = new WebClient();
    expect((await stranger.get(first.callback)).status).toBe(403);
    expect((await first.client.get(first.callback)).status).toBe(403);
    expect(stranger.cookie(host(), "igw_session")).toBeUndefined();
  });

  it("cannot be gone with the cookie of its beginning and a code that was used", async () => {
    const client = new WebClient();
    await client.get(`${under.url}/sign-in/oidc/corp`);
    const { callback } = await under.signIn("vera", { client });
    const kept = client.cookie(host(), "igw_sign_in");
    expect(kept).toBeUndefined();
    const other = new WebClient();
    await other.get(`${under.url}/sign-in/oidc/corp`);
    const answer = await other.get(callback);
    expect(answer.status).toBe(403);
    expect(other.cookie(host(), "igw_session")).toBeUndefined();
  });

  it.each([
    ["a forged state", (url: URL) => url.searchParams.set("state", "forged")],
    ["no state", (url: URL) => url.searchParams.delete("state")],
    ["a forged code", (url: URL) => url.searchParams.set("code", "forged")],
    ["no code", (url: URL) => url.searchParams.delete("code")],
    ["two codes", (url: URL) => url.searchParams.append("code", "second")],
    ["another issuer", (url: URL) => url.searchParams.set("iss", "https://evil.example")],
    ["no issuer", (url: URL) => url.searchParams.delete("iss")],
    ["a refusal of the provider", (url: URL) => url.searchParams.set("error", "access_denied")],
  ])("leads nowhere with %s", async (_, change) => {
    const client = new WebClient();
    const start = `${under.url}/sign-in/oidc/corp`;
    const url = new URL(await signInAtProvider(client, start, { login: "vera", dashboard: under.url }));
    change(url);
    const answer = await client.get(url.href);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("failed: it was rejected");
    expect(client.cookie(host(), "igw_session")).toBeUndefined();
    expect(answer.text).not.toContain(url.searchParams.get("code") ?? "no code");
  });

  it("takes no address from what a browser says", async () => {
    const client = new WebClient();
    const answer = await client.get(`${under.url}/sign-in/oidc/corp`, { "x-forwarded-host": "evil.example" });
    const to = new URL(answer.headers.location ?? "");
    expect(to.searchParams.get("redirect_uri")).toBe(`${under.url}/sign-in/oidc/corp/callback`);
    expect(to.searchParams.get("code_challenge_method")).toBe("S256");
  });

  it("is none for a provider that there is not", async () => {
    const client = new WebClient();
    expect((await client.get(`${under.url}/sign-in/oidc/other`)).status).toBe(404);
    expect((await client.get(`${under.url}/sign-in/oidc/other/callback?code=a`)).status).toBe(404);
  });
});

describe("a provider that is away", () => {
  it("lets nobody new in, leaves those in who are, and is there again by itself", async () => {
    // A host that has asked it nothing yet.
    const { client } = await under.signIn("vera");
    const other = await under.startHost([
      {
        name: "corp",
        issuer: under.provider.issuer,
        client_id: under.provider.clientId,
        client_secret: { env: "SECRET" },
        roles: rolesIn(under.organization),
      },
    ]);
    await under.provider.leave();
    const away = await new WebClient().get(`${other.url}/sign-in/oidc/corp`);
    expect(away.status).toBe(503);
    expect(away.text).toContain("The identity provider corp is unreachable");
    expect(await statusOf(client, `/organizations/${under.organization}`)).toBe(200);
    await under.provider.comeBack();
    expect((await new WebClient().get(`${other.url}/sign-in/oidc/corp`)).status).toBe(302);
    await other.stop();
  });
});

describe("sign-out", () => {
  it("ends the session here, and then the provider's own", async () => {
    const { client } = await under.signIn("vera");
    const page = await client.get(`${under.url}/organizations/${under.organization}`);
    const answer = await client.post(`${under.url}/sign-out`, { form_token: formTokenOf(page) });
    const to = new URL(goesTo(answer) ?? "");
    expect(to.origin).toBe(under.provider.issuer);
    expect(to.searchParams.get("post_logout_redirect_uri")).toBe(`${under.url}/sign-in`);
    expect(to.searchParams.get("id_token_hint")?.split(".")).toHaveLength(3);
    expect((await client.get(to.href)).status).toBe(200);
    expect(await statusOf(client, `/organizations/${under.organization}`)).toBe(303);
  });

  it("leaves no ID token in the store that could be read", async () => {
    await under.signIn("vera");
    const sessions = await under.store.listSessions(under.organization, { limit: 100, after: null });
    expect(sessions.items).not.toEqual([]);
    // Header and payload of a JWT begin with `{"`; three random characters of a sealed text may be the same.
    for (const { holder } of sessions.items) expect(JSON.stringify(holder)).not.toMatch(/eyJ[\w-]+\.eyJ/);
  });
});
