/** Alerts on the dashboard: the settings that decide what fires, what arrives by email, and who has read it; statements. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { withStack } from "../support/with-stack.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  signIn,
  SKIPPED_WHY,
  unfold,
  withBrowser,
} from "./browser.ts";
import { openOwnOrganization } from "./own-organization.ts";

describe.skipIf(CHROMIUM === null)(`on the dashboard${SKIPPED_WHY}`, () => {
  let mails: MailServer;
  beforeAll(async () => {
    mails = await startMailServer();
  });
  afterAll(() => mails.close());
  const getStack = withStack(() => ({
    upstreams: [{ name: "local", url: "http://127.0.0.1:9", path_prefix: "/v1" }],
    overrides: { notifications: { smtp: { url: mails.url, from: "Gateway <gateway@example.org>" } } },
  }));
  const open = withBrowser();

  let page: Page;
  let api = "";
  let base = "";
  beforeAll(async () => {
    ({ page, api, base } = await openOwnOrganization(getStack(), open));
  });

  it("sends a test email, and shows the address that the mail server rejects", async () => {
    await page.goto(`${base}/settings`);
    expect(await page.getByRole("button", { name: "Send a test email" }).count()).toBe(0);
    await unfold(page, "Alerts go to");
    await page.getByLabel("Email addresses").fill("ops@example.com\ngone@example.com");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: "Send a test email" }).click();
    await page.getByText("Delivered: the mail server accepted the email").waitFor();
    await expectStillAccessible(page);
    expect(mails.received[0]).toMatchObject({
      recipients: ["ops@example.com", "gone@example.com"],
      mail: { subject: expect.stringMatching(/Test of alert emails$/) },
    });
    mails.refuseRecipient = (address) => (address === "gone@example.com" ? 550 : null);
    await page.getByRole("button", { name: "Test again" }).click();
    await page.getByText("Not delivered: gone@example.com: 550").waitFor();
    mails.refuseRecipient = () => null;
  });

  it("takes a limit's own alerts in its row, and fires them", async () => {
    await page.goto(`${base}/settings`);
    await page.getByLabel("Limits, row 1: alerts at").fill("fifty");
    await page.getByLabel("Limits, row 1: amount").fill("100.00");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText('"fifty": expected at most 5 percentages').first().waitFor();
    await page.getByLabel("Limits, row 1: alerts at").fill("25/50");
    await page.getByLabel("Limits, row 2: amount").fill("10.00");
    await page.getByLabel("Limits, row 2: period").selectOption("a day");
    await page.getByLabel("Limits, row 2: kind").selectOption("hard cap");
    await page.getByLabel("Limits, row 2: alerts at").fill("30, 60");
    await expectStillAccessible(page);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved.").waitFor();
    expect((await getStack().admin("GET", api))["limits"]).toEqual([
      { period: "day", kind: "cap", cents: 1000, alerts: [30, 60] },
      { period: "month", kind: "cap", cents: 10_000, alerts: [25, 50] },
    ]);
    expect(await page.getByLabel("Limits, row 1: alerts at").inputValue()).toBe("30/60");
    expect(await page.getByLabel("Limits, row 2: alerts at").inputValue()).toBe("25/50");
    await getStack().admin("POST", `${api}/spend-corrections`, { amount_cents: 700, reason: "test" });
    await page.goto(`${base}/alerts`);
    await page.getByText("30 % and 60 % of the daily hard cap").waitFor();
    await getStack().admin("PATCH", api, { limits: [] });
  });

  it("saves alerts on the forecast, on sudden spend, and the summary", async () => {
    await page.goto(`${base}/settings`);
    await unfold(page, "Alerts go to");
    await page.getByLabel("Alert on the forecast").check();
    await page.getByLabel("Alert on sudden spend, percent of a usual day").fill("300");
    await page.getByLabel("Summary by email").selectOption("week");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved.").waitFor();
    expect((await getStack().admin("GET", api))["notifications"]).toMatchObject({
      forecast: true,
      sudden_spend_percent: 300,
      summary: "week",
    });
  });

  it("prints the statement of a month without what is around it", async () => {
    await page.goto(`${base}/usage`);
    await page.getByRole("link", { name: "statement of a month" }).click();
    await page.getByRole("heading", { name: /^Statement of / }).waitFor();
    await expectAccessible(page);
    const main = page.getByRole("main");
    expect(await main.textContent()).toContain("not over yet");
    await page.getByRole("region", { name: "Corrections" }).first().getByText("test").first().waitFor();
    expect(await main.textContent()).toContain("7.00 USD");
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("navigation").first().isVisible()).toBe(false);
    expect(await page.getByRole("button", { name: "Show" }).isVisible()).toBe(false);
    expect(await main.isVisible()).toBe(true);
    await page.emulateMedia({ media: "screen" });
  });

  it("compares organizations for the operator: sorted by its headers, with a statement and one CSV", async () => {
    const operator = await open();
    await signIn(operator, getStack());
    await operator.goto(`${getStack().adminUrl}/organizations/spend`);
    await operator.getByRole("heading", { name: /^Spend of all organizations, / }).waitFor();
    await expectAccessible(operator);
    const id = base.split("/").at(-1) ?? "";
    const row = operator.getByRole("row").filter({ has: operator.locator(`a[href="/organizations/${id}"]`) });
    expect(await row.textContent()).toContain("7.00 USD");
    await operator.getByRole("link", { name: "organization", exact: true }).click();
    await operator.locator('th[aria-sort="ascending"]').waitFor();
    const csv = await operator.request.get(`${getStack().adminUrl}/organizations/spend.csv`);
    expect(csv.headers()["content-type"]).toContain("text/csv");
    expect(await csv.text()).toContain(`${id},`);
    await row.getByRole("link", { name: /^Statement of / }).click();
    await operator.getByRole("heading", { name: /^Statement of / }).waitFor();
  });

  it("says what has become of the limit, and who has read an alert is each person's own", async () => {
    const { id } = await getStack().admin("POST", `${api}/keys`, { name: "ci", budget_cents: 100 });
    const correction = { amount_cents: 100, reason: "test", key_id: String(id) };
    await getStack().admin("POST", `${api}/spend-corrections`, correction);
    await page.goto(`${base}/alerts`);
    const first = page.getByText("80 % and 100 % of the monthly budget");
    await first.waitFor();
    expect(await page.getByRole("main").textContent()).toMatch(/, resets in \d+ \w+/);
    expect(await page.getByText("raised since").count()).toBe(0);
    await getStack().admin("PATCH", `${api}/keys/${String(id)}`, { budget_cents: 500 });
    await page.reload();
    await page.getByText(", raised since to 5.00 USD").waitFor();
    await getStack().admin("PATCH", `${api}/keys/${String(id)}`, { budget_cents: null });
    await page.reload();
    await page.getByText(", removed since").first().waitFor();
    await expectAccessible(page);
    const { token } = await getStack().admin("POST", `${api}/tokens`, { name: "leo", role: "viewer" });
    const viewer = await open();
    await signIn(viewer, getStack(), String(token));
    const badgeOf = (shown: Page) => shown.locator(".for-screen .badge");
    // The alert fired before this token was created.
    expect([await badgeOf(page).count(), await badgeOf(viewer).count()]).toEqual([1, 0]);
    const second = await getStack().admin("POST", `${api}/keys`, { name: "cd", budget_cents: 100 });
    await getStack().admin("POST", `${api}/spend-corrections`, {
      ...correction,
      key_id: String(second["id"]),
    });
    await viewer.goto(`${base}/alerts`);
    await viewer.getByRole("button", { name: "Mark all as read" }).click();
    await viewer.waitForURL(/done=read/);
    expect(await badgeOf(viewer).count()).toBe(0);
    await page.reload();
    // Two of the daily hard cap, two of each key.
    expect(await badgeOf(page).textContent()).toContain("6");
  });
});
