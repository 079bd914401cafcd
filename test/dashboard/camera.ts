/**
 * Looks at pages on each screen, light and dark: accessible, no wider than the screen, nothing covered. With
 * IGW_PICTURES=<directory> it keeps pictures there instead; IGW_PICTURES_OF=keys,usage limits both to these pages.
 */
import { join } from "node:path";
import type { Page } from "playwright-core";
import { byExtent } from "../support/extent.ts";
import { expectAccessible, expectNoCoveredCells, expectNoSidewaysScroll } from "./browser.ts";

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
type View = (typeof ALL_VIEWS)[number];

/** On each push the narrowest screen, in the colors that other tests do not look at. */
const VIEWS = byExtent({
  push: ALL_VIEWS.filter(({ device, scheme }) => device === "phone" && scheme === "dark"),
  nightly: ALL_VIEWS,
});
const FEW_VIEWS = ALL_VIEWS.filter(({ device, scheme }) =>
  scheme === "light" ? device === "desktop" : device === "phone",
);
/** Views that are kept of a page in a state: of 300 API keys all, else the widest and the narrowest. */
export const keptViews = (state: string): readonly View[] => (state === "300" ? ALL_VIEWS : FEW_VIEWS);

export const SIZES = DIRECTORY === undefined ? byExtent({ push: [8], nightly: [8, 300] }) : [8, 300];

/** Path of a kept look. */
export const pathOf = ({ name, state }: Pick<Look, "name" | "state">, { device, scheme }: View): string =>
  join(DIRECTORY ?? "", `${name}-${state}-${device}-${scheme}.png`);

export interface Look {
  readonly name: string;
  /** Data of the page, such as the number of API keys. */
  readonly state: string;
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

export async function expectPage(page: Page, look: Look): Promise<void> {
  const { name, state, url, status = 200, act } = look;
  if (url !== undefined) await visit(page, url, status);
  await act?.(page);
  await page.locator("h1").waitFor();
  for (const view of DIRECTORY === undefined ? VIEWS : keptViews(state)) {
    const { device, scheme } = view;
    await page.setViewportSize(DEVICES[device]);
    await page.emulateMedia({ colorScheme: scheme });
    if (DIRECTORY === undefined) await check(page, `${name} ${state}, ${device}, ${scheme}`);
    else await page.screenshot({ path: pathOf(look, view), fullPage: true });
  }
}

async function check(page: Page, where: string): Promise<void> {
  for (const expectIt of [expectAccessible, expectNoSidewaysScroll, expectNoCoveredCells]) {
    await expectIt(page).catch((error: Error & { readonly actual?: unknown }) =>
      FAULTS.push(`${where}: ${error.message} ${JSON.stringify(error.actual)}`),
    );
  }
}

async function visit(page: Page, url: string, expected: number): Promise<void> {
  const status = (await page.goto(url))?.status();
  if (status !== expected) throw new Error(`${url}: ${status} in place of ${expected}`);
}
