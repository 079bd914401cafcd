/** What people trip over: an API key in the wrong field, UTC, a burst, a phone, a log that says too much. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { byExtent } from "../support/extent.ts";
import { callCli } from "../cli/call-cli.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  expectNoSidewaysScroll,
  signIn,
  SKIPPED_WHY,
  withBrowser,
} from "./browser.ts";
import { fillMonth, type FilledMonth } from "./filled-month.ts";

const ZONE = "America/New_York";
const PHONE = { width: 390, height: 844 };
const TABLET = { width: 768, height: 1024 };
const HALVES = byExtent({
  push: [],
  nightly: [["a laptop's half tables stay tables", { width: 1024, height: 768 }]] as const,
});
const UTC_TIME = /\d{4}-\d{2}-\d{2} \d{2}:\d{2}(:\d{2})? UTC/;

/** Reads the cells of a page's tables: what is written, and whether a reader sees the whole of it. */
async function readCells(page: Page) {
  return page.locator("table.stack tbody td, table.list tbody td").evaluateAll((found) =>
    found.map((cell) => {
      const range = cell.ownerDocument.createRange();
      range.selectNodeContents(cell.firstElementChild ?? cell);
      const parts = Array.from(range.getClientRects(), ({ left, right, top }) => ({ left, right, top }));
      const { top, height } = cell.getBoundingClientRect();
      const row = cell.parentElement!;
      const frame = cell.closest(".scroll")!.getBoundingClientRect();
      const window = cell.ownerDocument.defaultView!;
      const isShown = height > 0;
      return {
        label: cell.getAttribute("data-label") ?? "",
        text: cell.textContent ?? "",
        display: window.getComputedStyle(row).display,
        isCard: cell.closest(".stack:not(.usage)") !== null,
        isShown,
        isWhole: parts.every(({ left, right }) => left >= frame.left && right <= frame.right),
        isBelow: isShown && top >= row.firstElementChild!.getBoundingClientRect().bottom - 1,
        lines: new Set(parts.map(({ top: line }) => Math.round(line))).size,
      };
    }),
  );
}

describe.skipIf(CHROMIUM === null)(`details of the dashboard${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  let admin: AdminUnderTest;
  let filled: FilledMonth;
  let busy = "";
  /** Without any usage: made for what a test changes. */
  let quiet = "";
  let page: Page;
  const openSignedIn = async (options: Parameters<typeof open>[0] = {}): Promise<Page> => {
    const opened = await open(options);
    await signIn(opened, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
    return opened;
  };
  beforeAll(async () => {
    admin = await startAdmin();
    filled = await fillMonth(admin, await admin.store.timeMs());
    busy = `${admin.url}/organizations/${filled.id}`;
    quiet = `/organizations/${await createOrganization(admin, { name: "Quiet" })}`;
    page = await openSignedIn({ locale: "en-US", timezoneId: ZONE });
  }, 120_000);
  afterAll(() => admin.stop());

  it("an API key signs in to its own page, and is neither on the page nor in a log", async () => {
    const { key } = await createApiKey(admin, quiet.replace("/organizations/", ""), { name: "typed" });
    const stranger = await open();
    await stranger.goto(`${admin.url}/sign-in`);
    await stranger.getByLabel("Token").fill(` ${key} `);
    await stranger.getByRole("button", { name: "Sign in" }).click();
    await stranger.getByRole("heading", { level: 1, name: 'API key "typed"' }).waitFor();
    await stranger.getByText("No usage yet.").waitFor();
    await stranger.getByText("Snippets for acme/echo-small").click();
    expect(
      await stranger.getByRole("region", { name: "curl, OpenAI chat completions, code" }).textContent(),
    ).toContain("$API_KEY");
    expect(await stranger.content()).not.toContain(key);
    expect(stranger.url()).not.toContain(key);
    expect(JSON.stringify(admin.logs)).not.toContain(key);
    await expectAccessible(stranger);
  });

  it("the audit log has what has changed alone, and says all where a list that is empty means all", async () => {
    const { id } = await createApiKey(admin, quiet.replace("/organizations/", ""), { name: "narrow" });
    const change = (body: object) => admin.ok("PATCH", `/api${quiet}/keys/${id}`, { body });
    await change({ allowed_models: ["acme/echo-small"] });
    await change({ allowed_models: null, requests_per_minute: 60 });
    await change({ requests_per_minute: 60, hard_cap_cents: 4_000 });
    await page.goto(`${admin.url}${quiet}/audit`);
    const made = page.getByRole("row", { name: /API key created narrow/ }).getByRole("listitem");
    const begun = ["name: narrow", "requests per minute: 600"];
    expect(await made.allTextContents()).toEqual(begun);
    const changes = page.getByRole("row", { name: /API key changed narrow/ }).getByRole("list");
    expect(await changes.evaluateAll((lists) => lists.map((list) => list.textContent))).toEqual([
      "hard cap: none → 40.00 USD",
      expect.stringMatching(
        /^(requests per minute: 600 → 60allowed models: acme\/echo-small → all|allowed models: acme\/echo-small → allrequests per minute: 600 → 60)$/,
      ),
      "allowed models: all → acme/echo-small",
    ]);
  });

  it("the audit log says of what is made what was off or empty in place of what it begins with", async () => {
    const fields = { name: "Silent", notifications: { dashboard: false } };
    const silent = await createOrganization(admin, fields);
    await page.goto(`${admin.url}/organizations/${silent}/audit`);
    const row = page.getByRole("row", { name: /Organization created Silent/ });
    await row.getByText("more").click();
    const made = row.getByRole("listitem");
    expect(await made.allTextContents()).toContain("notifications: dashboard: no");
  });

  it("a rate stands beside the burst that it gives on the key's own page", async () => {
    await page.goto(`${busy}/keys`);
    await page.getByRole("link", { name: "support-assistant", exact: true }).click();
    const rate = page.getByText(/600 requests per minute/);
    expect(await rate.textContent()).toMatch(/600 requests per minute, burst 60; \d+ left now/);
  });

  it("limits of tokens stand on the key's page as they are now, and in its form", async () => {
    const limits = {
      tokens_per_minute: 60_000,
      output_tokens_per_minute: 1_000,
      count_cached_tokens: "always",
    };
    const { id } = await createApiKey(admin, quiet.split("/").at(-1) ?? "", { name: "limited", ...limits });
    await page.goto(`${admin.url}${quiet}/keys/${id}`);
    await page.getByText("60,000 tokens per minute; 60,000 left now", { exact: true }).waitFor();
    await page.getByText("1,000 output tokens per minute; 1,000 left now", { exact: true }).waitFor();
    expect(await page.getByLabel("Output tokens per minute").inputValue()).toBe("1000");
    expect(await page.getByLabel("Cached tokens count").inputValue()).toBe("always");
  });

  it("a key past its budget looks like it, in the list and on its own page", async () => {
    await page.goto(`${busy}/keys`);
    const row = page.getByRole("row", { name: /support-assistant/ });
    await row.getByText("over budget", { exact: true }).waitFor();
    expect(await row.locator("svg.bar rect.high").count()).toBe(1);
    await row.getByRole("link").click();
    await page.getByText("over budget", { exact: true }).first().waitFor();
  });

  it("keys and organizations are in the same states in the dashboard and on the command line", async () => {
    const limits = { hard_cap_cents: 200, budget_cents: 100 };
    const states = new Map<string, string>();
    const make = async (state: string, { fields = {}, cents = 0 }: { fields?: object; cents?: number }) => {
      const name = `It is ${state}`;
      const id = await createOrganization(admin, { name, ...fields });
      const body = { amount_cents: cents, reason: "test" };
      if (cents > 0) await admin.ok("POST", `/api/organizations/${id}/spend-corrections`, { body });
      if (state === "suspended") {
        await admin.ok("PATCH", `/api/organizations/${id}`, { body: { suspended: true } });
      }
      states.set(name, state);
    };
    await make("active", { fields: limits, cents: 50 });
    await make("over budget", { fields: limits, cents: 150 });
    await make("cap reached", { fields: limits, cents: 250 });
    await make("suspended", { fields: limits, cents: 250 });
    const env = { IGW_ADMIN_URL: admin.url, IGW_ADMIN_TOKEN: OPERATOR_TOKEN };
    const organizations = (await callCli(["org", "list", "--wide"], { env })).stdout;
    await page.goto(`${admin.url}/organizations`);
    for (const [name, state] of states) {
      await page.getByRole("row", { name }).locator(".state").getByText(state, { exact: true }).waitFor();
      expect(organizations).toMatch(new RegExp(`${name} .* ${state} *\n`));
    }
    const keys = (await callCli(["key", "list", "--wide", "--org", filled.id], { env })).stdout;
    await page.goto(`${busy}/keys`);
    const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") });
    expect(await rows.count()).toBe(filled.keyIds.length - 1);
    for (const row of await rows.all()) {
      const name = await row.getByRole("rowheader").getByRole("link").textContent();
      expect(keys).toMatch(new RegExp(`${name} .* ${await row.locator(".state").textContent()} *\n`));
    }
  });

  it("requests are narrowed down to those of one upstream, in the address", async () => {
    const upstreams = page.locator('#requests td[data-label="upstream"]');
    await page.goto(`${busy}/requests?column=upstream`);
    expect((await upstreams.allTextContents()).join()).toMatch(/vllm-east.*vllm-west/);
    await page.getByLabel("Upstream", { exact: true }).selectOption("vllm-west");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.waitForURL(/upstream=vllm-west/);
    const left = await upstreams.allTextContents();
    expect(left.length).toBeGreaterThan(0);
    expect(left.filter((text) => text !== "vllm-west")).toEqual([]);
    expect(await page.getByLabel("Upstream", { exact: true }).inputValue()).toBe("vllm-west");
    const { data } = (await admin.ok(
      "GET",
      `/api/organizations/${filled.id}/requests?upstream=vllm-west&status=5xx`,
    )) as { data: { status: number; upstream: { name: string } }[] };
    expect(data.length).toBeGreaterThan(0);
    expect(data.filter(({ status, upstream }) => status < 500 || upstream.name !== "vllm-west")).toEqual([]);
  });

  it("a request of a deleted key says so and leads to what is left of it", async () => {
    await page.goto(`${busy}/requests?key_id=${filled.keyIds[7]}`);
    await page.locator("#requests tbody tr:not(.group)").first().getByRole("link").first().click();
    await page.getByText("deleted; these are its requests").waitFor();
    const link = page.locator("dl.pairs").getByRole("link");
    const answer = page.waitForResponse((response) => response.url().includes("/requests?key_id="));
    await link.click();
    expect((await answer).status()).toBe(200);
    expect(await page.locator("#requests tbody tr:not(.group)").count()).toBeGreaterThan(0);
  });

  it("a request that was refused before its model was known has none, and its page says why", async () => {
    await page.goto(`${busy}/requests?status=model_not_found`);
    expect(new Set(await page.locator('#requests td[data-label="model"]').allTextContents())).toEqual(
      new Set(["–"]),
    );
    await page.locator("#requests tbody tr:not(.group)").first().getByRole("link").first().click();
    await page.getByText("not read before the rejection").waitFor();
  });

  it("on a phone the operator's header has three rows, and a cause of one long word stays on its page", async () => {
    const phone = await openSignedIn({ viewport: PHONE });
    await phone.goto(`${busy}/requests?status=503`);
    const tops = await phone
      .locator("header.top > *")
      .evaluateAll((parts) =>
        parts.map((part) => part.getBoundingClientRect()).map(({ top, height }) => top + height / 2),
      );
    const rows = tops
      .toSorted((one, other) => one - other)
      .filter((middle, index, all) => middle - (all[index - 1] ?? -100) > 15);
    expect(rows).toHaveLength(3);
    await phone.getByLabel("Go to another organization").waitFor();
    await phone.locator("#requests tbody tr:not(.group)").first().getByRole("link").first().click();
    await phone.getByText(/^The upstream \S+ could not be connected to; the client received 503/).waitFor();
    await phone.getByText("remote_connection_failure").waitFor();
    await expectNoSidewaysScroll(phone);
    await expectStillAccessible(phone);
  });

  it.each(["/keys", `/keys/{key}`, "/requests", "/requests/{first}", "/audit"])(
    "%s has every time in UTC, and in the reader's own zone on hover",
    async (path) => {
      await page.goto(busy + path.replace("{key}", filled.keyIds[0] ?? "").replace("/{first}", ""));
      if (path.includes("{first}")) {
        await page.locator("#requests tbody tr:not(.group)").first().getByRole("link").first().click();
        await page.getByRole("heading", { name: "Timeline" }).waitFor();
      }
      const times = await page.locator("main time").evaluateAll((found) =>
        found.map((time) => ({
          at: time.getAttribute("datetime") ?? "",
          shown: time.textContent ?? "",
          isListed: (time.closest("table")?.querySelector("tr.group") ?? null) !== null,
          title: (time.getAttribute("title") ?? "").replaceAll(/\s/g, " "),
        })),
      );
      expect(times.length).toBeGreaterThan(0);
      for (const { at, shown, title, isListed } of times) {
        // The day of a listed request is the heading above it.
        expect(shown).toMatch(isListed ? /^\d{2}:\d{2}:\d{2}$/ : UTC_TIME);
        const clock = new Intl.DateTimeFormat("en-US", { timeStyle: "medium", timeZone: ZONE });
        expect(title).toContain(clock.format(new Date(at)).replaceAll(/\s/g, " "));
        expect(title).toMatch(/E[SD]T$/);
      }
      await page.locator("main time").evaluateAll((found) => found.forEach((time) => time.remove()));
      expect(await page.locator("main").textContent()).not.toMatch(UTC_TIME);
    },
  );

  it("the page of a new key has it in every snippet, and no other page has it", async () => {
    await page.goto(`${admin.url}${quiet}/keys/new`);
    await page.getByLabel("Name").fill("fresh");
    await page.getByRole("button", { name: "Create the key" }).click();
    const secret = await page.getByLabel('API key "fresh"').inputValue();
    expect(secret).toMatch(/^sk-igw-/);
    const snippets = await page
      .locator("pre code")
      .evaluateAll((codes) => codes.map((code) => ({ id: code.id, text: code.textContent ?? "" })));
    const idsOf = (list: typeof snippets) => list.map(({ id }) => id);
    expect(idsOf(snippets)).toEqual(
      expect.arrayContaining([
        "curl",
        "curl-responses",
        "curl-messages",
        "claude-code",
        "codex",
        "cursor",
        "opencode",
      ]),
    );
    expect(idsOf(snippets.filter(({ text }) => !text.includes(secret)))).toEqual([]);
    expect(
      idsOf(snippets.filter(({ text }) => /\$API_KEY|env\.API_KEY|env:API_KEY|environ/.test(text))),
    ).toEqual([]);
    await expectAccessible(page);
    for (const path of ["/keys", "/try", "/audit"]) {
      await page.goto(`${admin.url}${quiet}${path}`);
      expect(await page.content()).not.toContain(secret);
    }
  });

  it.each([["a phone rows are cards", PHONE], ["a tablet tables stay tables", TABLET], ...HALVES] as const)(
    "on %s, and no amount of money is hidden or cut off",
    async (_, viewport) => {
      const small = await openSignedIn({ viewport });
      const isPhone = viewport === PHONE;
      for (const path of ["", "/keys", "/usage", "/requests", "/models"]) {
        await small.goto(busy + path);
        await expectNoSidewaysScroll(small);
        const cells = await readCells(small);
        expect(new Set(cells.map(({ display }) => display))).toEqual(
          new Set([isPhone ? "grid" : "table-row"]),
        );
        // The list of requests has columns to choose: on a narrow screen it keeps the cost of the usual ones. A phone's tables of usage have the cost.
        const isShort = path === "/requests" || (isPhone && path !== "/models");
        const isMoney = isShort
          ? /^(cost|spent|tightest limit)$/
          : /^(cost|spent|input|output|tightest limit)$/;
        const money = cells.filter(({ label, text }) => isMoney.test(label) && text !== "");
        expect(money.length).toBeGreaterThan(0);
        for (const { text, label, isShown, isWhole } of money) {
          expect([path, label, text, isShown, isWhole]).toEqual([path, label, text, true, true]);
        }
        const cards = cells.filter(({ isCard, text }) => isCard && text !== "");
        expect(cards.filter(({ isShown }) => isPhone && !isShown)).toEqual([]);
        expect(cards.filter(({ isBelow }) => isBelow !== isPhone)).toEqual([]);
        const figures = cells.filter(
          ({ label, text }) => label !== "status" && /^[\d,.]+( USD)?$/.test(text),
        );
        expect(figures.length).toBeGreaterThan(0);
        expect(figures.filter(({ lines }) => lines > 1)).toEqual([]);
      }
    },
  );

  it("costs have the same number of digits in a column, also where the parts of one are multiplied", async () => {
    const digitsOf = (texts: readonly string[]) =>
      new Set(texts.filter((text) => text !== "none").map((text) => /\.(\d+)/.exec(text)?.[1]?.length ?? 0));
    await page.goto(`${busy}/requests`);
    expect(digitsOf(await page.locator('td[data-label="cost"]').allTextContents()).size).toBe(1);
    await page.goto(`${busy}/requests?status=200`);
    await page.locator("#requests tbody tr:not(.group)").first().getByRole("link").first().click();
    await page.getByRole("heading", { name: "Timeline" }).waitFor();
    expect(digitsOf(await page.locator('td[data-label="cost"]').allTextContents()).size).toBe(1);
    expect(digitsOf(await page.locator('td[data-label="price per million"]').allTextContents()).size).toBe(1);
  });

  it("only ids are monospaced in the list of requests", async () => {
    await page.goto(`${busy}/requests`);
    const families = await page
      .locator("#requests td, #requests th")
      .evaluateAll((found) => [
        ...new Set(found.map((cell) => cell.ownerDocument.defaultView?.getComputedStyle(cell).fontFamily)),
      ]);
    expect(families).toHaveLength(1);
    expect(families[0]).not.toContain("mono");
  });
});
