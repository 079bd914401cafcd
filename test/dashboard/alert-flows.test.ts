/** Alerts on the dashboard: the settings that decide what fires, what arrives by email, and who has read it. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MailServer, startMailServer } from "../support/mail-server.ts";
import { withStack } from "../support/with-stack.ts";
import { CHROMIUM, expectAccessible, SKIPPED_WHY, withBrowser } from "./browser.ts";
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
  let base = "";
  beforeAll(async () => {
    ({ page, base } = await openOwnOrganization(getStack(), open));
  });

  it("sends a test email, and shows the address that the mail server rejects", async () => {
    await page.goto(`${base}/settings`);
    expect(await page.getByRole("button", { name: "Send a test email" }).count()).toBe(0);
    await page.getByLabel("Email addresses").fill("ops@example.com\ngone@example.com");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved.").waitFor();
    await page.getByRole("button", { name: "Send a test email" }).click();
    await page.getByText("Delivered: the mail server accepted the email").waitFor();
    await expectAccessible(page);
    expect(mails.received[0]).toMatchObject({
      recipients: ["ops@example.com", "gone@example.com"],
      mail: { subject: expect.stringMatching(/Test of alert emails$/) },
    });
    mails.refuseRecipient = (address) => (address === "gone@example.com" ? 550 : null);
    await page.getByRole("button", { name: "Test again" }).click();
    await page.getByText("Not delivered: gone@example.com: 550").waitFor();
    mails.refuseRecipient = () => null;
  });
});
