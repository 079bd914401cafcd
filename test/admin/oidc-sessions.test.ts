/** Sessions of people whom a provider has signed in: when they end, who sees them, and what the audit log says of it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AdminUnderTest } from "./admin-fixture.ts";
import { createToken } from "./admin-fixture.ts";
import { createPageClient, formTokenOf } from "../support/page-client.ts";
import type { WebClient } from "../support/oidc/web-client.ts";
import { readAudit, rolesIn, type SignInUnderTest, startSignIn } from "./oidc-fixture.ts";

let under: SignInUnderTest;
let audit = "";
let sessions = "";
beforeAll(async () => {
  under = await startSignIn();
  audit = `/api/organizations/${under.organization}/audit`;
  sessions = `/api/organizations/${under.organization}/sessions`;
});
afterAll(() => under.stop());

const corp = (roles: readonly object[], fields: object = {}): object => ({
  name: "corp",
  issuer: under.provider.issuer,
  client_id: under.provider.clientId,
  client_secret: { env: "SECRET" },
  roles,
  ...fields,
});

/** Of the cookie that a browser has of the first host. */
async function statusOn(
  admin: AdminUnderTest,
  client: WebClient,
  path = `/organizations/${under.organization}`,
) {
  const cookie = `igw_session=${client.cookie(new URL(under.url).host, "igw_session") ?? ""}`;
  return (await createPageClient(admin.url).get(path, cookie)).status;
}

async function idOf(client: WebClient): Promise<string> {
  await client.get(`${under.url}/organizations/${under.organization}`);
  const { data } = await under.admin.ok("GET", sessions);
  return String((data as { id: string }[])[0]?.id);
}

describe("a session of a provider's", () => {
  it("goes on under the same roles, also on another host and with others added behind", async () => {
    const { client } = await under.signIn("vera");
    const roles = [...rolesIn(under.organization), { any: true, role: "operator" }];
    const other = await under.startHost([corp(roles)]);
    expect(await statusOn(other, client)).toBe(200);
    await other.stop();
  });

  it.each([
    ["the role is taken from gateway.yaml", () => [corp(rolesIn(under.organization).slice(0, 2))]],
    ["another role matches first", () => [corp([{ any: true, role: "operator" }])]],
    ["the provider is taken from it", () => [corp(rolesIn(under.organization), { name: "other" })]],
    [
      "another provider has its name",
      () => [corp(rolesIn(under.organization), { issuer: "https://other.example.com" })],
    ],
  ])("ends when %s, and the audit log says so once", async (_, providers) => {
    const { client } = await under.signIn("vera");
    const other = await under.startHost(providers());
    expect(await statusOn(other, client)).toBe(303);
    expect(await statusOn(under.admin, client)).toBe(303);
    const [entry, before] = await readAudit(under.admin, audit);
    expect(entry).toMatchObject({
      action: "session.ended",
      actor: { type: "person", issuer: under.provider.issuer, subject: "vera" },
      after: { reason: "role_withdrawn" },
    });
    expect(before?.action).toBe("session.started");
    await other.stop();
  });

  it("is listed with issuer and subject, and ends at once when an administrator ends it", async () => {
    const vera = (await under.signIn("vera")).client;
    const id = await idOf(vera);
    const listed = (await under.admin.ok("GET", sessions))["data"] as object[];
    expect(listed[0]).toMatchObject({
      id,
      type: "person",
      name: "Vera Viewer",
      role: "viewer",
      provider: "corp",
      issuer: under.provider.issuer,
      subject: "vera",
    });
    const adam = (await under.signIn("adam")).client;
    const page = await adam.get(`${under.url}/organizations/${under.organization}/sessions`);
    expect(page.text).toContain("corp: vera");
    const end = `${under.url}/organizations/${under.organization}/sessions/${id}/end`;
    const form = { form_token: formTokenOf(page), sure: "yes" };
    expect((await adam.post(end, form)).status).toBe(303);
    expect(await statusOn(under.admin, vera)).toBe(303);
    const [entry] = await readAudit(under.admin, audit);
    expect(entry).toMatchObject({
      action: "session.revoked",
      actor: { type: "person", subject: "adam" },
      before: { issuer: under.provider.issuer, subject: "vera" },
    });
    expect((await adam.post(end, form)).status).toBe(404);
  });

  it("is ended neither by a viewer nor from another organization, and its id opens nothing", async () => {
    const vera = (await under.signIn("vera")).client;
    const id = await idOf(vera);
    const other = String(
      (await under.admin.ok("POST", "/api/organizations", { body: { name: "Else", currency: "USD" } }))["id"],
    );
    const stranger = await createToken(under.admin, other, "admin");
    const viewer = await createToken(under.admin, under.organization, "viewer");
    const elsewhere = `/api/organizations/${other}/sessions/${id}`;
    const attempts = [
      await under.admin.refused("DELETE", `${sessions}/${id}`, { token: viewer }),
      await under.admin.refused("DELETE", `${sessions}/${id}`, { token: stranger }),
      await under.admin.refused("DELETE", elsewhere, { token: stranger }),
      await under.admin.refused("DELETE", `/api/sessions/${id}`),
      await under.admin.refused("DELETE", `${sessions}/session_unknown`),
      await under.admin.refused("GET", sessions, { token: id.replace("session_", "") }),
    ];
    expect(attempts.map(({ code }) => code)).toEqual([
      "permission_denied",
      "organization_not_found",
      "session_not_found",
      "session_not_found",
      "session_not_found",
      "invalid_token",
    ]);
    expect(await statusOn(under.admin, vera)).toBe(200);
  });

  it("of the operator's role is on the operator's list alone", async () => {
    const olga = (await under.signIn("olga")).client;
    const ofNone = (await under.admin.ok("GET", "/api/sessions"))["data"] as {
      id: string;
      subject: string;
    }[];
    expect(ofNone[0]).toMatchObject({ type: "person", role: "operator", subject: "olga" });
    const page = await olga.get(`${under.url}/sessions`);
    expect(page.text).toContain("corp: olga");
    await under.admin.ok("DELETE", `/api/sessions/${ofNone[0]?.id}`);
    expect(await statusOn(under.admin, olga, "/organizations")).toBe(303);
    const [entry] = await readAudit(under.admin, "/api/audit");
    expect(entry).toMatchObject({ action: "session.revoked", actor: { type: "operator" } });
  });

  it("with a token is listed, too, and gone with its token", async () => {
    const token = await createToken(under.admin, under.organization, "viewer");
    await createPageClient(under.url).signIn(token);
    const listed = (await under.admin.ok("GET", sessions))["data"] as object[];
    expect(listed[0]).toMatchObject({ type: "token", name: "the viewer", role: "viewer", provider: null });
    const tokens = `/api/organizations/${under.organization}/tokens`;
    const all = (await under.admin.ok("GET", tokens))["data"] as { id: string }[];
    await under.admin.ok("DELETE", `${tokens}/${all.at(-1)?.id}`);
    const left = (await under.admin.ok("GET", sessions))["data"] as object[];
    expect(left).toHaveLength(listed.length - 1);
  });
});

describe("a change of role", () => {
  it("from one sign-in to the next is in the audit log of both places", async () => {
    const identity = { issuer: under.provider.issuer, subject: "adam" };
    await under.store.rememberRole(identity, { role: "operator", organizationId: null });
    await under.signIn("adam");
    const change = {
      action: "role.changed",
      actor: { type: "person", ...identity },
      before: { role: "operator", organization_id: null },
      after: { role: "admin", organization_id: under.organization },
    };
    expect((await readAudit(under.admin, audit))[0]).toMatchObject(change);
    expect((await readAudit(under.admin, "/api/audit"))[0]).toMatchObject(change);
    await under.signIn("adam");
    expect((await readAudit(under.admin, audit))[0]).toMatchObject({ action: "session.started" });
  });
});

describe("the operator's token", () => {
  it("signs in beside the providers, and is in the audit log", async () => {
    const answer = await createPageClient(under.url).signIn("igw_op_for-tests");
    expect(answer.status).toBe(303);
    const [entry] = await readAudit(under.admin, "/api/audit");
    expect(entry).toMatchObject({ action: "session.started", actor: { type: "operator", name: null } });
  });

  it("has no form where `token_sign_in` is off, and works on the API all the same", async () => {
    const other = await under.startHost([corp(rolesIn(under.organization))], { takesTokens: false });
    const pages = createPageClient(other.url);
    const page = await pages.get("/sign-in");
    expect(page.text).toContain("Sign in with corp");
    expect(page.text).not.toContain('name="token"');
    const sent = await pages.post("/sign-in", { token: "igw_op_for-tests" });
    expect(sent.status).toBe(403);
    expect(sent.headers["set-cookie"]?.join(" ") ?? "").not.toContain("igw_session");
    expect((await other.call("GET", "/api/organizations")).status).toBe(200);
    await other.stop();
  });
});
