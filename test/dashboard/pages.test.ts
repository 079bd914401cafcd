import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { formatFrontPage, formatFrontPagePolicy } from "../../src/envoy/bootstrap/front-page.ts";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { byExtent, firstOnPush } from "../support/extent.ts";
import type { Stack } from "../support/stack.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  expectNoSidewaysScroll,
  signIn,
  SKIPPED_WHY,
  withBrowser,
} from "./browser.ts";
import { fillOrganization, type FilledOrganization } from "./filled-organization.ts";

const PHONE = { width: 390, height: 844 };
/** Set it to look at every page. */
const SHOTS = process.env["IGW_SCREENSHOTS"];

describe.skipIf(CHROMIUM === null)(`every page of the dashboard${SKIPPED_WHY}`, () => {
  const chat = withSharedChatStack();
  const getStack = (): Stack => chat.stack;
  const open = withBrowser();
  let filled: FilledOrganization;
  let empty = "";
  const pages: { light?: Page; dark?: Page } = {};
  beforeAll(async () => {
    const stack = getStack();
    filled = await fillOrganization(stack);
    empty = String(
      (await stack.admin("POST", "/api/organizations", { name: "Empty", currency: "EUR" }))["id"],
    );
    pages.light = await open();
    await signIn(pages.light, stack);
    if (!byExtent({ push: false, nightly: true })) return;
    pages.dark = await open({ colorScheme: "dark", viewport: PHONE });
    await signIn(pages.dark, stack);
  });

  // Each push has these pages on a phone in the dark, filled and empty, in pictures.test.ts, and many in the light in
  // the tests of what is done there: here the others.
  const PATHS = [
    "/tokens",
    "/models",
    "/try",
    ...byExtent({
      push: [],
      nightly: [
        "",
        "/keys",
        "/keys/new",
        "/users",
        "/groups",
        "/settings",
        "/usage",
        "/requests",
        "/alerts",
        "/audit",
      ],
    }),
  ];
  const CASES = [
    { name: "organizations", path: () => "/organizations" },
    { name: "system", path: () => "/system" },
    { name: "groups", path: () => `/organizations/${filled.id}/groups` },
    { name: "group", path: () => `/organizations/${filled.id}/groups/${filled.groupId}` },
    ...byExtent({
      push: [],
      nightly: [
        { name: "keys-new", path: () => `/organizations/${filled.id}/keys/new` },
        { name: "key", path: () => `/organizations/${filled.id}/keys/${filled.keyId}` },
        { name: "users", path: () => `/organizations/${filled.id}/users` },
        { name: "user", path: () => `/organizations/${filled.id}/users/${filled.userId}` },
      ],
    }),
    ...PATHS.map((path) => ({
      name: `empty${path.replaceAll("/", "-")}`,
      path: () => `/organizations/${empty}${path}`,
    })),
  ];

  it.each(CASES)(
    "$name is accessible, light and at night on a phone in the dark, and as wide as its screen",
    async ({ name, path }) => {
      for (const [scheme, page] of firstOnPush(Object.entries(pages))) {
        const answer = await page.goto(getStack().adminUrl + path());
        expect(answer?.status()).toBe(200);
        if (SHOTS !== undefined) {
          mkdirSync(SHOTS, { recursive: true });
          await page.screenshot({ path: join(SHOTS, `${name}-${scheme}.png`), fullPage: true });
        }
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      }
    },
  );

  it("what a page has wrong is found: a picture without words, text that nobody can read", async () => {
    const page = await open();
    await page.setContent(
      '<html lang="en"><title>A page</title><main><h1>A page</h1><img src="a.png"><p style="color: #eee">pale</p></main>',
    );
    const found = await expectAccessible(page).catch((thrown: unknown) => thrown);
    expect(found).toMatchObject({
      actual: [expect.stringMatching(/^color-contrast: /), expect.stringMatching(/^image-alt: /)],
    });
  });

  it("the sign-in page is accessible", async () => {
    const page = await open();
    const answer = await page.goto(`${getStack().adminUrl}/sign-in`);
    expect(answer?.status()).toBe(200);
    await expectAccessible(page);
    if (SHOTS !== undefined) await page.screenshot({ path: join(SHOTS, "sign-in.png") });
  });

  it("the status of the models is shown in the gateway's page, without scripts and without a sign-in", async () => {
    const page = await open({ javaScriptEnabled: false });
    const front = { documentation: "/", dashboard: getStack().adminUrl };
    const headers = {
      "content-type": "text/html",
      "content-security-policy": formatFrontPagePolicy(front),
    };
    const gateway = createServer((_request, response) =>
      response.writeHead(200, headers).end(formatFrontPage(front)),
    ).listen(0, "127.0.0.1");
    onTestFinished(() => void gateway.close());
    await once(gateway, "listening");
    await page.goto(`http://127.0.0.1:${(gateway.address() as AddressInfo).port}`);
    const frame = page.frameLocator("iframe");
    // Unknown until the gateway has read its metrics.
    const read = async () => {
      await page.reload();
      return frame.getByRole("main").textContent();
    };
    await expect.poll(read, { timeout: 90_000, interval: 1_000 }).toContain("No model is failing.");
    expect(await frame.getByRole("link", { name: "Sign in" }).getAttribute("target")).toBe("_top");
    const alone = await open();
    await alone.goto(`${getStack().adminUrl}/status`);
    await expectAccessible(alone);
  });

  it("a request's page says which check refused it", async () => {
    const page = pages.light!;
    await page.goto(`${getStack().adminUrl}/organizations/${filled.id}/requests`);
    const row = page.getByRole("row", { name: "402 hard_cap_reached" });
    expect(await row.locator("td[data-label=cost]").textContent()).toBe("none");
    await row.getByRole("link").first().click();
    await page
      .getByText(/Blocked\. Monthly hard cap of 0\.01 USD for this API key reached: [\d.]+ USD spent in/)
      .waitFor();
    const change = page.getByRole("link", { name: "Change this cap" });
    expect(await change.getAttribute("href")).toMatch(/\/keys\/key_[^/]+#limits$/);
    expect(await page.getByRole("listitem").filter({ hasText: "rejected here" }).textContent()).toContain(
      "key hard cap",
    );
    await expectAccessible(page);
  });

  it("the usage comes as CSV", async () => {
    const page = pages.light!;
    await page.goto(`${getStack().adminUrl}/organizations/${filled.id}/usage`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByText("Download CSV").click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^usage-org_.*\.csv$/);
  });

  it("the usage is exported for finance tools, in the month that is shown", async () => {
    const page = pages.light!;
    await page.goto(`${getStack().adminUrl}/organizations/${filled.id}/usage`);
    await page.getByLabel("Format").selectOption("focus");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^usage-org_.*\d{4}-\d{2}\.focus\.csv$/);
    const file = readFileSync(await download.path(), "utf8");
    expect(file).toMatch(/^BilledCost,BillingAccountId,/);
    await expectStillAccessible(page);
  });

  it("every page of the navigation is there, and the snippets carry the base URL", async () => {
    const page = pages.light!;
    await page.goto(`${getStack().adminUrl}/organizations/${filled.id}`);
    const names = await page.getByRole("navigation").getByRole("link").allTextContents();
    expect(names.map((name) => name.replace(/\d.*/, ""))).toEqual([
      "Overview",
      "Usage",
      "Alerts",
      "API keys",
      "Users",
      "Groups",
      "Tokens",
      "Sessions",
      "Requests",
      "Models",
      "Try it",
      "Inference settings",
      "Audit log",
      "Organizations",
      "Spend by organization",
      "System",
    ]);
    await page.getByRole("link", { name: "Try it", exact: true }).click();
    expect(await page.locator("#curl").textContent()).toContain(
      `curl ${getStack().baseUrl}/v1/chat/completions`,
    );
  });
});
