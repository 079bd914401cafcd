/** Pages about one thing, and the pages of an organization with 300 keys. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { chargeInput, createIdentity, FINAL } from "../store/fixture.ts";
import { addTestKey } from "../support/test-key.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  expectNoSidewaysScroll,
  openSettings,
  signIn,
  SKIPPED_WHY,
  withBrowser,
} from "./browser.ts";

const KEYS = 300;
const AT_ONCE = 50;

describe.skipIf(CHROMIUM === null)(`pages about one thing${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  let admin: AdminUnderTest;
  let page: Page;
  let base = "";
  let api = "";
  let key = "";
  const heightOf = (of: Page) => of.evaluate<number>("document.documentElement.scrollHeight");
  const spend = (keyId: string, cents: number) =>
    admin.ok("POST", `${api}/spend-corrections`, {
      body: { key_id: keyId, amount_cents: cents, reason: "test" },
    });

  beforeAll(async () => {
    admin = await startAdmin();
    const organization = await createOrganization(admin, { name: "Many" });
    base = `${admin.url}/organizations/${organization}`;
    api = `/api/organizations/${organization}`;
    key = (await createApiKey(admin, organization, { name: "ci", hard_cap_cents: 5_000 })).id;
    const identity = await createIdentity(admin.store, {
      organizationId: organization,
      keyId: key,
      hash: "",
    });
    await admin.store.charge(chargeInput(identity, 1, 25_000_000n, { final: FINAL }));
    for (let made = 1; made < KEYS; made += AT_ONCE) {
      const names = Array.from(
        { length: Math.min(AT_ONCE, KEYS - made) },
        (_, index) => `service-${made + index}`,
      );
      await Promise.all(names.map((name) => addTestKey(admin.store, organization, { name })));
    }
    page = await open({ viewport: { width: 1440, height: 900 } });
    await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
  }, 120_000);
  afterAll(() => admin.stop());

  it("a key's begins with its use; its settings are folded, and a link to a field unfolds them", async () => {
    await page.goto(`${base}/keys/${key}`);
    const headings = await page.getByRole("heading", { level: 2 }).allTextContents();
    expect(headings.slice(0, 4)).toEqual([
      "Use in the last 30 days",
      "Health",
      "Last requests",
      "Spend against limits",
    ]);
    expect(headings).toContain("Who changed what");
    await page.getByRole("group", { name: /Cost day by day, by model/ }).waitFor();
    expect(await page.getByLabel("Note").isVisible()).toBe(false);
    await expectAccessible(page);
    await openSettings(page);
    await page.getByLabel("Note").fill("for builds");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("region", { name: "Changes" }).getByText("note: none → for builds").waitFor();
    await page.goto(`${base}/keys/${key}#limits`);
    await page.getByLabel("Limits, row 1: amount").waitFor();
    expect(await page.getByLabel("Limits, row 1: amount").inputValue()).toBe("50.00");
    await page.getByLabel("Limits, row 1: amount").fill("1012.50");
    expect(await page.locator("output[for=limits-0]").textContent()).toBe("= 1,012.50 USD");
    await page.getByRole("link", { name: "Increase for a time" }).click();
    expect(await page.getByLabel("Raise the").inputValue()).toBe("month");
  });

  it("leads from a key to its requests and changes, and from there back to the key", async () => {
    await page.goto(`${base}/keys/${key}`);
    await page.getByRole("link", { name: "All changes" }).click();
    await page.getByText("Only changes of").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "ci" }).first().click();
    await page.getByRole("link", { name: "Server errors" }).click();
    expect(new URL(page.url()).search).toBe(`?key_id=${key}&status=5xx`);
  });

  it("are there for a model, a tag, a session and an upstream", async () => {
    for (const [query, title] of [
      ["model=acme%2Fecho-small", "Model acme/echo-small"],
      ["tag=team%3Dsearch", "Tag team=search"],
      ["session=abc", "Session abc"],
      ["upstream=local", "Upstream local"],
    ]) {
      await page.goto(`${base}/use?${query}`);
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(title);
      await page.getByRole("heading", { name: "Last requests" }).waitFor();
      await page.getByRole("heading", { name: "Use in the last 30 days" }).waitFor();
      await (title?.startsWith("Model") ? expectAccessible : expectStillAccessible)(page);
    }
    const answer = await page.goto(`${base}/use?tag=team`);
    expect(answer?.status()).toBe(400);
  });

  it("the overview of 300 keys is one screen, with the causes of what needs attention", async () => {
    const { data } = await admin.ok("GET", `${api}/keys?limit=20`);
    const limits = ["cap", "cap", "budget", "budget"].map((kind) => [{ period: "day", kind, cents: 100 }]);
    for (const [index, { id }] of (data as { id: string }[]).slice(1).entries()) {
      const own = limits[index];
      if (own !== undefined) await admin.ok("PATCH", `${api}/keys/${id}`, { body: { limits: own } });
      await spend(id, 200 + index);
    }
    await admin.ok("PATCH", api, { body: { limits: [{ period: "month", kind: "budget", cents: 100 }] } });
    await page.goto(base);
    await page.getByText("2 API keys have reached a cap.").waitFor();
    await page.getByText(`All ${KEYS} API keys`).waitFor();
    expect(
      await page.getByRole("region", { name: "Needs attention" }).locator(":scope > ul > li").count(),
    ).toBe(3);
    expect(await heightOf(page)).toBeLessThanOrEqual(900);
    await expectStillAccessible(page);
  });

  it("a phone's list of keys has the tightest limit, on at most 4,000 px", async () => {
    const phone = await open({ viewport: { width: 390, height: 844 } });
    await signIn(phone, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
    await phone.goto(`${base}/keys?sort=-limit`);
    const row = phone.getByRole("row").filter({ hasText: "daily cap" }).first();
    await row.getByText(/^2\.\d\d of 1\.00$/).waitFor();
    await row.getByText("cap reached").waitFor();
    await expectNoSidewaysScroll(phone);
    expect(await heightOf(phone)).toBeLessThanOrEqual(4_000);
    await expectStillAccessible(phone);
  });

  it("the list of keys is filtered by owner, state and tightest limit", async () => {
    const make = async (kind: string, body: object) =>
      String((await admin.ok("POST", `${api}/${kind}`, { body }))["id"]);
    const cap = { limits: [{ period: "month", kind: "cap", cents: 100 }] };
    const group = await make("groups", { name: "Research" });
    const user = await make("users", { name: "Ann Smith", group_id: group });
    await spend(await make("keys", { name: "ann-laptop", user_id: user, ...cap }), 150);
    await spend(await make("keys", { name: "ann-server", user_id: user, ...cap }), 95);
    await make("keys", { name: "ann-unused", user_id: user, disabled: true });
    await make("keys", { name: "research-batch", group_id: group });
    const builds = await make("groups", { name: "Builds" });
    for (let made = 0; made < 21; made += 1) await make("keys", { name: `build-${made}`, group_id: builds });
    await page.goto(`${base}/keys?sort=name`);
    const list = (filters: Readonly<Record<string, string>>) => filterKeys(page, filters);
    expect(await list({ User: "Ann Smith" })).toEqual(["ann-laptop", "ann-server", "ann-unused"]);
    expect(await page.getByLabel("User", { exact: true }).inputValue()).toBe("Ann Smith");
    expect(await list({ State: "disabled" })).toEqual(["ann-unused"]);
    expect(await list({ State: "all", "Tightest limit": "reached" })).toEqual(["ann-laptop"]);
    expect(await list({ "Tightest limit": "nearly reached" })).toEqual(["ann-server"]);
    await expectAccessible(page);
    expect(await list({ "Tightest limit": "no limit", User: "", Group: "Research" })).toEqual([
      "ann-unused",
      "research-batch",
    ]);
    expect(await list({ Group: "Nowhere" })).toEqual([]);
    await page.getByRole("alert").getByText("Group: unknown group").waitFor();
    // A group's page has the first of its keys, and leads to all.
    await page.goto(`${base}/groups/${builds}`);
    expect(await page.getByRole("region", { name: "Its keys" }).getByRole("rowheader").count()).toBe(20);
    await page.getByRole("link", { name: "All API keys that count for it" }).click();
    await page.getByText("21 API keys").waitFor();
  });
});

/** Sets filters of the list of keys, a choice by its words. Returns the names that are left. */
async function filterKeys(page: Page, filters: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const form = page.getByRole("search", { name: "Filter API keys" });
  for (const [label, value] of Object.entries(filters)) {
    const field = form.getByLabel(label, { exact: true });
    if (label === "User" || label === "Group") await field.fill(value);
    else await field.selectOption(value);
  }
  await form.getByRole("button", { name: "Search" }).click();
  await page.waitForURL(/[?&]search=/);
  return page.getByRole("rowheader").allTextContents();
}
