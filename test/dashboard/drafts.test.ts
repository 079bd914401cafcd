/** What was typed into a form is there again after *Back*, a reload and another page, until it is saved. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { CHROMIUM, expectAccessible, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";

const DISCARD = { name: "Discard" };

describe.skipIf(CHROMIUM === null)(`drafts of forms${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  let admin: AdminUnderTest;
  let page: Page;
  let base = "";
  let key = "";
  const note = () => page.getByLabel("Note", { exact: true });
  const openSettings = () => page.locator("#settings > summary").click();
  beforeAll(async () => {
    admin = await startAdmin();
    const organization = await createOrganization(admin);
    base = `${admin.url}/organizations/${organization}`;
    key = `/keys/${(await createApiKey(admin, organization)).id}`;
    page = await open();
    await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
  }, 120_000);
  afterAll(() => admin.stop());

  it("come back after another page, and can be discarded", async () => {
    await page.goto(base + key);
    await openSettings();
    await note().fill("half a thought");
    await page.goto(`${base}/audit`);
    await page.goBack();
    expect(await note().inputValue()).toBe("half a thought");
    await expectAccessible(page);
    await page.getByRole("button", DISCARD).click();
    expect(await note().inputValue()).toBe("");
    await page.reload();
    expect(await note().inputValue()).toBe("");
    expect(await page.getByRole("button", DISCARD).count()).toBe(0);
  });

  it("come back after a rejected form, by Back and by a reload, which sends nothing again", async () => {
    await page.goto(`${base}/keys/new`);
    await page.getByLabel("Name", { exact: true }).fill("rejected");
    await page.getByLabel("Requests per minute", { exact: true }).fill("many");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("alert").waitFor();
    await page.reload();
    expect(new URL(page.url()).pathname).toMatch(/\/keys\/new$/);
    expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("rejected");
    expect(await page.getByLabel("Requests per minute", { exact: true }).inputValue()).toBe("many");
  });

  it("are gone once saved, and when another person has changed the settings", async () => {
    await page.goto(base + key);
    await openSettings();
    await note().fill("saved");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Applies from the next request.").waitFor();
    await openSettings();
    await note().fill("mine");
    await admin.ok("PATCH", `/api${new URL(base + key).pathname}`, { body: { note: "another's" } });
    await page.goto(`${base}/audit`);
    await page.goto(base + key);
    expect(await note().inputValue()).toBe("another's");
    expect(await page.getByRole("button", DISCARD).count()).toBe(0);
  });
});
