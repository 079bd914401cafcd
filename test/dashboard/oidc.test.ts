/** Signing in with an identity provider of another site, in a real browser on the real stack. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { type AdminUnderTest, createOrganization, startAdmin } from "../admin/admin-fixture.ts";
import { findFreePort } from "../support/free-port.ts";
import { newKeySettings } from "../../src/shared/settings/new-key.ts";
import { ORGANIZATION_SETTINGS } from "../../src/shared/settings/organization.ts";
import { defaultsOf } from "../../src/shared/settings/table.ts";
import { USER_SETTINGS } from "../../src/shared/settings/user.ts";
import { type RealProvider, startRealProvider } from "../support/oidc/real-provider.ts";
import { type Stack, START_TIMEOUT_MS, startStack } from "../support/stack.ts";
import { CHROMIUM, expectAccessible, expectStillAccessible, SKIPPED_WHY, withBrowser } from "./browser.ts";

const ACCOUNTS = {
  olga: { groups: ["platform"], name: "Olga Operator" },
  vera: { groups: ["viewers"], name: "Vera Viewer" },
  mia: { groups: ["members"], name: "Mia Member" },
  nobody: { groups: [], name: "No Body" },
};

describe.skipIf(CHROMIUM === null)(`sign-in with identity providers${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  const providers: RealProvider[] = [];
  let stack: Stack;
  let first: AdminUnderTest;
  let organization = "";
  beforeAll(async () => {
    const port = await findFreePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    for (const name of ["corp", "partner"]) {
      providers.push(await startRealProvider({ baseUrl, name, accounts: ACCOUNTS }));
    }
    const upstreams = [{ name: "local", url: "http://127.0.0.1:9", path_prefix: "/v1" }];
    // Roles name an organization that is there before `gateway.yaml` is written.
    first = await startAdmin();
    organization = await createOrganization(first);
    const entry = (name: string, place: number, roles: object[]) => ({
      name,
      issuer: providers[place]?.issuer,
      client_id: "dashboard",
      client_secret: { env: "CORP_SECRET" },
      scopes: ["openid", "profile", "groups"],
      roles,
    });
    const member = { equals: "members", role: "member", organization };
    const viewer = { equals: "viewers", role: "viewer", organization };
    stack = await startStack({
      upstreams,
      env: { CORP_SECRET: "s3cret" },
      overrides: {
        admin: { port },
        redis: { url: first.redis.url },
        dashboard: {
          base_url: baseUrl,
          oidc: [
            entry("corp", 0, [{ equals: "platform", role: "operator" }, viewer, member]),
            entry("partner", 1, [viewer]),
          ],
        },
      },
    });
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await stack?.stop();
    await first?.stop();
    for (const provider of providers) await provider.stop();
  }, 60_000);

  async function signIn(page: Page, login: string, provider = "corp", path = "/sign-in"): Promise<void> {
    await page.goto(stack.adminUrl + path);
    await page.getByRole("link", { name: `Sign in with ${provider}` }).click();
    await page.getByPlaceholder("Enter any login").fill(login);
    await page.getByPlaceholder("and password").fill("any");
    await page.getByRole("button", { name: "Sign-in" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
  }

  const heading = (page: Page) => page.getByRole("heading", { level: 1 }).innerText();

  it("leads from the page that was asked for to the provider and back to it, with the role of the group", async () => {
    const page = await open();
    await signIn(page, "vera", "corp", `/organizations/${organization}/usage`);
    await page.waitForURL(`${stack.adminUrl}/organizations/${organization}/usage`);
    expect(await page.getByText("Vera Viewer (viewer)").isVisible()).toBe(true);
    await expectStillAccessible(page);
    // Opened anew and by a link, the session is there, too.
    await page.goto(`${stack.adminUrl}/`);
    expect(page.url()).toBe(`${stack.adminUrl}/organizations/${organization}`);
  });

  it("shows a member its own keys, which it makes, rotates, disables and deletes there, and nothing else", async () => {
    const external = { issuer: providers[0]?.issuer ?? "", subject: "mia" };
    const settings = { ...defaultsOf(USER_SETTINGS), name: "Mia Member" };
    const made = await first.store.findOrCreateExternalUser(organization, external, settings);
    const userId = "user" in made ? made.user.id : "";
    const { keyDefaults } = defaultsOf(ORGANIZATION_SETTINGS);
    const ofTokens = { ...newKeySettings("jwt:corp", keyDefaults), userId };
    await first.store.findOrCreateProviderKey(organization, "corp", ofTokens);
    const page = await open();
    await signIn(page, "mia");
    await page.waitForURL(`${stack.adminUrl}/organizations/${organization}/me`);
    expect(await heading(page)).toBe("Your keys");
    await expectAccessible(page);
    // What its tokens go by stands there, and has no secret.
    await page.getByRole("button", { name: "Disable jwt:corp" }).waitFor();
    expect(await page.getByRole("button", { name: "Rotate jwt:corp" }).count()).toBe(0);
    await page.getByText("Create an API key", { exact: true }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("laptop");
    await page.getByLabel("Limits, row 1: amount").fill("5.00");
    await page.getByRole("button", { name: "Create the key" }).click();
    const secret = await page.getByLabel('API key "laptop"').inputValue();
    expect(secret).toMatch(/^sk-igw-/u);
    expect(await page.locator("#curl").textContent()).toContain(`Bearer ${secret}`);
    await expectAccessible(page);
    const use = () => stack.send({ path: "/v1/models", key: secret }).then(({ status }) => status);
    expect(await use()).toBe(200);
    const act = async (action: string) => {
      await page.goto(`${stack.adminUrl}/organizations/${organization}/me`);
      await page.getByRole("button", { name: `${action} laptop` }).click();
      await page.getByRole("dialog").getByRole("button", { name: action }).click();
    };
    await act("Rotate");
    const renewed = await page.getByLabel('API key "laptop"').inputValue();
    expect([await use(), renewed === secret]).toEqual([401, false]);
    expect((await stack.send({ path: "/v1/models", key: renewed })).status).toBe(200);
    await act("Disable");
    await page.getByText("disabled", { exact: false }).first().waitFor();
    expect((await stack.send({ path: "/v1/models", key: renewed })).status).toBe(403);
    await act("Delete");
    await expect.poll(() => page.getByRole("button", { name: "Delete laptop" }).count()).toBe(0);
    expect((await stack.send({ path: "/v1/models", key: renewed })).status).toBe(401);
    await page.goto(`${stack.adminUrl}/organizations/${organization}/keys`);
    expect(await heading(page)).toBe("Not allowed");
    // Where the link of a 402 leads.
    await page.goto(`${stack.adminUrl}/organizations/${organization}/settings#limits`);
    await page.waitForURL(/\/me#limits$/);
    expect(await heading(page)).toBe("Your keys");
  });

  it("lists who is signed in for the operator, who ends it there", async () => {
    const vera = await open();
    await signIn(vera, "vera");
    await vera.getByText("Vera Viewer (viewer)").waitFor();
    const olga = await open();
    await signIn(olga, "olga");
    await olga.getByText("Olga Operator (operator)").waitFor();
    await olga.goto(`${stack.adminUrl}/organizations/${organization}/sessions`);
    await expectAccessible(olga);
    await olga.getByRole("button", { name: "End a session of Vera Viewer" }).first().click();
    await olga.getByRole("dialog").getByRole("button", { name: "End" }).click();
    await olga.getByText("Ended. Its user must sign in again.").waitFor();
    await vera.reload();
    expect(await heading(vera)).toBe("Sign in");
  });

  it("refuses who has no role, and says whom the provider knows", async () => {
    const page = await open();
    await signIn(page, "nobody");
    await page.getByText("corp knows you as No Body").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Back to sign-in" }).click();
    expect(await heading(page)).toBe("Sign in");
  });

  it("with the other provider is another person, and each browser its own", async () => {
    const page = await open();
    await signIn(page, "vera", "partner");
    await page.getByText("Vera Viewer (viewer)").waitFor();
    const { data } = await stack.admin("GET", `/api/organizations/${organization}/sessions`);
    const [newest] = data as { provider: string; issuer: string }[];
    expect(newest).toMatchObject({ provider: "partner", issuer: providers[1]?.issuer });
  });

  it("signs out at the provider as well, which brings back to the sign-in", async () => {
    const page = await open();
    await signIn(page, "vera");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${providers[0]?.issuer}/session/end*`);
    await page.getByRole("button", { name: /yes/iu }).click();
    await page.waitForURL(`${stack.adminUrl}/sign-in*`);
    expect(await heading(page)).toBe("Sign in");
    await page.goto(`${stack.adminUrl}/organizations/${organization}`);
    expect(await heading(page)).toBe("Sign in");
  });

  it("says so while the provider is away; the operator's token works meanwhile", async () => {
    const page = await open();
    await page.goto(`${stack.adminUrl}/sign-in`);
    await providers[1]?.leave();
    try {
      await page.getByLabel("Token").fill(stack.adminToken);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("button", { name: "Sign out" }).waitFor();
      expect(await heading(page)).toBe("Organizations");
    } finally {
      await providers[1]?.comeBack();
    }
  });
});
