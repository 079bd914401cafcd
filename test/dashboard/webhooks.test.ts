/** Webhooks of an organization on the dashboard: those for Slack and the like, and what leaves the gateway from there. */
import { Webhook } from "standardwebhooks";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { waitFor } from "../support/wait.ts";
import { slackMessage } from "../support/webhook-format-schemas.ts";
import {
  type ReceivedWebhook,
  startWebhookReceiver,
  type WebhookReceiver,
} from "../support/webhook-receiver.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  SKIPPED_WHY,
  unfold,
  withBrowser,
} from "./browser.ts";
import { openOwnOrganization } from "./own-organization.ts";

describe.skipIf(CHROMIUM === null)(`on the dashboard${SKIPPED_WHY}`, () => {
  const chat = withSharedChatStack();
  const open = withBrowser();

  describe("further webhooks", () => {
    let receiver: WebhookReceiver;
    afterAll(() => receiver.close());
    let page: Page;
    let api = "";
    let base = "";
    beforeAll(async () => {
      receiver = await startWebhookReceiver();
      ({ page, api, base } = await openOwnOrganization(chat.stack, open));
    });

    it("are added for Slack with a choice of alerts, tested, changed, and say what is wrong with them", async () => {
      await page.goto(`${base}/settings`);
      await page.getByRole("link", { name: "Add a webhook" }).click();
      await page.getByLabel("Format").selectOption("Slack");
      await expectAccessible(page);
      await page.getByRole("button", { name: "Add" }).click();
      await page.getByText("is required").first().waitFor();
      await page.getByLabel("URL").fill(`${receiver.url}/s3cret`);
      await page.getByLabel("before 100 % of a budget").uncheck();
      await page.getByRole("button", { name: "Add" }).click();
      await page.getByText("Saved.").waitFor();
      const section = page.getByRole("region", { name: "Further webhooks" });
      expect(await section.textContent()).toContain("/…cret");
      expect(await page.content()).not.toContain("s3cret");
      await expectStillAccessible(page);
      await section.getByRole("button", { name: "Send a test to Slack" }).click();
      await page.getByText("Delivered: the endpoint returned 204").waitFor();
      expect(slackMessage.parse(receiver.received[0]!.event).text).toContain("No limit was reached");
      await page.goto(`${base}/settings`);
      await section.getByRole("link", { name: "Change Slack" }).click();
      await page.getByLabel("before 100 % of a hard cap").uncheck();
      await page.getByRole("button", { name: "Save" }).click();
      expect(await section.textContent()).toContain(
        "100 % of a budget, 100 % of a hard cap, forecast above a limit",
      );
      const { notifications } = await chat.stack.admin("GET", api);
      expect(notifications).toMatchObject({
        webhooks: [
          {
            format: "slack",
            alerts: ["budget_reached", "hard_cap_reached", "forecast", "sudden_spend"],
          },
        ],
      });
    });

    it("with the channel off the dashboard shows no alert and no badge, and the webhooks hear of them", async () => {
      receiver.received.length = 0;
      await chat.stack.admin("PATCH", api, { notifications: { dashboard: false } });
      const { id: keyId } = await chat.stack.admin("POST", `${api}/keys`, { name: "ci", budget_cents: 100 });
      const correction = { amount_cents: 100, reason: "test", key_id: String(keyId) };
      await chat.stack.admin("POST", `${api}/spend-corrections`, correction);
      await waitFor("the message", () => receiver.received[0] ?? null, { timeoutMs: 20_000 });
      expect(slackMessage.parse(receiver.received[0]!.event).text).toContain("100% of the");
      await page.goto(`${base}/alerts`);
      await page.getByText("the channel is off").waitFor();
      expect(await page.getByRole("main").textContent()).not.toContain("100 %");
      expect(await page.locator(".badge").count()).toBe(0);
      await page.getByRole("main").getByRole("link", { name: "Inference settings" }).click();
      await page.getByLabel("This dashboard").check();
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved.").waitFor();
      await page.goto(`${base}/alerts`);
      await page.getByText("80 % and 100 % of the monthly budget").waitFor();
      expect(await page.getByRole("button", { name: "Send again" }).count()).toBe(1);
      expect(await page.getByRole("main").textContent()).toContain(" · Send again");
    });

    it("are removed after a question", async () => {
      await page.goto(`${base}/settings`);
      await page.getByRole("button", { name: "Remove Slack" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByText("Saved.").waitFor();
      await page.getByText("Slack, Microsoft Teams and PagerDuty can also receive").waitFor();
      expect(await chat.stack.admin("GET", api)).toMatchObject({ notifications: { webhooks: [] } });
    });
  });

  describe("deliveries", () => {
    let receiver: WebhookReceiver;
    afterAll(() => receiver.close());
    let page: Page;
    let api = "";
    let base = "";
    let secret = "";
    beforeAll(async () => {
      receiver = await startWebhookReceiver();
      ({ page, api, base } = await openOwnOrganization(chat.stack, open));
      await page.goto(`${base}/settings`);
      await unfold(page, "Alerts go to");
      await page.getByLabel("Webhook URL").fill(receiver.url);
      await page.getByRole("button", { name: "Save" }).click();
      secret = await page.getByLabel("Webhook secret").inputValue();
    });

    const verify = ({ body, headers }: ReceivedWebhook, key = secret) =>
      new Webhook(key).verify(body, headers as Record<string, string>);

    it("tests the webhook: the receiver gets a signed event, and the page says what it answered", async () => {
      await page.goto(`${base}/settings`);
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText("Delivered: the endpoint returned 204").waitFor();
      await expectAccessible(page);
      expect(receiver.received).toHaveLength(1);
      expect(verify(receiver.received[0]!)).toMatchObject({ type: "webhook.test" });
    });

    it("says why a test did not arrive, and tests again from there", async () => {
      receiver.answer = () => 500;
      await page.goto(`${base}/settings`);
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByRole("alert").waitFor();
      expect(await page.getByRole("alert").textContent()).toContain(
        "Not delivered: the endpoint returned 500",
      );
      await expectStillAccessible(page);
      receiver.answer = null;
      await page.getByRole("button", { name: "Test again" }).click();
      await page.getByText("Delivered: the endpoint returned 204").waitFor();
    });

    it("sends an alert again, which the receiver sees under the same id", async () => {
      const { id: keyId } = await chat.stack.admin("POST", `${api}/keys`, { name: "ci", budget_cents: 100 });
      receiver.received.length = 0;
      await chat.stack.admin("POST", `${api}/spend-corrections`, {
        amount_cents: 85,
        reason: "test",
        key_id: String(keyId),
      });
      await waitFor("the alert", () => receiver.received[0] ?? null, { timeoutMs: 20_000 });
      await waitFor(
        "its delivery on the page",
        async () => {
          await page.goto(`${base}/alerts`);
          return (await page.getByText("webhook: delivered").count()) === 1 ? true : null;
        },
        { timeoutMs: 20_000 },
      );
      await page.getByRole("button", { name: "Send again" }).click();
      await page.getByText("Sending the alert again.").waitFor();
      await waitFor("the alert again", () => receiver.received[1] ?? null, { timeoutMs: 20_000 });
      const [first, second] = receiver.received;
      expect(verify(second!)).toMatchObject({ type: "budget.threshold_reached", data: { key_name: "ci" } });
      expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
    });

    it("makes a new secret; the previous one signs too for as long as was chosen", async () => {
      await page.goto(`${base}/settings`);
      await page.getByLabel("the previous one").selectOption("also signs for an hour");
      await page.getByRole("button", { name: "New secret" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "New secret" }).click();
      const renewed = await page.getByLabel("Webhook secret").inputValue();
      receiver.received.length = 0;
      await page.goto(`${base}/settings`);
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText("Delivered").waitFor();
      for (const key of [secret, renewed]) {
        expect(verify(receiver.received[0]!, key)).toMatchObject({ type: "webhook.test" });
      }
      await page.goto(`${base}/settings`);
      await page.getByLabel("the previous one").selectOption("ends at once");
      await page.getByRole("button", { name: "New secret" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "New secret" }).click();
      await page.getByLabel("Webhook secret").waitFor();
      await page.goto(`${base}/settings`);
      await page.getByRole("button", { name: "Send a test" }).click();
      await page.getByText("Delivered").waitFor();
      expect(() => verify(receiver.received[1]!, renewed)).toThrow("No matching signature");
    });
  });
});
