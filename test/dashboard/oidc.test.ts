/** Signing in with an identity provider of another site, in a real browser on the real stack. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { type AdminUnderTest, createOrganization, startAdmin } from "../admin/admin-fixture.ts";
import { findFreePort } from "../support/free-port.ts";
import { type RealProvider, startRealProvider } from "../support/oidc/real-provider.ts";
import { type Stack, START_TIMEOUT_MS, startStack } from "../support/stack.ts";
import { CHROMIUM, expectAccessible, SKIPPED_WHY, withBrowser } from "./browser.ts";

const ACCOUNTS = {
  olga: { groups: ["platform"], name: "Olga Operator" },
  vera: { groups: ["viewers"], name: "Vera Viewer" },
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
            entry("corp", 0, [{ equals: "platform", role: "operator" }, viewer]),
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
    await expectAccessible(page);
    // Opened anew and by a link, the session is there, too.
    await page.goto(`${stack.adminUrl}/`);
    expect(page.url()).toBe(`${stack.adminUrl}/organizations/${organization}`);
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
    await olga.getByText("Ended. Whoever has it must sign in again.").waitFor();
    await vera.reload();
    expect(await heading(vera)).toBe("Sign in");
  });

  it("refuses who has no role, and says whom the provider knows", async () => {
    const page = await open();
    await signIn(page, "nobody");
    await page.getByText("corp knows you as No Body").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Back to the sign-in" }).click();
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
