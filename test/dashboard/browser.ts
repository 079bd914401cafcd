/** A real Chromium on the real dashboard. Without one the tests are skipped, and say so. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type axe from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { findOnPath } from "../../src/operation/setup/find-executable.ts";
import { byExtent } from "../support/extent.ts";
import type { Stack } from "../support/stack.ts";
import { CHROMIUM_PROGRAMS } from "../support/tools/chromium.ts";

/** Where Chromium is, or null. `npm test` looks for it, installs it where it can and says when it could not. */
export const CHROMIUM =
  process.env["CHROMIUM_BIN"] ||
  (CHROMIUM_PROGRAMS.map((program) => findOnPath(program, process.env)).find((path) => path !== null) ??
    null);

export const SKIPPED_WHY = CHROMIUM === null ? " (skipped: no Chromium; install it or set CHROMIUM_BIN)" : "";

/** Axe ends before what is compiled of it for speed is of use: without, it takes a fifth less of a core. */
const QUICK_SCRIPTS = "--js-flags=--no-turbofan --min-semi-space-size=32";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Promise<Browser> | null = null;

/** For all files of a process, with whose end it ends: to start one takes a second and a half of a core. */
function launchBrowser(executablePath: string): Promise<Browser> {
  browser ??= chromium.launch({ executablePath, args: ["--no-sandbox", QUICK_SCRIPTS], timeout: 60_000 });
  return browser;
}

/** Pages for a file: `open` gives one in a context of its own, with its own cookies. */
export function withBrowser(): (options?: BrowserContextOptions) => Promise<Page> {
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    if (CHROMIUM !== null) await launchBrowser(CHROMIUM);
  }, 90_000);
  afterAll(async () => {
    for (const context of contexts) await context.close();
  });
  return async (options = {}) => {
    if (browser === null) throw new Error("the browser is used before it was started");
    const context = await (await browser).newContext(options);
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    return page;
  };
}

/** Signs in through the form. */
export async function signIn(
  page: Page,
  stack: Pick<Stack, "adminUrl" | "adminToken">,
  token = stack.adminToken,
): Promise<void> {
  await page.goto(`${stack.adminUrl}/sign-in`);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Unfolds the settings of a key, user or group. */
export function openSettings(page: Page): Promise<void> {
  return page.locator("#settings > summary").click();
}

/** Unfolds fields that few readers need, by their title. */
export function unfold(page: Page, title: string): Promise<void> {
  return page.locator("details:not([open]) > summary", { hasText: title }).click();
}

/** Sends axe to the browser once, for pages each of which is looked at. */
export async function prepareAxe(page: Page): Promise<void> {
  await page.addInitScript(`globalThis.loadAxe = () => { ${AXE} }`);
}

/**
 * At most one primary action and four large figures, and what axe finds wrong with a page, in words; nothing, it is hoped. Run in the page itself, which has no frames, and told to
 * describe what is wrong alone: @axe-core/playwright loads axe a second time, in a page of its own, and carries a
 * description of every node that is right there, which takes most of its time.
 */
export async function expectAccessible(page: Page): Promise<void> {
  const isLoaded = "if (!('axe' in window) && 'loadAxe' in window) loadAxe(); 'axe' in window";
  if (!(await page.evaluate<boolean>(isLoaded))) await page.evaluate(AXE);
  const violations = await page.evaluate<axe.Result[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  const found = violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes.map((node) => `${node.html} ${node.failureSummary ?? ""}`).join(" | ")}`,
  );
  const primary = page.locator("button.primary:visible, .button:not(.quiet):visible");
  expect((await primary.allTextContents()).slice(1), "more than one primary action").toEqual([]);
  expect(await page.locator("dl.figures > div").count(), "large figures").toBeLessThanOrEqual(4);
  expect(page.frames(), "frames, which this does not look into").toHaveLength(1);
  expect(found, `axe on ${page.url()}`).toEqual([]);
}

/** The same of a page whose parts another test looks at: at night. */
export async function expectStillAccessible(page: Page): Promise<void> {
  await byExtent({ push: async () => {}, nightly: expectAccessible })(page);
}

/** The page is not wider than the screen. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const [content, screen] = await page.evaluate<[number, number]>(
    "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
  );
  expect(content, `width of ${page.url()}`).toBeLessThanOrEqual(screen);
}

/** No cell of a table covers another one in its row. */
export async function expectNoCoveredCells(page: Page): Promise<void> {
  const covered = await page.locator("tr").evaluateAll((rows) =>
    rows.flatMap((row) => {
      const cells = [...row.children].map((cell) => ({
        text: cell.textContent,
        box: cell.getBoundingClientRect(),
      }));
      return cells.flatMap((one, index) =>
        cells
          .slice(index + 1)
          .filter(
            ({ box }) =>
              Math.min(box.right, one.box.right) - Math.max(box.left, one.box.left) > 1 &&
              Math.min(box.bottom, one.box.bottom) - Math.max(box.top, one.box.top) > 1,
          )
          .map(({ text }) => `${one.text} and ${text}`),
      );
    }),
  );
  expect(covered, `cells of ${page.url()}`).toEqual([]);
}
