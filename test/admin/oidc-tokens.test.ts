/** What a provider sends that is not what it should be: tokens of other keys, times, people; and answers that are none. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { IdentityProviders } from "../../src/management/admin/identity/identity-providers.ts";
import { findFreePort } from "../support/free-port.ts";
import {
  type Forge,
  type ForgingProvider,
  signWith,
  startForgingProvider,
} from "../support/oidc/forging-provider.ts";
import { startRealProvider } from "../support/oidc/real-provider.ts";
import { signInAtProvider, WebClient } from "../support/oidc/web-client.ts";
import { type AdminUnderTest, createOrganization, startAdmin } from "./admin-fixture.ts";
import { ACCOUNTS, goesTo, readProviders, rolesIn } from "./oidc-fixture.ts";

let first: AdminUnderTest;
let admin: AdminUnderTest;
let url = "";
let organization = "";
let forging: ForgingProvider;
let second: ForgingProvider;
// Each test is in a minute of its own: refusals are counted.
let minutes = 0;
beforeEach(() => {
  minutes += 1;
});
beforeAll(async () => {
  [forging, second] = await Promise.all([startForgingProvider(), startForgingProvider()]);
  first = await startAdmin();
  organization = await createOrganization(first);
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  const entry = { client_id: "dashboard", scopes: ["openid"], roles: rolesIn(organization) };
  const configs = readProviders(url, [
    { ...entry, name: "corp", issuer: forging.issuer },
    { ...entry, name: "second", issuer: second.issuer, groups_claim: "realm_access.roles" },
  ]);
  const nowMs = (): number => Date.now() + minutes * 4_000_000;
  const providers = new IdentityProviders({ configs, baseUrl: url, nowMs });
  admin = await startAdmin({ providers, store: first.store, port, nowMs });
});
afterAll(async () => {
  await admin.stop();
  await first.stop();
  await Promise.all([forging.stop(), second.stop()]);
});

async function signIn(
  forge: Forge | null,
  provider = forging,
  name = "corp",
): Promise<{ status: number; text: string }> {
  const client = new WebClient();
  provider.forge = forge;
  const answer = await client.follow(await client.get(`${url}/sign-in/oidc/${name}`));
  provider.forge = null;
  const hasSession = client.cookie(new URL(url).host, "igw_session") !== undefined;
  expect(hasSession).toBe(answer.status === 200);
  return answer;
}

/** Signed as it should be, with other claims; those that are undefined are left out. */
const claiming =
  (change: (claims: Record<string, unknown>, now: number) => object): Forge =>
  (draft) =>
    signWith({ ...draft, claims: { ...draft.claims, ...change(draft.claims, draft.now) } });

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("an ID token", () => {
  it("as it should be lets its person in", async () => {
    expect((await signIn(null)).status).toBe(200);
  });

  it.each<[string, Forge]>([
    ["signed by a foreign key", (draft) => signWith(draft, draft.foreignKey)],
    ["not signed at all", ({ claims }) => `${encode({ alg: "none" })}.${encode(claims)}.`],
    [
      "whose claims were changed",
      async (draft) => {
        const [head, , signature] = (await signWith(draft)).split(".");
        return `${head}.${encode({ ...draft.claims, groups: ["platform"] })}.${signature}`;
      },
    ],
    ["with another nonce", claiming(() => ({ nonce: "forged" }))],
    ["without a nonce", claiming(() => ({ nonce: undefined }))],
    ["of another client", claiming(() => ({ aud: "other" }))],
    ["of two clients, for another", claiming(() => ({ aud: ["dashboard", "other"], azp: "other" }))],
    ["of another issuer", claiming(() => ({ iss: "https://evil.example" }))],
    ["of another provider of the same gateway", claiming(() => ({ iss: second.issuer }))],
    ["without a subject", claiming(() => ({ sub: undefined }))],
    ["with a subject that is none", claiming(() => ({ sub: "a\nb" }))],
    ["with an endless subject", claiming(() => ({ sub: "a".repeat(256) }))],
    ["without an end", claiming(() => ({ exp: undefined }))],
    ["that is no token", () => "nonsense"],
    [
      "with a list of groups that has no end",
      claiming(() => ({ groups: Array.from({ length: 1001 }, String) })),
    ],
  ])("%s lets nobody in", async (_, forge) => {
    const answer = await signIn(forge);
    expect(answer.status).toBe(403);
    expect(answer.text).not.toMatch(/eyJ|forged|evil/u);
  });

  it.each<[string, Forge]>([
    ["over for a minute", claiming((_, now) => ({ iat: now - 360, exp: now - 60 }))],
    ["made in a minute", claiming((_, now) => ({ iat: now + 60, exp: now + 360, nbf: now + 60 }))],
  ])("that is %s lets its person in: clocks are off", async (_, forge) => {
    expect((await signIn(forge)).status).toBe(200);
  });

  it.each<[string, Forge]>([
    ["over for two minutes", claiming((_, now) => ({ iat: now - 420, exp: now - 120 }))],
    ["valid in two minutes", claiming((_, now) => ({ iat: now, exp: now + 360, nbf: now + 120 }))],
  ])("that is %s lets nobody in, who is told of the clocks", async (_, forge) => {
    const answer = await signIn(forge);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("or of this gateway is wrong");
  });

  it.each<[string, object, number]>([
    ["a list", { groups: ["x", "viewers"] }, 200],
    ["one text", { groups: "viewers" }, 200],
    ["a list of what is no text", { groups: [{ name: "viewers" }, 1, null, ["viewers"]] }, 403],
    ["a text that has it within", { groups: "viewers,admins" }, 403],
    ["another case", { groups: ["Viewers"] }, 403],
    ["none", { groups: undefined }, 403],
    ["a name of the prototype", { groups: undefined, constructor: "viewers" }, 403],
  ])("has its groups as %s", async (_, claims, status) => {
    expect((await signIn(claiming(() => claims))).status).toBe(status);
  });

  it.each<[string, object, number]>([
    ["by a path", { realm_access: { roles: ["viewers"] } }, 200],
    ["by a name with a dot", { "realm_access.roles": ["viewers"] }, 200],
    ["not elsewhere", { roles: ["viewers"], groups: ["viewers"] }, 403],
  ])("has its groups %s where the configuration says so", async (_, claims, status) => {
    const forge = claiming(() => ({ groups: undefined, ...claims }));
    expect((await signIn(forge, second, "second")).status).toBe(status);
  });
});

describe("two providers", () => {
  it("are each sent back to an address of their own, which the other's answers do not fit", async () => {
    const client = new WebClient();
    const begun = await client.get(`${url}/sign-in/oidc/corp`);
    const back = await client.get(begun.headers.location ?? "");
    const callback = back.headers.location ?? "";
    expect(callback).toContain("/sign-in/oidc/corp/callback?");
    const answer = await client.get(callback.replace("/corp/", "/second/"));
    expect(answer.status).toBe(403);
    expect(client.cookie(new URL(url).host, "igw_session")).toBeUndefined();
  });

  it("are both on the sign-in page, as links", async () => {
    const { text } = await new WebClient().get(`${url}/sign-in?next=/organizations`);
    for (const name of ["corp", "second"]) {
      expect(text).toContain(`href="/sign-in/oidc/${name}?next=%2Forganizations"`);
    }
  });
});

describe("a provider that answers nonsense", () => {
  it.each<[string, (provider: ForgingProvider) => void, number]>([
    ["HTML in place of tokens", (one) => (one.answerToken = (response) => response.end("<html>")), 403],
    [
      "500 in place of tokens",
      (one) => (one.answerToken = (response) => void response.writeHead(500).end()),
      503,
    ],
    [
      "a refusal in place of tokens",
      (one) => {
        one.answerToken = (response) => {
          response.writeHead(400, { "content-type": "application/json" });
          response.end('{"error":"invalid_grant"}');
        };
      },
      403,
    ],
    [
      "two megabytes in place of tokens",
      (one) => {
        one.answerToken = (response) => {
          response.writeHead(200, { "content-type": "application/json" });
          response.end(JSON.stringify({ access_token: "x".repeat(2_000_000), token_type: "Bearer" }));
        };
      },
      503,
    ],
    ["no tokens and no end", (one) => (one.answerToken = (response) => void response.socket?.destroy()), 503],
    [
      "HTML in place of discovery",
      (one) => (one.answerDiscovery = (response) => response.end("<html>")),
      503,
    ],
    [
      "a redirect in place of discovery",
      (one) => {
        one.answerDiscovery = (response) =>
          void response.writeHead(302, { location: "https://evil.example" }).end();
      },
      503,
    ],
    ["another issuer's discovery", (one) => (one.discovery = { issuer: "https://evil.example" }), 503],
    ["no keys", (one) => (one.discovery = { jwks_uri: `${one.issuer}/nothing` }), 503],
    ["keys in the clear of elsewhere", (one) => (one.discovery = { jwks_uri: undefined }), 403],
  ])("%s lets nobody in and says so", async (_, spoil, status) => {
    spoil(forging);
    try {
      const answer = await signIn(null);
      expect(answer.status).toBe(status);
      expect(answer.text).toContain("Not signed in");
    } finally {
      Object.assign(forging, { answerToken: null, answerDiscovery: null, discovery: {} });
    }
    minutes += 1;
    expect((await signIn(null)).status).toBe(200);
  });

  it("is not waited for longer than five seconds", async () => {
    const held: (() => void)[] = [];
    forging.answerToken = (response) => void held.push(() => response.destroy());
    expect((await signIn(null)).status).toBe(503);
    forging.answerToken = null;
    for (const end of held) end();
  });
});

describe("refusals", () => {
  const callback = (): string => `${url}/sign-in/oidc/corp/callback?code=x&state=y`;

  it("of callbacks that no browser began do not count, so strangers behind a proxy close it for nobody", async () => {
    for (let count = 0; count < 61; count += 1) {
      expect((await new WebClient().get(callback())).status).toBe(403);
    }
    expect((await new WebClient().get(`${url}/sign-in/oidc/corp`)).status).toBe(302);
  });

  it("are so many in a minute from one address, and then nobody there is listened to", async () => {
    const client = new WebClient();
    for (let count = 0; count < 60; count += 1) {
      expect((await client.get(`${url}/sign-in/oidc/corp`)).status).toBe(302);
      expect((await client.get(callback())).status).toBe(403);
    }
    const answer = await new WebClient().get(`${url}/sign-in/oidc/corp`);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
  });
});

describe("a real provider", () => {
  it.each([
    ["a public client", { secret: null }],
    ["a secret in the form", { authMethod: "client_secret_post" as const }],
    ["ES256", { signingAlgorithm: "ES256" as const }],
    ["groups in the ID token", { groupsInIdToken: true }],
    ["no sign-out of its own", { canSignOut: false }],
  ])("with %s signs people in", async (_, options) => {
    const port = await findFreePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const provider = await startRealProvider({ baseUrl, name: "corp", accounts: ACCOUNTS, ...options });
    const secret = "secret" in options ? {} : { client_secret: { env: "SECRET" } };
    const configs = readProviders(baseUrl, [
      {
        name: "corp",
        issuer: `${provider.issuer}/`,
        client_id: provider.clientId,
        ...secret,
        scopes: ["openid", "groups"],
        roles: rolesIn(organization),
      },
    ]);
    const providers = new IdentityProviders({ configs, baseUrl, nowMs: Date.now });
    const own = await startAdmin({ providers, store: first.store, port });
    const client = new WebClient();
    const start = `${baseUrl}/sign-in/oidc/corp`;
    const callback = await signInAtProvider(client, start, { login: "vera", dashboard: baseUrl });
    expect(goesTo(await client.get(callback))).toBe("/");
    const page = await client.get(`${baseUrl}/organizations/${organization}`);
    expect(page.status).toBe(200);
    await own.stop();
    await provider.stop();
  });
});
