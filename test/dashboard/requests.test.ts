import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { chatBody, CHAT_PATH, withSharedChatStack } from "../support/chat-stack.ts";
import type { Stack } from "../support/stack.ts";
import { CHROMIUM, expectAccessible, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";
import { fillOrganization, type FilledOrganization } from "./filled-organization.ts";

describe.skipIf(CHROMIUM === null)(`the pages of requests${SKIPPED_WHY}`, () => {
  const chat = withSharedChatStack();
  const getStack = (): Stack => chat.stack;
  const open = withBrowser();
  let filled: FilledOrganization;
  let page: Page;
  let base = "";
  beforeAll(async () => {
    const stack = getStack();
    filled = await fillOrganization(stack, "Busy");
    base = `${stack.adminUrl}/organizations/${filled.id}/requests`;
    page = await open();
    await signIn(page, stack);
  });

  const rows = () => page.locator("#requests tbody tr");
  const send = () => getStack().send({ path: CHAT_PATH, key: filled.key, body: chatBody({}, "hello") });

  it("keep every filter in the address, and show what it lets through", async () => {
    await page.goto(base);
    expect(await rows().count()).toBe(3);
    await page.getByLabel("Status or code").fill("hard_cap_reached");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/status=hard_cap_reached/);
    expect(await rows().count()).toBe(1);
    expect(await rows().textContent()).toContain("laptop");
    await page.getByLabel("Key", { exact: true }).selectOption({ label: "ci" });
    await page.getByLabel("Status or code").fill("2xx");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/key_id=key_.*status=2xx/);
    expect(await rows().count()).toBe(1);
    await page.reload();
    expect(await page.getByLabel("Status or code").inputValue()).toBe("2xx");
    await page.getByLabel("To", { exact: true }).fill("2020-01-01");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByText("No requests match.").waitFor();
    await expectAccessible(page);
    await page.getByRole("link", { name: "Show all" }).click();
    await page.waitForURL(base);
  });

  it("show the requests of a session alone, by its name or by a click on it", async () => {
    const sendOf = (session: string) =>
      getStack().send({
        path: CHAT_PATH,
        key: filled.key,
        body: chatBody({}, "hello"),
        headers: { "x-session-id": session },
      });
    await sendOf("night-run-1");
    await sendOf("night-run-2");
    await sendOf("night-run-1");
    await page.goto(base);
    const all = await rows().count();
    await page.getByLabel("Session", { exact: true }).fill("night-run-2");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/session=night-run-2/);
    expect(await rows().count()).toBe(1);
    await page.goto(base);
    await page.getByRole("link", { name: "night-run-1" }).first().click();
    await page.waitForURL(/session=night-run-1/);
    expect(await rows().count()).toBe(2);
    expect(await page.getByLabel("Session", { exact: true }).inputValue()).toBe("night-run-1");
    expect(all).toBeGreaterThan(2);
  });

  it("say what is wrong with a filter beside the fields", async () => {
    await page.goto(`${base}?status=four`);
    expect(await rows().count()).toBe(0);
    await page.goto(`${base}?tag=team`);
    expect(await page.getByRole("alert").textContent()).toBe('`tag`: expected `name=value`, found "team"');
    expect(await page.getByText("No requests match.").count()).toBe(0);
    await page.goto(`${base}?id=REQ`);
    await page.getByRole("alert").getByText("part of a request id").waitFor();
    expect(await page.getByLabel("Request id").inputValue()).toBe("REQ");
  });

  it("show new requests by themselves while they are followed, and none while that is paused", async () => {
    await page.goto(`${base}?key_id=${filled.keyId}`);
    const before = await rows().count();
    await page.getByRole("button", { name: "Follow live" }).click();
    await send();
    await rows().nth(before).waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await send();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.getByRole("button", { name: "Follow live" }).click();
    await rows()
      .nth(before + 1)
      .waitFor();
    expect(asked.length).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Pause" }).click();
  });

  it("say what an upstream did, when a request came how far, and how its cost comes about", async () => {
    await send();
    await page.goto(`${base}?key_id=${filled.keyId}&status=200`);
    await rows().first().getByRole("link").click();
    await page.getByText(/^Completed in /).waitFor();
    const steps = await page.locator(".timeline li > span:first-child").allTextContents();
    expect(steps).toEqual([
      "admitted",
      "body received",
      "sent to the upstream",
      "upstream responded with 200",
      "end",
    ]);
    expect(await page.getByRole("table").textContent()).toMatch(/× [\d.]+ USD/);
    expect(await page.locator("main").textContent()).not.toContain("microcents");
    await expectAccessible(page);
    chat.upstream.answerNext({ kind: "json", status: 500, body: { error: { message: "out of memory" } } });
    await send();
    await page.goto(`${base}?status=5xx`);
    await rows().first().getByRole("link").click();
    await page
      .getByText(/^The upstream local returned 500.*; the client received 502 upstream_error\.\s*$/)
      .waitFor();
  });
});
