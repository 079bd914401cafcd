/** Limits by window and owner as people see them: what is spent against each, its raises, and whom which one stopped. */
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { chatBody, CHAT_PATH, withSharedChatStack } from "../support/chat-stack.ts";
import { firstOnPush } from "../support/extent.ts";
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
import { openOwnOrganization } from "./own-organization.ts";

const PHONE = { width: 390, height: 844 };
/** Echoed: costs 0.25. */
const LONG_PROMPT = Array.from({ length: 20_000 }, () => "word").join(" ");
const row = (period: string, kind: string, cents: number) => ({ period, kind, cents });

describe.skipIf(CHROMIUM === null)(`limits in the dashboard${SKIPPED_WHY}`, () => {
  const chat = withSharedChatStack();
  const getStack = (): Stack => chat.stack;
  const open = withBrowser();
  let page: Page;
  let base = "";
  let api = "";
  const ids = { search: "", zoe: "", laptop: "" };
  let laptop = "";

  const make = (kind: "users" | "groups" | "keys", body: object) =>
    getStack().admin("POST", `${api}/${kind}`, body);
  const patch = (path: string, body: object) => getStack().admin("PATCH", `${api}${path}`, body);
  const ask = (prompt = LONG_PROMPT) =>
    getStack().send({ path: CHAT_PATH, key: laptop, body: chatBody({}, prompt) });
  /** Of the section *Spend against limits* those whose title begins so. */
  const cards = (title: string): Locator =>
    page
      .getByRole("region", { name: "Spend against limits" })
      .getByRole("listitem")
      .filter({ has: page.getByRole("heading", { name: new RegExp(`^${title}`) }) });
  const textOf = async (card: Locator): Promise<string> => (await card.innerText()).replaceAll(/\s+/g, " ");

  beforeAll(async () => {
    ({ page, api, base } = await openOwnOrganization(getStack(), open));
    const memberLimits = [row("week", "cap", 2000), row("day", "cap", 20)];
    const search = { name: "Search", limits: [row("month", "cap", 200_000)], member_limits: memberLimits };
    ids.search = String((await make("groups", search))["id"]);
    const limits = [row("day", "budget", 30)];
    const zoe = await make("users", { name: "Zoë Bell", group_id: ids.search, limits });
    ids.zoe = String(zoe["id"]);
    const made = await make("keys", { name: "laptop", user_id: ids.zoe, hard_cap_cents: 500 });
    ids.laptop = String(made["id"]);
    laptop = String(made["key"]);
    await patch("", { limits: [row("total", "cap", 5000)] });
    await ask();
  });

  describe("the section Spend against limits", () => {
    it("has on a user's page its own, what it has as a member, its group's pool and the organization's", async () => {
      await page.goto(`${base}/users/${ids.zoe}`);
      const daily = await textOf(cards("Daily cap"));
      expect(daily).toMatch(/^Daily cap reached/);
      expect(daily).toContain("all keys of Zoë Bell, as each member of Search");
      expect(daily).toMatch(
        /0\.25 USD of 0\.20 USD \(125 %\) on 2\d{3}-\d\d-\d\d: requests that cost money return 402/,
      );
      expect(daily).toMatch(/resets 00:00 UTC, in \d+ (?:hour|minute)s?$/);
      const budget = await textOf(cards("Daily budget"));
      expect(budget).toMatch(/^Daily budget near all keys of Zoë Bell 0\.25 USD of 0\.30 USD/);
      const weekly = await textOf(cards("Weekly cap"));
      expect(weekly).toMatch(/^Weekly cap ok all keys of Zoë Bell, as each member of Search/);
      expect(weekly).toMatch(/0\.25 USD of 20\.00 USD \(1 %\) in the week of [\d-]+; 19\.75 USD left/);
      expect(weekly).toMatch(/resets Monday 00:00 UTC, in \d+ (?:day|hour|minute)s?$/);
      expect(await textOf(cards("Monthly cap"))).toContain(
        "the pool of all in Search: 1 user, 0 keys of its own",
      );
      expect(await textOf(cards("Total cap"))).toMatch(/all keys of Acme .*never resets$/);
      await expectAccessible(page);
    });

    it("shows what is over and what is near by words and bars, not by colour alone", async () => {
      await page.goto(`${base}/users/${ids.zoe}`);
      await cards("Daily cap").locator("svg.bar rect.full").waitFor();
      await cards("Daily budget").locator("svg.bar rect.high").waitFor();
      await cards("Weekly cap").locator("svg.bar rect.fine").waitFor();
      const bar = cards("Daily cap").getByRole("img", { name: "0.25 USD of a daily cap of 0.20 USD" });
      expect(await bar.count()).toBe(1);
    });

    it("leads from a key's page to whose limits they are", async () => {
      await page.goto(`${base}/keys/${ids.laptop}`);
      expect(await textOf(cards("Monthly cap").first())).toMatch(/^Monthly cap ok the key laptop only/);
      await expectStillAccessible(page);
      await cards("Daily cap").getByRole("link", { name: "Search" }).click();
      await page.getByRole("heading", { name: "Group Search" }).waitFor();
      expect(await textOf(cards("Monthly cap"))).toContain("the pool of all in Search");
      await cards("Total cap").getByRole("link", { name: /^Acme/ }).click();
      await page.getByRole("heading", { name: "Inference settings" }).waitFor();
      expect(await cards("").count()).toBe(1);
      await page.goto(`${base}/keys/${ids.laptop}`);
      await cards("Daily budget").getByRole("link", { name: "Zoë Bell" }).click();
      await page.getByRole("heading", { name: "User Zoë Bell" }).waitFor();
    });

    it("says where there is none what a limit would be for, on each owner's page", async () => {
      const own = await openOwnOrganization(getStack(), open);
      const create = async (kind: string) =>
        String((await getStack().admin("POST", `${own.api}/${kind}`, { name: "Free" }))["id"]);
      for (const [path, purpose] of [
        [`/keys/${await create("keys")}`, "bounds a single build or laptop"],
        [`/users/${await create("users")}`, "bounds all API keys of a person together"],
        [`/groups/${await create("groups")}`, "Its members share a limit"],
        ["/settings", "bounds the spend of the whole organization"],
      ] as const) {
        await own.page.goto(own.base + path);
        const section = own.page.getByRole("region", { name: "Spend against limits" });
        expect(await section.textContent()).toContain(purpose);
        expect(await section.getByRole("listitem").count()).toBe(0);
        expect(await own.page.getByRole("button", { name: "Raise the cap" }).count()).toBe(0);
        await own.page.getByText("No cap to increase").waitFor();
        await expectStillAccessible(own.page);
      }
    });

    it("fits a phone", async () => {
      const phone = await open({ viewport: PHONE, colorScheme: "dark" });
      await signIn(phone, getStack());
      const paths = [`/users/${ids.zoe}`, `/keys/${ids.laptop}`, `/groups/${ids.search}`, "/settings"];
      for (const path of firstOnPush(paths)) {
        await phone.goto(base + path);
        expect(await phone.getByRole("region", { name: "Spend against limits" }).count()).toBe(1);
        await expectNoSidewaysScroll(phone);
        await expectAccessible(phone);
      }
    });
  });

  describe("temporary raises", () => {
    const raises = () => page.getByRole("region", { name: "Temporary increases" });
    const unfold = () => raises().getByText("Raise a cap for a time").click();
    const fill = async (fields: { amount: string; until: string; reason: string }) => {
      if (!(await raises().getByLabel("By").isVisible())) await unfold();
      await raises().getByLabel("By").fill(fields.amount);
      await raises().getByLabel("Until (UTC)").fill(fields.until);
      await raises().getByLabel("Reason").fill(fields.reason);
      await raises().getByRole("button", { name: "Raise the cap" }).click();
    };
    const launch = { amount: "50.00", until: "2099-12-04T00:00", reason: "launch" };

    it("of a user are made, let its requests through, and are taken back", async () => {
      expect((await ask()).status).toBe(402);
      await page.goto(`${base}/users/${ids.zoe}`);
      await unfold();
      await raises().getByLabel("Raise the").selectOption("daily cap");
      await fill(launch);
      await page.getByText("Increased. Applies from the next request.").waitFor();
      const live = raises().getByRole("listitem");
      expect(await textOf(live)).toMatch(
        /^\+50\.00 USD a day until 2099-12-04 00:00 UTC: launch, by anna Remove/,
      );
      expect(await textOf(cards("Daily cap"))).toMatch(
        /^Daily cap ok .* 0\.25 USD of 50\.20 USD .* raised from 0\.20 USD by 50\.00 USD until 2099-12-04 00:00 UTC/,
      );
      await expectAccessible(page);
      expect((await ask("one word")).status).toBe(200);
      await live.getByRole("button", { name: "Remove" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await page.getByText("Removed. The previous cap applies from the next request.").waitFor();
      expect(await live.count()).toBe(0);
      expect((await ask()).status).toBe(402);
    });

    it("that the API refuses stay in the form, with the reason beside the field", async () => {
      await page.goto(`${base}/users/${ids.zoe}`);
      await fill({ amount: "5,5", until: "2020-01-01T00:00", reason: "too late" });
      expect(await page.locator('[id="raise.amount-problem"]').textContent()).toContain(
        "such as 50 or 50.00",
      );
      await fill({ amount: "5.50", until: "2020-01-01T00:00", reason: "too late" });
      expect(await page.locator('[id="raise.until-problem"]').textContent()).toContain(
        "a time in the future",
      );
      expect(await raises().getByLabel("Reason").inputValue()).toBe("too late");
      expect(await raises().getByLabel("By").inputValue()).toBe("5.50");
      await page.getByRole("alert").getByRole("link", { name: "raise: until" }).click();
      expect(new URL(page.url()).hash).toBe("#raise.until");
      expect(await page.getByLabel("Limits, row 1: amount").inputValue()).toBe("0.30");
      expect(await page.getByLabel("Limits, row 1: kind").inputValue()).toBe("budget");
      await expectAccessible(page);
      expect(await getStack().admin("GET", `${api}/users/${ids.zoe}`)).toMatchObject({ raises: [] });
    });

    it("are made of a key, a group and the organization, too, without JavaScript", async () => {
      const plain = await open({ javaScriptEnabled: false });
      const { token } = await getStack().admin("POST", `${api}/tokens`, { name: "bea", role: "admin" });
      await signIn(plain, getStack(), String(token));
      for (const path of [`/keys/${ids.laptop}`, `/groups/${ids.search}`, "/settings"]) {
        await plain.goto(base + path);
        const section = plain.getByRole("region", { name: "Temporary increases" });
        await section.getByText("Raise a cap for a time").click();
        await section.getByLabel("By").fill("7");
        await section.getByLabel("Until (UTC)").fill("2099-12-04T00:00");
        await section.getByLabel("Reason").fill("launch");
        await section.getByRole("button", { name: "Raise the cap" }).click();
        await plain.getByText("Increased. Applies").waitFor();
        const live = section.getByRole("listitem");
        expect(await live.innerText()).toContain("launch, by bea");
        await live.getByRole("button", { name: "Remove" }).click();
        await plain.getByText("Removed. The previous cap").waitFor();
        expect(await live.count()).toBe(0);
      }
    });

    it("are four at most, which the page says in place of the form", async () => {
      const path = `/groups/${ids.search}`;
      const body = { period: "month", add_cents: 100, expires_at: "2099-12-04T00:00:00Z", reason: "more" };
      await page.goto(base + path);
      for (let count = 0; count < 4; count += 1) await getStack().admin("POST", `${api}${path}/raises`, body);
      await fill(launch);
      await page.getByRole("alert").getByText("Four temporary increases are active").waitFor();
      expect(await raises().getByLabel("Reason").inputValue()).toBe("launch");
      await page.goto(base + path);
      await raises().getByText("4 increases are active, the maximum.").waitFor();
      expect(await raises().getByRole("listitem").count()).toBe(4);
    });

    it("are seen by viewers, who have no form and no button", async () => {
      const viewer = await open();
      const { token } = await getStack().admin("POST", `${api}/tokens`, { name: "v", role: "viewer" });
      await signIn(viewer, getStack(), String(token));
      await viewer.goto(`${base}/groups/${ids.search}`);
      const section = viewer.getByRole("region", { name: "Temporary increases" });
      expect(await section.getByRole("listitem").count()).toBe(4);
      expect(await section.getByRole("button").count()).toBe(0);
      expect(await section.getByRole("textbox").count()).toBe(0);
    });
  });

  describe("the lists of users and groups", () => {
    const cells = (name: string) =>
      page.getByRole("row", { name: new RegExp(name) }).locator('td[data-label="tightest limit"]');

    it("say who is over, and of which limit", async () => {
      await make("users", { name: "Yan", limits: [] });
      await page.goto(`${base}/users`);
      expect(await textOf(cells("Zoë Bell"))).toBe("0.25 of 0.20 daily cap");
      await cells("Zoë Bell").getByRole("img", { name: "0.25 USD of a daily cap of 0.20 USD" }).waitFor();
      expect(await textOf(cells("Yan"))).toBe("");
      await expectAccessible(page);
      await page.goto(`${base}/groups`);
      expect(await textOf(cells("Search"))).toMatch(/^0\.\d\d of [\d.]+ monthly cap$/);
      await page.getByRole("link", { name: "Search" }).click();
      expect(await textOf(cells("Zoë Bell"))).toBe("0.25 of 0.20 daily cap");
    });
  });

  describe("what needs attention", () => {
    const entries = () => page.getByRole("region", { name: "Needs attention" }).getByRole("listitem");
    const follow = async (text: RegExp, name: string): Promise<string> => {
      await page.goto(base);
      const more = page.getByText(/^\d+ more$/);
      if ((await more.count()) > 0) await more.click();
      await entries().filter({ hasText: text }).getByRole("link", { name, exact: true }).click();
      await page.getByRole("region", { name: "Needs attention" }).waitFor({ state: "detached" });
      const { pathname, search, hash } = new URL(page.url());
      return pathname.replace(/^\/organizations\/[^/]+/, "") + search + hash;
    };

    it("says which limit stopped whom today, and leads to these requests", async () => {
      const day = new Date().toISOString().slice(0, 10);
      const stopped = (await getStack().admin("GET", `${api}/requests?status=402`)) as { data: unknown[] };
      const count = stopped.data.length;
      expect(count).toBeGreaterThan(1);
      const text = `^Today ${count} requests were blocked by the daily hard cap of user "Zoë Bell", the last at [0-9:]{5} UTC[.]`;
      const path = await follow(new RegExp(text), "See these requests");
      expect(path).toBe(`/requests?status=user_hard_cap_reached&user_id=${ids.zoe}&from=${day}`);
      expect(await page.locator("#requests tbody tr:not(.group)").count()).toBe(count);
    });

    it("tells caps and budgets of any window, of the organization and of groups, with the way to their fields", async () => {
      await patch("", { limits: [row("week", "cap", 10), row("total", "budget", 20)] });
      await patch(`/groups/${ids.search}`, { limits: [row("day", "cap", 15)] });
      const past = { name: "Past", limits: [row("month", "budget", 0)] };
      const group = String((await make("groups", past))["id"]);
      await page.goto(base);
      await expectStillAccessible(page);
      for (const [text, label, path] of [
        [
          /^Weekly hard cap of 0\.10 USD for the organization reached: 0\.25 USD spent in the week of [\d-]+\. Requests that cost money return 402 until Monday 00:00 UTC\./,
          "Change this cap",
          "/settings#limits",
        ],
        [
          /^Total budget of 0\.20 USD for the organization reached: 0\.25 USD spent in total\./,
          "Change this budget",
          "/settings#limits",
        ],
        [
          /^Daily hard cap of 0\.15 USD for group "Search" reached: 0\.25 USD spent on /,
          "Change this cap",
          `/groups/${ids.search}#limits`,
        ],
        [
          /^Monthly budget of 0\.00 USD for group "Past" reached: 0\.00 USD spent in /,
          "Change this budget",
          `/groups/${group}#limits`,
        ],
      ] as const) {
        expect(await follow(text, label)).toBe(path);
      }
    });
  });
});
