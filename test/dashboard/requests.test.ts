import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { chatBody, CHAT_PATH, withSharedChatStack } from "../support/chat-stack.ts";
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

  const rows = () => page.locator("#requests tbody tr:not(.group)");
  const opened = () => rows().first().getByRole("link").first().click();
  const filter = () => page.getByRole("button", { name: "Filter" }).click();
  const status = () => page.getByLabel("Status", { exact: true });
  /** Columns of the chart, of which each is half a minute. */
  const columns = () => page.locator("svg.for-screen a.spot");
  const reach = (index: number) => columns().nth(index).locator(".reach");
  const timesIn = (url: string) =>
    ["from", "to"].map((name) => Date.parse(new URL(url).searchParams.get(name) ?? ""));
  const send = () => getStack().send({ path: CHAT_PATH, key: filled.key, body: chatBody({}, "hello") });

  it("keep every filter in the address, and show what it lets through", async () => {
    await page.goto(base);
    expect(await rows().count()).toBe(3);
    await status().selectOption("hard_cap_reached");
    await filter();
    await page.waitForURL(/status=hard_cap_reached/);
    expect(await rows().count()).toBe(1);
    expect(await rows().textContent()).toContain("laptop");
    await page.getByRole("link", { name: "Show all" }).click();
    await page.getByLabel("Key", { exact: true }).selectOption(filled.keyId);
    await status().selectOption({ label: "succeeded (2xx)" });
    await filter();
    await page.waitForURL(/status=2xx.*key_id=key_/);
    expect(await rows().count()).toBe(1);
    await page.reload();
    expect(await status().inputValue()).toBe("2xx");
    await page.getByLabel("To, UTC").fill("2020-01-01T00:00:00");
    await filter();
    await page.getByText("No requests match.").waitFor();
    await expectStillAccessible(page);
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
    await page.getByLabel("Session", { exact: true }).selectOption("night-run-2");
    await filter();
    await page.waitForURL(/session=night-run-2/);
    expect(await rows().count()).toBe(1);
    await page.goto(base);
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.getByRole("checkbox", { name: "session" }).check();
    await page.getByRole("checkbox", { name: "input" }).uncheck();
    await filter();
    await page.waitForURL(/column=session/);
    expect(await page.getByRole("columnheader").allTextContents()).not.toContain("input");
    await page.getByRole("link", { name: "night-run-1" }).first().click();
    await page.waitForURL(/session=night-run-1/);
    expect(await rows().count()).toBe(2);
    expect(await page.getByLabel("Session", { exact: true }).inputValue()).toBe("night-run-1");
    expect(all).toBeGreaterThan(2);
  });

  it("narrow the time by dragging over the chart, by its keyboard and without a script", async () => {
    await page.goto(`${base}?last=15m`);
    const all = await rows().count();
    const last = (await columns().count()) - 1;
    const [first, tenth] = [await reach(0).boundingBox(), await reach(9).boundingBox()];
    if (first === null || tenth === null) throw new Error("no columns");
    await page.mouse.move(first.x + 5, first.y + 20);
    await page.mouse.down();
    await page.mouse.move(tenth.x + 5, tenth.y + 20, { steps: 5 });
    expect(await page.locator("svg.for-screen .spot.chosen").count()).toBe(10);
    await page.mouse.up();
    await page.waitForURL(/from=.*to=/);
    const [from = 0, to = 0] = timesIn(page.url());
    expect(to - from).toBe(10 * 30_000);
    await page.getByText("No requests match.").waitFor();
    await page.goto(`${base}?last=15m`);
    await expectAccessible(page);
    await columns().first().focus();
    await page.keyboard.press("Shift+End");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");
    for (let step = 0; step < last; step += 1) await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=.*to=/);
    expect(await rows().count()).toBe(all);
    const plain = await open({ javaScriptEnabled: false });
    await signIn(plain, getStack());
    await plain.goto(`${base}?last=15m`);
    expect(await plain.getByText("Drag over the columns").isVisible()).toBe(false);
    await plain.locator("svg.for-screen a.spot .reach").first().click();
    const [since = 0, until = 0] = timesIn(plain.url());
    expect(until - since).toBe(30_000);
    await plain.getByText("No requests match.").waitFor();
  });

  it("lead from one request to the next of the same filter, and back to the list", async () => {
    await page.goto(`${base}?status=2xx`);
    const count = await rows().count();
    await opened();
    expect(await page.getByRole("link", { name: "Newer" }).count()).toBe(0);
    for (let step = 1; step < count; step += 1) {
      const before = page.url();
      await page.getByRole("link", { name: "Older" }).click();
      await page.waitForURL((url) => url.href !== before);
      await page.getByText(/^Completed in /).waitFor();
    }
    expect(await page.getByRole("link", { name: "Older" }).count()).toBe(0);
    await expectStillAccessible(page);
    await page.getByRole("link", { name: "Filtered list" }).click();
    await page.waitForURL(`${base}?status=2xx`);
  });

  it("have the columns that are chosen, also after a reload and in the links of the filters", async () => {
    await page.goto(base);
    await page.getByText("Columns", { exact: true }).first().click();
    await page.getByLabel("route", { exact: true }).check();
    await page.getByLabel("cost", { exact: true }).uncheck();
    await filter();
    await page.waitForURL(/column=route/);
    const heads = () => page.locator("#requests thead th").allTextContents();
    const chosen = await heads();
    expect(chosen).toContain("route");
    expect(chosen.join()).not.toContain("cost");
    expect(await rows().first().textContent()).toContain("chat");
    await page.reload();
    await rows().getByRole("link", { name: "laptop" }).first().click();
    await page.waitForURL(/key_id=key_/);
    expect(await heads()).toEqual(chosen);
    await expectStillAccessible(page);
  });

  it("are downloaded as they are filtered", async () => {
    await page.goto(`${base}?status=hard_cap_reached`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Download CSV" }).click(),
    ]);
    const lines = (await text(await download.createReadStream())).trimEnd().split("\r\n");
    expect(lines.slice(1).map((line) => line.split(",").slice(2, 4))).toEqual([["402", "hard_cap_reached"]]);
  });

  it("show a key's holder their own in the same way", async () => {
    const holder = await open({ viewport: { width: 390, height: 844 } });
    await signIn(holder, getStack(), filled.key);
    await holder.getByRole("link", { name: /^All your requests/ }).click();
    await holder.waitForURL(/\/me\/requests$/);
    await expectAccessible(holder);
    await expectNoSidewaysScroll(holder);
    expect(await holder.locator("main").textContent()).not.toContain("laptop");
    await holder.getByRole("heading", { name: "Status of your models" }).waitFor();
    await holder.locator("#requests tbody tr:not(.group)").first().getByRole("link").first().click();
    await holder.waitForURL(/\/me\/requests\/req_/);
    await holder.getByRole("link", { name: "All requests" }).click();
    await holder.waitForURL(/\/me\/requests$/);
  });

  it("say what is wrong with a filter beside the fields", async () => {
    await page.goto(`${base}?status=four`);
    expect(await rows().count()).toBe(0);
    await page.goto(`${base}?tag=team`);
    expect(await page.getByRole("alert").textContent()).toBe('Tag: expected name=value, found "team"');
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
    await opened();
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
    await opened();
    await page
      .getByText(/^The upstream local returned 500.*; the client received 502 upstream_error\.\s*$/)
      .waitFor();
  });
});
