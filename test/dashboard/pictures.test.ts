/** Every page with sample data (camera.ts): accessible, and no wider than its screen. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AdminUnderTest, createOrganization, OPERATOR_TOKEN } from "../admin/admin-fixture.ts";
import { CHROMIUM, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";
import { ALL_VIEWS, DIRECTORY, expectPage, isWanted, SIZES, takeFaults } from "./camera.ts";
import { drawSheet } from "./contact-sheet.ts";
import { PICTURED_PAGES, SHEETS } from "./pictured-pages.ts";
import { startPicturedSample } from "./pictured-sample.ts";
import { startSample } from "./sample.ts";

/** For the long form; what hangs is given up all the same. */
const HOUR_MS = 3_600_000;

const WANTED = Object.entries(PICTURED_PAGES).filter(([name]) => isWanted(name));

describe.skipIf(CHROMIUM === null)(`pictures of sample data${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  it.each(SIZES)(
    "every page with %d API keys",
    async (keys) => {
      const { admin, urlOf, beginSession } = await startPicturedSample(keys, keys === 300 ? 42 : 2);
      for (const reader of [undefined, "member", "key", "nobody"] as const) {
        const pages = WANTED.filter(([, page]) => page.as === reader);
        if (pages.length === 0) continue;
        const page = await open();
        if (reader !== "nobody") {
          const cookie = { name: "igw_session", value: await beginSession(reader), url: admin.url };
          await page.context().addCookies([cookie]);
        }
        for (const [name, one] of pages) {
          await expectPage(page, { name: `${name}-${keys}`, url: urlOf(one) });
        }
      }
      expect([...takeFaults(), ...errorsOf(admin)]).toEqual([]);
    },
    HOUR_MS,
  );

  it(
    "every page of an empty organization",
    async () => {
      const { admin } = await startSample(1);
      onTestFinished(() => admin.stop());
      const organization = await createOrganization(admin, { name: "Empty" });
      const page = await open();
      await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
      for (const [name, { route, query = "", as }] of WANTED) {
        const path = route.replace(":organization", organization);
        if (as !== undefined || path === route || path.includes(":")) continue;
        await expectPage(page, { name: `${name}-empty`, url: admin.url + path + query });
      }
      expect([...takeFaults(), ...errorsOf(admin)]).toEqual([]);
    },
    HOUR_MS,
  );

  it.runIf(isWanted("broken"))("what is missing, refused or unreachable", async () => {
    const { admin, filled } = await startSample(8);
    const base = `${admin.url}/organizations/${filled.id}`;
    const page = await open();
    await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
    await expectPage(page, { name: "broken-missing", url: `${base}/keys/key_0`, status: 404 });
    await page.goto(`${base}/keys/new`);
    await expectPage(page, {
      name: "broken-refused",
      act: async () => {
        await page.getByLabel("Name", { exact: true }).fill("ci");
        await page.getByLabel("Requests per minute").fill("many");
        await page.getByRole("button", { name: "Create" }).click();
        await page.getByText("expected a whole number").first().waitFor();
      },
    });
    expect(errorsOf(admin)).toEqual([]);
    await admin.redis.stop();
    await expectPage(page, { name: "broken-redis", url: base, status: 503 });
    expect(takeFaults()).toEqual([]);
    await admin.stop();
  });

  it.runIf(DIRECTORY !== undefined)(
    "each page has its sheet",
    async () => {
      const page = await open();
      for (const name of SHEETS.filter(isWanted)) {
        const states = name === "broken" ? ["missing", "refused", "redis"] : ["300", "8", "empty"];
        const rows = states
          .map((state) => ({
            paths: ALL_VIEWS.map(({ device, scheme }) => {
              const path = join(DIRECTORY ?? "", `${name}-${state}-${device}-${scheme}.png`);
              return existsSync(path) ? path : "";
            }),
          }))
          .filter(({ paths }) => paths.some((path) => path !== ""));
        mkdirSync(SHEETS_DIRECTORY, { recursive: true });
        expect(rows).not.toEqual([]);
        writeFileSync(join(SHEETS_DIRECTORY, `${name}.webp`), await drawSheet(page, rows));
      }
    },
    HOUR_MS,
  );
});

const SHEETS_DIRECTORY = join(import.meta.dirname, "../../docs/images/pages");

const errorsOf = ({ logs }: AdminUnderTest) => logs.filter(({ level }) => level === "error");
