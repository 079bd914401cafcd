/**
 * Looks at pages on each screen, light and dark: accessible, and no wider than the screen. With IGW_PICTURES=<directory>
 * each look is kept there, of pages with 8 and with 300 API keys; IGW_PICTURES_OF=keys,usage limits them to these pages.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { byExtent } from "../support/extent.ts";
import { expectAccessible, expectNoSidewaysScroll } from "./browser.ts";

export const DIRECTORY = process.env["IGW_PICTURES"];
const ONLY = process.env["IGW_PICTURES_OF"]?.split(",");

export const DEVICES = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 1024, height: 768 },
  phone: { width: 390, height: 844 },
} as const;
const SCHEMES = ["light", "dark"] as const;
export const ALL_VIEWS = Object.keys(DEVICES).flatMap((device) =>
  SCHEMES.map((scheme) => ({ device: device as keyof typeof DEVICES, scheme })),
);
const isWhole = DIRECTORY !== undefined;
/** On each push the narrowest screen, in the colors that other tests do not look at. */
const VIEWS = byExtent({
  push: ALL_VIEWS.filter(({ device, scheme }) => isWhole || (device === "phone" && scheme === "dark")),
  nightly: ALL_VIEWS,
});
export const SIZES = isWhole ? [8, 300] : byExtent({ push: [8], nightly: [8, 300] });

export interface Look {
  readonly name: string;
  readonly url?: string;
  /** Expected status; 200 if omitted. */
  readonly status?: number;
  readonly act?: (page: Page) => Promise<void>;
}

export function isWanted(name: string): boolean {
  return ONLY === undefined || ONLY.includes(name);
}

const FAULTS: string[] = [];
/** Returns what was wrong with the pages since the last call: a run names all of them. */
export const takeFaults = (): readonly string[] => FAULTS.splice(0);

export async function expectPage(page: Page, { name, url, status = 200, act }: Look): Promise<void> {
  if (url !== undefined) await visit(page, url, status);
  await act?.(page);
  await page.locator("h1").waitFor();
  for (const { device, scheme } of VIEWS) {
    await page.setViewportSize(DEVICES[device]);
    await page.emulateMedia({ colorScheme: scheme });
    if (DIRECTORY !== undefined) {
      mkdirSync(DIRECTORY, { recursive: true });
      await page.screenshot({ path: join(DIRECTORY, `${name}-${device}-${scheme}.png`), fullPage: true });
    }
    for (const expectIt of [expectAccessible, expectNoSidewaysScroll]) {
      await expectIt(page).catch((error: Error & { readonly actual?: unknown }) =>
        FAULTS.push(`${name}, ${device}, ${scheme}: ${error.message} ${JSON.stringify(error.actual)}`),
      );
    }
  }
}

async function visit(page: Page, url: string, expected: number): Promise<void> {
  const status = (await page.goto(url))?.status();
  if (status !== expected) throw new Error(`${url}: ${status} in place of ${expected}`);
}
