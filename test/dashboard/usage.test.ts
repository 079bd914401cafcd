/** The figures of *Usage*: charts, tables and CSV tell the same, whatever is chosen. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { USAGE_COLUMNS } from "../../src/management/admin/usage-export/usage-table.ts";
import { firstOnPush } from "../support/extent.ts";
import { parseCsv } from "../support/parse-csv.ts";
import {
  type AdminUnderTest,
  createApiKey,
  createOrganization,
  OPERATOR_TOKEN,
  startAdmin,
} from "../admin/admin-fixture.ts";
import { CHROMIUM, expectAccessible, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";

const MICROCENTS_PER_UNIT = 100_000_000;
const DAY_MS = 86_400_000;
const PHONE = { width: 390, height: 844 };
const LAPTOP = "the laptop of somebody whose name is long, and goes on for longer than a phone is wide";

describe.skipIf(CHROMIUM === null)(`the figures of Usage${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  let admin: AdminUnderTest;
  let page: Page;
  let id = "";
  let base = "";
  const keys = { former: "", ci: "", laptop: "" };
  /** The newest first: today, and days that lie months behind it. */
  const days: string[] = [];

  async function use(keyId: string, day: string, units: number, tags = ""): Promise<void> {
    const model = "acme/echo-small";
    const row = {
      day,
      keyId,
      owners: "",
      model,
      tags,
      requests: 1,
      inputTokens: 100,
      cachedInputTokens: 10,
      outputTokens: 20,
      reasoningTokens: 0,
      cacheWriteTokens: 0,
      cacheWrite1hTokens: 0,
      inputAudioTokens: 0,
      outputAudioTokens: 0,
      estimatedRequests: 0,
      costMicrocents: BigInt(units * MICROCENTS_PER_UNIT),
      toolMicrocents: 0n,
    };
    await admin.store.raiseUsage(id, { day, keyId, owners: "", model, rows: [row] }, []);
  }

  beforeAll(async () => {
    admin = await startAdmin();
    id = await createOrganization(admin, { name: "Acme" });
    base = `${admin.url}/organizations/${id}/usage`;
    const make = async (name: string) => (await createApiKey(admin, id, { name })).id;
    keys.former = await make("ci");
    await admin.ok("DELETE", `/api/organizations/${id}/keys/${keys.former}`);
    keys.ci = await make("ci");
    keys.laptop = await make(LAPTOP);
    const nowMs = await admin.store.timeMs();
    days.push(...[0, 40, 75, 150].map((age) => new Date(nowMs - age * DAY_MS).toISOString().slice(0, 10)));
    for (const [position, day] of days.entries()) {
      await use(keys.former, day, 8 + position, "team=search");
      await use(keys.ci, day, 4 + position, "team=platform");
      await use(keys.laptop, day, 1 + position);
    }
    page = await open();
    await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
  }, 120_000);
  afterAll(() => admin.stop());

  const section = (name: string) => page.locator(`section[aria-labelledby="${name}"]`);
  /** Column → its sum, as the chart says it. */
  async function readChart(name: string): Promise<Map<string, string>> {
    const labels = await page
      .getByRole("group", { name })
      .getByRole("img")
      .evaluateAll((spots) => spots.map((spot) => spot.getAttribute("aria-label") ?? ""));
    return new Map(
      labels.map((label) => {
        const [column = "", sum = ""] = label.split(", ");
        return [column, sum];
      }),
    );
  }
  /** Row → its cost, but for the sum of all. */
  async function readTable(name: string): Promise<Map<string, string>> {
    const rows = await section(name).locator("tbody tr:not(.total)").all();
    return new Map(
      await Promise.all(
        rows.map(
          async (row) =>
            [
              ((await row.getByRole("rowheader").textContent()) ?? "").trim(),
              ((await row.getByRole("cell").last().textContent()) ?? "").trim(),
            ] as const,
        ),
      ),
    );
  }

  it("a chart of days and the table beneath say the same of each day", async () => {
    await page.goto(`${base}?from=${days[1]}&to=${days[0]}`);
    const chart = await readChart("Cost by key");
    const table = await readTable("by-day");
    expect([...table.keys()]).toEqual([days[1], days[0]]);
    for (const [day, cost] of table) expect(chart.get(day)).toBe(cost);
  });

  it("a chart of months has a table of months beneath, with the sum of each column", async () => {
    await page.goto(base);
    await page.getByRole("link", { name: "12 months" }).click();
    await page.getByRole("heading", { name: "By month" }).waitFor();
    const chart = await readChart("Cost by key");
    const table = await readTable("by-day");
    expect(chart.size).toBeGreaterThanOrEqual(12);
    expect(table.size).toBeGreaterThanOrEqual(3);
    for (const [month, cost] of table) expect(chart.get(month)).toBe(cost);
    await expectAccessible(page);
  });

  it("a key that was made anew under the name of a deleted one is another series and another row", async () => {
    await page.goto(`${base}?from=${days[3]}&to=${days[0]}`);
    const names = [...(await readTable("by-key")).keys()];
    expect(names).toEqual([`ci (…${keys.former.slice(-4)})`, `ci (…${keys.ci.slice(-4)})`, LAPTOP]);
    expect(await section("chart").locator(".legend li").allTextContents()).toEqual(names);
  });

  it("a chart is stacked by model as well, and shows a column's values on hover", async () => {
    await page.goto(base);
    await page.getByLabel("Grouped by", { exact: true }).selectOption("model");
    await page.getByRole("button", { name: "Show" }).click();
    await page.waitForURL(/by=model/);
    const spot = page.getByRole("group", { name: "Cost by model" }).locator(".spot").last();
    expect(await spot.locator(".tip").isVisible()).toBe(false);
    await spot.locator(".reach").hover();
    expect(await spot.locator(".tip").isVisible()).toBe(true);
    expect(await section("chart").locator(".legend li").allTextContents()).toContain("acme/echo-small");
  });

  it("what was credited stands below the axis, and in the sum of its day", async () => {
    await admin.ok("POST", `/api/organizations/${id}/spend-corrections`, {
      body: { amount_cents: -2_000, reason: "credit" },
    });
    await page.goto(`${base}?from=${days[0]}&to=${days[0]}`);
    expect((await readTable("by-key")).get("spend corrections")).toBe("-20.00 USD");
    const said = page.getByRole("group", { name: "Cost by key" }).getByRole("img").first();
    expect(await said.getAttribute("aria-label")).toContain("spend corrections: -20.00 USD");
    expect(await readChart("Cost by key")).toEqual(new Map([[days[0], "-7.00 USD"]]));
    expect((await readTable("by-day")).get(days[0] ?? "")).toBe("-7.00 USD");
    await page.goto(`${admin.url}/organizations/${id}`);
    expect(await page.getByRole("group", { name: /spent in/ }).getAttribute("aria-label")).toContain(
      "-7.00 USD spent",
    );
  });

  it("a deleted key that is filtered by keeps its name, also in days without any usage of it", async () => {
    await page.goto(`${base}?key_id=${keys.former}&from=2020-01-01&to=2020-01-07`);
    await page.getByText("No usage in these days.").waitFor();
    const chosen = page.getByLabel("Key", { exact: true }).locator("option:checked");
    expect(await chosen.textContent()).toBe("ci");
    await page.goto(`${admin.url}/organizations/${id}/requests?key_id=${keys.former}`);
    expect(await chosen.textContent()).toMatch(/^ci\b/);
  });

  it("the CSV has the columns of every export, and the tag that the usage is grouped by", async () => {
    await page.goto(`${base}?by=tag:team&from=${days[1]}&to=${days[1]}`);
    const href = await page.getByRole("link", { name: "Download CSV" }).getAttribute("href");
    const csv = await (await page.request.get(admin.url + String(href))).text();
    const { columns, rows } = parseCsv(csv);
    expect(columns).toEqual(USAGE_COLUMNS.map(([name]) => name));
    expect(rows.map((row) => [row["key_name"], row["model"], row["tags"]].join(" ")).toSorted()).toEqual(
      [
        "ci acme/echo-small team=platform",
        "ci acme/echo-small team=search",
        `${LAPTOP} acme/echo-small `,
      ].toSorted(),
    );
  });

  it.each(
    firstOnPush([
      ["a phone", PHONE],
      ["a screen", null],
    ] as const),
  )(
    "on %s no label of a chart collides with another, and every value stands in its box",
    async (_, viewport) => {
      const view = await open(viewport === null ? {} : { viewport });
      await signIn(view, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
      for (const from of [days[0], days[1], days[2], days[3]]) {
        await view.goto(`${base}?from=${from}&to=${days[0]}`);
        const chart = view.getByRole("group", { name: "Cost by key" });
        const labels = await chart.locator("g > text:not(.tip text)").evaluateAll((texts) =>
          texts.map((text) => {
            const { left, right, top, bottom } = text.getBoundingClientRect();
            return { text: text.textContent ?? "", left, right, top, bottom };
          }),
        );
        const collisions = labels.flatMap((one, index) =>
          labels
            .slice(index + 1)
            .filter(
              (other) =>
                one.left < other.right &&
                other.left < one.right &&
                one.top + 2 < other.bottom &&
                other.top + 2 < one.bottom,
            )
            .map((other) => `${one.text} and ${other.text}`),
        );
        expect(collisions).toEqual([]);
        // A box that is not shown has its place all the same.
        const outside = await chart.locator(".tip").evaluateAll((tips) =>
          tips.flatMap((tip) => {
            const frame = tip.closest("svg")?.getBoundingClientRect();
            const box = tip.querySelector("rect")?.getBoundingClientRect();
            if (frame === undefined || box === undefined) return ["no box"];
            const cut = [...tip.querySelectorAll("text")].filter((text) => {
              const { right, bottom } = text.getBoundingClientRect();
              return right > box.right + 1 || bottom > box.bottom + 1;
            });
            const isInside = box.left >= frame.left && box.right <= frame.right && box.bottom <= frame.bottom;
            return [...cut.map((text) => text.textContent ?? ""), ...(isInside ? [] : ["the box"])];
          }),
        );
        expect(await chart.locator(".tip").count()).toBeGreaterThan(0);
        expect(outside).toEqual([]);
      }
    },
  );

  it.each([
    { kind: "user", label: "User", name: "Ann Smith", amount: "3.00" },
    { kind: "group", label: "Group", name: "Research", amount: "4.00" },
  ])(
    "a correction of a $kind is in its spend, and in Usage by $kind",
    async ({ kind, label, name, amount }) => {
      const owner = await admin.ok("POST", `/api/organizations/${id}/${kind}s`, { body: { name } });
      await page.goto(`${base}/corrections`);
      await page.getByLabel("Amount").fill(amount);
      await page.getByLabel(label, { exact: true }).fill("Nowhere");
      await page.getByLabel("Reason").fill("a job of last night");
      await page.getByRole("button", { name: "Correct" }).click();
      await page.locator(`#${kind}_id-problem`).getByText(`unknown ${kind}`).waitFor();
      await page.getByLabel(label, { exact: true }).fill(name);
      await page.getByRole("button", { name: "Correct" }).click();
      await page.getByText("Spend corrected.").waitFor();
      await page.getByLabel("Grouped by", { exact: true }).selectOption(kind);
      await page.getByLabel(label, { exact: true }).fill(name);
      await page.getByRole("button", { name: "Show" }).click();
      await page.waitForURL(new RegExp(`by=${kind}`));
      expect((await readTable(`by-${kind}`)).get(name)).toBe(`${amount} USD`);
      await section(`by-${kind}`).getByRole("link", { name }).click();
      await page.waitForURL(new RegExp(`${kind}_id=${String(owner["id"])}`));
      await page.goto(`${admin.url}/organizations/${id}/${kind}s`);
      await page.getByRole("row", { name }).getByText(`${amount} USD`).waitFor();
    },
  );

  it("a tag that is none is said beside the fields, which keep it", async () => {
    const answer = await page.goto(`${base}?tag=search`);
    expect(answer?.status()).toBe(400);
    await page.getByRole("alert").getByText("Tag: expected").waitFor();
    expect(await page.getByLabel("Tag", { exact: true }).inputValue()).toBe("search");
    await expectAccessible(page);
  });
});
