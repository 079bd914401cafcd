/** Every page with sample data (camera.ts): accessible, and no wider than its screen. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type AdminUnderTest, OPERATOR_TOKEN } from "../admin/admin-fixture.ts";
import { byExtent } from "../support/extent.ts";
import { CHROMIUM, prepareAxe, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";
import { DEVICES, DIRECTORY, expectPage, isWanted, keptViews, pathOf, SIZES, takeFaults } from "./camera.ts";
import { drawSheet, type SheetPicture } from "./contact-sheet.ts";
import { PICTURED_PAGES, SHEETS } from "./pictured-pages.ts";
import { lackOf, type PicturedSample, startEmptySample, startPicturedSample } from "./pictured-sample.ts";
import { startSample } from "./sample.ts";

/** For the long form; what hangs is given up all the same. */
const HOUR_MS = 3_600_000;

/** All that is wanted where pictures are kept and at night. */
const IS_WHOLE = DIRECTORY !== undefined || byExtent({ push: false, nightly: true });
const WANTED = Object.entries(PICTURED_PAGES).filter(
  ([name, { repeats }]) => isWanted(name) && (IS_WHOLE || repeats !== "always"),
);

describe.skipIf(CHROMIUM === null)(`pictures of sample data${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  /** Returns what is wrong. */
  async function lookAt(
    { admin, urlOf, beginSession }: PicturedSample,
    state: string,
    wanted: typeof WANTED,
  ): Promise<readonly unknown[]> {
    for (const reader of [undefined, "member", "key", "nobody"] as const) {
      const pages = wanted.filter(([, page]) => page.as === reader);
      if (pages.length === 0) continue;
      const page = await open();
      if (DIRECTORY === undefined) await prepareAxe(page);
      page.setDefaultTimeout(HOUR_MS);
      if (reader !== "nobody") {
        const cookie = { name: "igw_session", value: await beginSession(reader), url: admin.url };
        await page.context().addCookies([cookie]);
      }
      for (const [name, one] of pages) {
        await expectPage(page, { name, state, url: urlOf(one) });
      }
    }
    return [...takeFaults(), ...errorsOf(admin)];
  }

  it.each(SIZES)(
    "every page with %d API keys",
    async (keys) => {
      const sample = await startPicturedSample(keys, keys === 300 ? 42 : 2);
      expect(await lookAt(sample, String(keys), WANTED)).toEqual([]);
    },
    HOUR_MS,
  );

  it.each(["organizations", "things", "use"] as const)(
    "every page that is empty without %s",
    async (lack) => {
      const empty = WANTED.filter(
        ([, page]) => lackOf(page) === lack && (IS_WHOLE || page.repeats === undefined),
      );
      expect(await lookAt(await startEmptySample(lack), "empty", empty)).toEqual([]);
    },
    HOUR_MS,
  );

  it.runIf(isWanted("broken"))("what is missing, refused or unreachable", async () => {
    const { admin, filled } = await startSample(8);
    const base = `${admin.url}/organizations/${filled.id}`;
    const page = await open();
    await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
    await expectPage(page, { name: "broken", state: "missing", url: `${base}/keys/key_0`, status: 404 });
    await page.goto(`${base}/keys/new`);
    await expectPage(page, {
      name: "broken",
      state: "refused",
      act: async () => {
        await page.getByLabel("Name", { exact: true }).fill("ci");
        await page.getByLabel("Requests per minute").fill("many");
        await page.getByRole("button", { name: "Create" }).click();
        await page.getByText("expected a whole number").first().waitFor();
      },
    });
    expect(errorsOf(admin)).toEqual([]);
    await admin.redis.stop();
    await expectPage(page, { name: "broken", state: "redis", url: base, status: 503 });
    expect(takeFaults()).toEqual([]);
    await admin.stop();
  });

  it.runIf(DIRECTORY !== undefined)(
    "each page has its sheet (only with IGW_PICTURES)",
    async () => {
      const page = await open();
      mkdirSync(SHEETS_DIRECTORY, { recursive: true });
      for (const name of SHEETS.filter(isWanted)) {
        const rows = (name === "broken" ? BROKEN : STATES).map((states) => picturesOf(name, states));
        expect(rows[0]).not.toEqual([]);
        writeFileSync(join(SHEETS_DIRECTORY, `${name}.webp`), await drawSheet(page, rows));
      }
    },
    HOUR_MS,
  );
});

type States = Readonly<Record<string, string>>;
/** States of a page in the rows of its sheet, with their titles. */
const STATES: readonly States[] = [{ 300: "300 API keys" }, { 8: "8 API keys", empty: "empty" }];
const BROKEN: readonly States[] = [
  { missing: "unknown API key", refused: "rejected form", redis: "Redis unreachable" },
];

function picturesOf(name: string, states: States): readonly SheetPicture[] {
  return Object.entries(states).flatMap(([state, title]) =>
    keptViews(state)
      .map((view) => ({ title, path: pathOf({ name, state }, view), width: DEVICES[view.device].width }))
      .filter(({ path }) => existsSync(path)),
  );
}

const SHEETS_DIRECTORY = join(import.meta.dirname, "../../docs/images/pages");

const errorsOf = ({ logs }: AdminUnderTest) => logs.filter(({ level }) => level === "error");
