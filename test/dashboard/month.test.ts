import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AdminUnderTest, OPERATOR_TOKEN, startAdmin } from "../admin/admin-fixture.ts";
import { CHROMIUM, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";
import { fillMonth, type FilledMonth } from "./filled-month.ts";

const SCREEN = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(CHROMIUM === null)(`the dashboard with a month of 900,000 requests${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  let admin: AdminUnderTest;
  let filled: FilledMonth;
  let base = "";
  let page: Page;
  const pages: { device: string; page: Page }[] = [];
  beforeAll(async () => {
    admin = await startAdmin();
    filled = await fillMonth(admin, await admin.store.timeMs());
    base = `${admin.url}/organizations/${filled.id}`;
    for (const [device, viewport] of Object.entries({ desktop: SCREEN, phone: PHONE })) {
      const opened = await open({ viewport });
      await signIn(opened, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
      pages.push({ device, page: opened });
    }
    page = pages[0]!.page;
  }, 120_000);
  afterAll(() => admin.stop());

  it("the overview says first what needs somebody, each with its link", async () => {
    await page.goto(base);
    const attention = page.getByRole("region", { name: "Needs attention" }).getByRole("listitem");
    const texts = await attention.allTextContents();
    const levels = await attention.evaluateAll((items) =>
      items.map((item) => (item.classList.contains("bad") ? "bad" : "warn")),
    );
    expect(levels).toContain("bad");
    expect(levels).toEqual(levels.toSorted());
    expect(texts.join("\n")).toMatch(
      /Monthly budget of [\d,.]+ USD for API key "support-assistant" reached: [\d,.]+ USD spent in \w+ \d{4}\./,
    );
    await attention.filter({ hasText: "support-assistant" }).getByRole("link").click();
    await page.waitForURL(/\/keys\/key_[^/]+#limits$/);
    await page.goto(`${base}/keys`);
    expect(await page.getByRole("row", { name: /support-assistant/ }).textContent()).toContain("over budget");
    const ci = page.getByRole("link", { name: "ci", exact: true });
    expect(await page.getByRole("row").filter({ has: ci }).textContent()).toContain("cap reached");
  });

  it("charts show their values on focus, and the table beneath adds up to the same", async () => {
    await page.goto(`${base}/usage`);
    const chart = page.getByRole("group", { name: "Cost by key" });
    const spots = chart.getByRole("img");
    await spots.first().focus();
    const said = (await spots.first().getAttribute("aria-label")) ?? "";
    expect(said).toMatch(/^\d{4}-\d{2}-01, [\d,.]+ USD, [a-z -]+: [\d,.]+ USD/);
    expect(await chart.locator(".spot:focus .tip").isVisible()).toBe(true);
    await page.keyboard.press("ArrowRight");
    expect(await chart.locator(".spot:focus").getAttribute("aria-label")).toMatch(/^\d{4}-\d{2}-02, /);
    const costOf = async (id: string): Promise<string | null> =>
      page.locator(`section[aria-labelledby="${id}"] tr.total td`).last().textContent();
    expect(await costOf("by-key")).toBe(await costOf("by-day"));
    const shares = await page.locator('section[aria-labelledby="by-key"] .share .number').allTextContents();
    const sum = shares.reduce((total, share) => total + Number(share.replace(/\D/g, "")), 0);
    expect(sum).toBeGreaterThan(95);
    expect(sum).toBeLessThan(105);
  });

  it("a deleted key keeps its name, and the CSV has it beside its id, for what is filtered", async () => {
    const old = "the old mobile app, which is switched off in spring";
    await page.goto(`${base}/usage`);
    await page.getByRole("rowheader", { name: old }).waitFor();
    await page.getByLabel("Key", { exact: true }).selectOption({ label: old });
    await page.getByLabel("Model", { exact: true }).selectOption("acme/echo-small");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/key_id=key_.*model=acme/);
    const href = await page.getByRole("link", { name: "Download CSV" }).getAttribute("href");
    const csv = await (await page.request.get(admin.url + String(href))).text();
    const [header, ...lines] = csv.trim().split("\r\n");
    expect(header).toMatch(
      /^row_id,day,organization_id,organization_name,key_id,key_name,model,tags,user_id,.*,cost,currency,requests,/,
    );
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toContain(`${filled.keyIds[7]},"${old}",acme/echo-small,`);
  });

  it("a range over two months is compared with as many days before it", async () => {
    await page.goto(`${base}/usage`);
    await page.getByRole("link", { name: "Last month" }).click();
    await page.getByText(/Compared with \d+ days? on the same days of the week/).waitFor();
    await page.getByRole("link", { name: "28 days", exact: true }).click();
    await page.getByText("Compared with 28 days on the same days of the week").waitFor();
    const figures = await page.locator(".figures").textContent();
    expect(figures).toMatch(/Cost[\d,.]+ USD [+−]\d/);
  });

  it("the audit log shows what has changed and nothing else", async () => {
    await page.goto(`${base}/audit`);
    const row = page.getByRole("row", { name: /API key changed.*anna's laptop/ });
    expect(await row.getByRole("list").getByRole("listitem").allTextContents()).toEqual([
      expect.stringMatching(/^hard cap: none → [\d,.]+ USD$/),
      expect.stringMatching(/^budget: none → [\d,.]+ USD$/),
    ]);
  });

  it("on a phone the menu stays closed until it is asked for", async () => {
    const phone = pages.find(({ device }) => device === "phone")!.page;
    await phone.goto(base);
    expect(await phone.getByRole("navigation").count()).toBe(0);
    await phone.locator("summary").click();
    await phone.getByRole("navigation").getByRole("link", { name: "Usage" }).click();
    await phone.waitForURL(`${base}/usage`);
  });

  it("the reader's own time stands on every time", async () => {
    await page.goto(`${base}/requests`);
    expect(await page.locator("#requests time").first().getAttribute("title")).toMatch(/\d{4}/);
  });

  it("usage is grouped by a tag's values, and shown of one of them", async () => {
    await page.goto(`${base}/usage?by=tag:team`);
    await page.getByRole("group", { name: "Cost by tag team" }).waitFor();
    const names = await page.locator('section[aria-labelledby="by-tag"] tbody th').allTextContents();
    expect(names.toSorted()).toEqual(["all", "platform", "search", "without team"]);
    await page.getByLabel("Tag", { exact: true }).fill("team=search");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/tag=team%3Dsearch/);
    const left = await page.locator('section[aria-labelledby="by-tag"] tbody th').allTextContents();
    expect(left).toEqual(["search", "all"]);
  });
});
