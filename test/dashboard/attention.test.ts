/** What the overview says first: every kind of thing that needs somebody, each with the link that leads to it. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chatBody, CHAT_PATH } from "../support/chat-stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type ScriptedUpstream, startUpstream } from "../support/upstream.ts";
import { waitFor } from "../support/wait.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver.ts";
import { withStack } from "../support/with-stack.ts";
import { CHROMIUM, expectAccessible, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";

const DELIVERY_TIMEOUT_MS = 20_000;
const FAILURES_IN_A_ROW = 3;
const QUIET_MODEL = "acme/quiet";
/** More than a page of the list has. */
const BUSY_REQUESTS = 60;

describe.skipIf(CHROMIUM === null)(`what needs attention${SKIPPED_WHY}`, () => {
  let upstream: ScriptedUpstream;
  let receiver: WebhookReceiver;
  /** Nothing listens there at first. */
  let quietPort = 0;
  const getStack = withStack(async () => {
    upstream = await startUpstream();
    receiver = await startWebhookReceiver();
    quietPort = await findFreePort();
    return {
      upstreams: [
        { name: "local", url: upstream.url, path_prefix: "/v1" },
        { name: "quiet", url: `http://127.0.0.1:${quietPort}`, path_prefix: "/v1" },
      ],
      catalog: [catalogEntry(), catalogEntry({ id: QUIET_MODEL, upstream: "quiet" })],
      overrides: { notifications: { webhooks: { allow_private_networks: true } } },
    };
  });
  afterAll(async () => {
    await receiver.close();
    await upstream.close();
  });
  const open = withBrowser();
  let page: Page;
  beforeAll(async () => {
    page = await open();
    await signIn(page, getStack());
  });

  async function createOrganization(fields: object): Promise<string> {
    const { id } = await getStack().admin("POST", "/api/organizations", { currency: "USD", ...fields });
    return `/organizations/${String(id)}`;
  }
  async function createKey(path: string, fields: object): Promise<{ id: string; key: string }> {
    const { id, key } = await getStack().admin("POST", `/api${path}/keys`, fields);
    return { id: String(id), key: String(key) };
  }
  const spend = (path: string, cents: number, keyId?: string) =>
    getStack().admin("POST", `/api${path}/spend-corrections`, {
      amount_cents: cents,
      reason: "test",
      ...(keyId === undefined ? {} : { key_id: keyId }),
    });
  const entries = () => page.getByRole("region", { name: "Needs attention" }).getByRole("listitem");
  const show = (path: string) => page.goto(getStack().adminUrl + path);
  /** Follows the one link of the entry with this text. */
  async function follow(text: string | RegExp, name: string): Promise<URL> {
    await entries().filter({ hasText: text }).getByRole("link", { name, exact: true }).click();
    await page.getByRole("region", { name: "Needs attention" }).waitFor({ state: "detached" });
    return new URL(page.url());
  }
  /** The field that the address points at is on the page. */
  const expectField = (field: string) => page.locator(`[id="${field}"]`).waitFor();

  it("an organization whose cap is reached: the cap's own field", async () => {
    const path = await createOrganization({ name: "Capped", hard_cap_cents: 5_000 });
    await spend(path, 6_000);
    await show(path);
    await expectAccessible(page);
    const { pathname, hash } = await follow(
      /^Monthly hard cap of 50\.00 USD for the organization reached: 60\.00 USD spent in \w+ \d{4}\. Requests that cost money return 402 until \d{4}-\d\d-01 00:00 UTC\./,
      "Change this cap",
    );
    expect(pathname + hash).toBe(`${path}/settings#limits`);
    await expectField("limits");
  });

  it("an organization past its budget: the budget's own field", async () => {
    const path = await createOrganization({ name: "Budgeted", budget_cents: 5_000 });
    await spend(path, 6_000);
    await show(path);
    const { pathname, hash } = await follow(
      /^Monthly budget of 50\.00 USD for the organization reached: 60\.00 USD spent in \w+ \d{4}\./,
      "Change this budget",
    );
    expect(pathname + hash).toBe(`${path}/settings#limits`);
    await expectField("limits");
  });

  it("nothing for a forecast while all spend is of today, however much that is", async () => {
    const path = await createOrganization({ name: "Hasty", hard_cap_cents: 100_000 });
    await spend(path, 99_999);
    await show(path);
    await page.getByText("after a whole day").waitFor();
    expect(await entries().count()).toBe(0);
  });

  it("keys over their cap or budget: the very field of the very key", async () => {
    const path = await createOrganization({ name: "Keys" });
    const capped = await createKey(path, { name: "ci", hard_cap_cents: 100 });
    const budgeted = await createKey(path, { name: "laptop", budget_cents: 100 });
    await spend(path, 250, capped.id);
    await spend(path, 120, budgeted.id);
    await show(path);
    expect(await entries().count()).toBe(2);
    const cap = await follow(
      /^Monthly hard cap of 1\.00 USD for API key "ci" reached: 2\.50 USD spent in \w+ \d{4}\. Requests that cost money return 402 until /,
      "Change this cap",
    );
    expect(cap.pathname + cap.hash).toBe(`${path}/keys/${capped.id}#limits`);
    await expectField("limits");
    await show(path);
    const budget = await follow(
      /^Monthly budget of 1\.00 USD for API key "laptop" reached: 1\.20 USD spent in \w+ \d{4}\./,
      "Change this budget",
    );
    expect(budget.pathname + budget.hash).toBe(`${path}/keys/${budgeted.id}#limits`);
    await expectField("limits");
  });

  it("of many such keys how many there are, with their list", async () => {
    const path = await createOrganization({ name: "Many keys" });
    for (let count = 0; count < 7; count += 1) {
      const { id } = await createKey(path, { name: `key-${count}`, budget_cents: 100 });
      await spend(path, 100, id);
    }
    await show(path);
    expect(await entries().count()).toBe(1);
    const { pathname } = await follow("7 API keys are over a budget.", "See these API keys");
    expect(pathname).toBe(`${path}/keys`);
    expect(await page.locator(".state").getByText("over budget", { exact: true }).count()).toBe(7);
  });

  it("an upstream whose last requests have all failed: these requests; and no more once it answers", async () => {
    const path = await createOrganization({ name: "Unlucky" });
    const { key } = await createKey(path, { name: "ci" });
    const send = () => getStack().send({ path: CHAT_PATH, key, body: chatBody() });
    for (let count = 0; count < FAILURES_IN_A_ROW; count += 1) {
      upstream.answerNext({ kind: "json", status: 500, body: { error: { message: "out of memory" } } });
      expect((await send()).status).toBe(502);
    }
    await waitFor("the entry", async () => {
      await show(path);
      return (await entries().count()) === 1 ? true : null;
    });
    const { pathname, search } = await follow("Upstream local is failing", "See these requests");
    expect(pathname + search).toBe(`${path}/requests?upstream=local&status=5xx`);
    expect(await page.locator("#requests tbody tr:not(.group)").count()).toBe(FAILURES_IN_A_ROW);
    expect((await send()).status).toBe(200);
    await waitFor("the end of the entry", async () => {
      await show(path);
      return (await entries().count()) === 0 ? true : null;
    });
  });

  it("an upstream that is seldom asked and always fails, beside a busy one: why, and its requests", async () => {
    const path = await createOrganization({ name: "Seldom" });
    const { key } = await createKey(path, { name: "ci" });
    const send = (model?: string) =>
      getStack().send({ path: CHAT_PATH, key, body: chatBody(model === undefined ? {} : { model }) });
    const expectEntry = async (text: RegExp) => {
      await waitFor("the entry", async () => {
        await show(path);
        return text.test((await entries().allTextContents()).join("\n")) ? true : null;
      });
      expect(await entries().count()).toBe(1);
    };
    expect((await send(QUIET_MODEL)).status).toBe(503);
    await expectEntry(/^Upstream quiet is failing: its only request of the last day failed at 2/);
    expect((await send(QUIET_MODEL)).status).toBe(503);
    await Promise.all(Array.from({ length: BUSY_REQUESTS }, () => send()));
    await expectEntry(
      /^Upstream quiet is failing: both requests of the last day failed, the latest at 2[\d-]+ [\d:]+ UTC\. The upstream quiet refused the connection: nothing listens at its address\./,
    );
    const { pathname, search } = await follow("Upstream quiet is failing", "See these requests");
    expect(pathname + search).toBe(`${path}/requests?upstream=quiet&status=5xx`);
    expect(await page.locator("#requests tbody tr:not(.group)").count()).toBe(2);
    const alive = await startUpstream({ port: quietPort });
    try {
      expect((await send(QUIET_MODEL)).status).toBe(200);
      await waitFor("the end of the entry", async () => {
        await show(path);
        return (await entries().count()) === 0 ? true : null;
      });
    } finally {
      await alive.close();
    }
  });

  it("an alert that cannot be delivered: the deliveries", async () => {
    receiver.answer = () => 500;
    const path = await createOrganization({
      name: "Deaf",
      budget_cents: 100,
      notifications: { webhook: { url: receiver.url } },
    });
    await spend(path, 85);
    const failing = /An alert couldn't be delivered by webhook: .*500/;
    await waitFor(
      "the entry",
      async () => {
        await show(path);
        return (await entries().filter({ hasText: failing }).count()) === 1 ? true : null;
      },
      { timeoutMs: DELIVERY_TIMEOUT_MS },
    );
    const { pathname } = await follow(failing, "See the deliveries");
    expect(pathname).toBe(`${path}/alerts`);
    await page.getByText("80 % of the monthly budget").waitFor();
  });

  it("a webhook that is gone for good: its settings", async () => {
    receiver.answer = () => 410;
    const path = await createOrganization({
      name: "Gone",
      budget_cents: 100,
      notifications: { webhook: { url: receiver.url } },
    });
    await spend(path, 85);
    const gone = "The webhook's endpoint returned 410 Gone, so it receives no more alerts.";
    await waitFor(
      "the entry",
      async () => {
        await show(path);
        return (await entries().filter({ hasText: gone }).count()) === 1 ? true : null;
      },
      { timeoutMs: DELIVERY_TIMEOUT_MS },
    );
    const { pathname, hash } = await follow(gone, "See the webhook");
    expect(pathname + hash).toBe(`${path}/settings#webhook`);
    await expectField("webhook");
  });

  it("nothing, where nothing needs anybody: an organization without any usage has three steps and no chart", async () => {
    const path = await createOrganization({ name: "Calm", hard_cap_cents: 5_000, budget_cents: 4_000 });
    await show(path);
    await page.getByRole("heading", { name: "Three steps to the first response" }).waitFor();
    expect(await page.getByRole("region", { name: "Needs attention" }).count()).toBe(0);
    expect(await page.locator("svg.chart").count()).toBe(0);
    const steps = page.getByRole("region", { name: "Three steps" }).getByRole("listitem");
    const hrefs = steps
      .getByRole("link")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
    expect(await hrefs).toEqual([`${path}/keys/new`, `${path}/try`, `${path}/settings`]);
    expect((await steps.allTextContents()).map((text) => text.endsWith("done"))).toEqual([
      false,
      false,
      true,
    ]);
    await createKey(path, { name: "first" });
    await show(path);
    expect((await steps.allTextContents()).map((text) => text.endsWith("done"))).toEqual([true, false, true]);
    await expectAccessible(page);
  });
});
