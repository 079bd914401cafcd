/** What a screen shows of an organization with 300 API keys: the overview, a tablet's tables, a phone's pages. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { type AdminUnderTest, OPERATOR_TOKEN } from "../admin/admin-fixture.ts";
import { firstOnPush } from "../support/extent.ts";
import type { FilledSample } from "../../src/operation/demo/sample/fill.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  signIn,
  SKIPPED_WHY,
  withBrowser,
} from "./browser.ts";
import { startSample } from "./sample.ts";

const KEYS = 300;
const PHONE = { width: 390, height: 844 };
/** Pixels of a phone's page. */
const MOST_ON_PHONE = 4_000;
const MOST_SETTINGS = 3_000;

describe.skipIf(CHROMIUM === null)(`an organization with ${KEYS} API keys on a screen${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  let admin: AdminUnderTest;
  let filled: FilledSample;
  let page: Page;
  let base = "";
  beforeAll(async () => {
    ({ admin, filled } = await startSample(KEYS));
    base = `${admin.url}/organizations/${filled.id}`;
    page = await open();
    await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
  }, 300_000);
  afterAll(() => admin?.stop());

  const heightOf = () => page.evaluate<number>("document.documentElement.scrollHeight");

  it("the overview fits a screen", async () => {
    const screen = { width: 1440, height: 900 };
    await page.setViewportSize(screen);
    await page.goto(base);
    expect(await heightOf()).toBeLessThanOrEqual(screen.height);
  });

  it.each(["keys", "users"])("a tablet shows a row of %s in one line", async (section) => {
    for (const width of firstOnPush([768, 1024])) {
      await page.setViewportSize({ width, height: 1024 });
      await page.goto(`${base}/${section}`);
      expect(await page.locator("table.list thead").isVisible()).toBe(true);
      const heights = await page
        .locator("table.list tbody tr")
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      expect(Math.max(...heights), `at ${width} px`).toBeLessThan(40);
      const scrolls = await page.locator(".scroll").evaluate((box) => box.scrollWidth > box.clientWidth);
      expect(scrolls, `sideways at ${width} px`).toBe(false);
    }
  });

  it("the audit log names the user and group of a key, and unfolds what a long entry has", async () => {
    await page.setViewportSize(PHONE);
    await page.goto(`${base}/audit?target_id=${filled.keyIds[0]}`);
    const row = page.getByRole("row", { name: "API key created" });
    await row.getByText("more").click();
    await row.getByText(/^group: Platform$/).waitFor();
    expect(await row.textContent()).not.toMatch(/(?:user|group)_01/);
    await expectAccessible(page);
  });

  it("an alert's page says once what fired", async () => {
    await page.goto(`${base}/alerts`);
    const alert = page.locator(".alerts li", { hasText: "monthly budget of the organization" }).first();
    await alert.getByRole("link").last().click();
    await page.getByRole("heading", { name: "Alert of the organization" }).waitFor();
    await page.getByText("when it fired").waitFor();
    expect(await page.locator(".alerts li", { hasText: "100 %" }).count()).toBe(0);
    await expectAccessible(page);
  });

  it("a phone's settings fold what is rarely changed, and a link to a field unfolds it", async () => {
    await page.setViewportSize(PHONE);
    await page.goto(`${base}/settings`);
    expect(await heightOf()).toBeLessThanOrEqual(MOST_SETTINGS);
    await expectStillAccessible(page);
    const fields = ["session_cap_cents", "notifications.emails", "key_defaults.limits", "leak"];
    for (const field of firstOnPush(fields)) {
      await page.goto(base);
      await page.goto(`${base}/settings#${field}`);
      await page.locator(`[id="${field}"]`).waitFor({ state: "visible" });
    }
  });

  it("a user's and a group's keys and users stand above the settings", async () => {
    const { userIds, groupIds } = filled;
    for (const [path, owned] of [
      [`/users/${userIds[0]}`, ["API keys"]],
      [`/groups/${groupIds[1]}`, ["Users", "API keys"]],
    ] as const) {
      await page.goto(base + path);
      const headings = await page.getByRole("heading", { level: 2 }).allTextContents();
      expect(headings.filter((one) => [...owned, "Settings"].includes(one))).toEqual([...owned, "Settings"]);
    }
  });

  it("no page of a phone is longer than 4,000 px", async () => {
    await page.setViewportSize(PHONE);
    const { keyIds, userIds, groupIds } = filled;
    const paths = [
      "",
      "/usage",
      "/keys",
      `/keys/${keyIds[1]}`,
      "/users",
      `/users/${userIds[0]}`,
      "/groups",
      `/groups/${groupIds[1]}`,
      "/requests",
      "/models",
      "/alerts",
      "/audit",
    ];
    const long: string[] = [];
    for (const path of paths) {
      await page.goto(base + path);
      const height = await heightOf();
      if (height > MOST_ON_PHONE) long.push(`${path}: ${height}`);
    }
    const { key } = await admin.ok("POST", `/api/organizations/${filled.id}/keys/${keyIds[0]}/rotate`);
    await page.context().clearCookies();
    await signIn(page, { adminUrl: admin.url, adminToken: String(key) });
    for (const path of ["/me", "/me/requests"]) {
      await page.goto(base + path);
      const height = await heightOf();
      if (height > MOST_ON_PHONE) long.push(`${path}: ${height}`);
    }
    expect(long).toEqual([]);
  });
});
