/**
 * Every page with sample data: accessible, and no wider than its screen. With IGW_PICTURES=<directory> all pictures are
 * kept there, at each width, light and dark, with 8 and with 300 API keys, empty and broken; IGW_PICTURES_OF=keys,usage
 * limits them to these pages.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AdminUnderTest, createOrganization, OPERATOR_TOKEN } from "../admin/admin-fixture.ts";
import type { FilledSample } from "../../src/operation/demo/sample/fill.ts";
import { byExtent } from "../support/extent.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectNoSidewaysScroll,
  signIn,
  SKIPPED_WHY,
  withBrowser,
} from "./browser.ts";
import { startSample } from "./sample.ts";

const DIRECTORY = process.env["IGW_PICTURES"];
const ONLY = process.env["IGW_PICTURES_OF"]?.split(",");

const DEVICES = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 1024, height: 768 },
  phone: { width: 390, height: 844 },
} as const;
/** For the long form; what hangs is given up all the same. */
const HOUR_MS = 3_600_000;
/** Largest size of a page without its style sheet and scripts, which browsers cache. */
const MAX_BYTES = 300_000;
const SCHEMES = ["light", "dark"] as const;
const ALL_VIEWS = Object.keys(DEVICES).flatMap((device) =>
  SCHEMES.map((scheme) => ({ device: device as keyof typeof DEVICES, scheme })),
);
/** On each push the narrowest screen, in the colors that other tests do not look at. */
const VIEWS =
  DIRECTORY === undefined
    ? byExtent({
        push: ALL_VIEWS.filter(({ device, scheme }) => device === "phone" && scheme === "dark"),
        nightly: ALL_VIEWS,
      })
    : ALL_VIEWS;
const SIZES = DIRECTORY === undefined ? byExtent({ push: [8], nightly: [8, 300] }) : [8, 300];

/** Paths below an organization, and outside of it. */
const PAGES: Readonly<Record<string, string>> = {
  overview: "",
  keys: "/keys",
  "new-key": "/keys/new",
  key: "/keys/{key}",
  users: "/users",
  user: "/users/{user}",
  groups: "/groups",
  group: "/groups/{group}",
  usage: "/usage",
  "usage-by-group": "/usage?by=group",
  latency: "/usage?metric=latency&by=model",
  corrections: "/usage/corrections",
  requests: "/requests",
  settings: "/settings",
  alerts: "/alerts",
  audit: "/audit",
  tokens: "/tokens",
  sessions: "/sessions",
  models: "/models",
  "try-it": "/try",
};
const OUTSIDE = { organizations: "/organizations", "sign-in": "/sign-in", errors: "/errors" };

describe.skipIf(CHROMIUM === null)(`pictures of sample data${SKIPPED_WHY}`, () => {
  const open = withBrowser();
  const openViews = async (admin: AdminUnderTest): Promise<readonly View[]> => {
    const views = [];
    for (const { device, scheme } of VIEWS) {
      const page = await open({ viewport: DEVICES[device], colorScheme: scheme });
      await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
      views.push({ name: `${device}-${scheme}`, page });
    }
    return views;
  };

  it.each(SIZES)(
    "every page with %d API keys",
    async (keys) => {
      const { admin, filled } = await startSample(keys);
      onTestFinished(() => admin.stop());
      const base = `/organizations/${filled.id}`;
      const { data } = await admin.ok("GET", `/api${base}/requests?limit=100`);
      const listed = data as readonly { id: string; status: number }[];
      const request = listed.find(({ status }) => status >= 500) ?? listed[0];
      const views = await openViews(admin);
      for (const [name, path] of Object.entries({ ...PAGES, request: `/requests/${request?.id}` })) {
        await expectPage(views, { name: `${name}-${keys}`, url: admin.url + base + fillPath(path, filled) });
      }
      for (const [name, path] of Object.entries(OUTSIDE)) {
        await expectPage(views, { name: `${name}-${keys}`, url: admin.url + path });
      }
      expect(errorsOf(admin)).toEqual([]);
    },
    HOUR_MS,
  );

  it.each([DIRECTORY === undefined ? byExtent({ push: 8, nightly: 10_000 }) : 10_000])(
    "no page is heavy with %d API keys",
    async (keys) => {
      const { admin, filled } = await startSample(keys);
      onTestFinished(() => admin.stop());
      const page = await open();
      await signIn(page, { adminUrl: admin.url, adminToken: OPERATOR_TOKEN });
      const weights: [name: string, bytes: number, ms: number][] = [];
      for (const [name, path] of Object.entries(PAGES)) {
        const url = `${admin.url}/organizations/${filled.id}${fillPath(path, filled)}`;
        const startMs = performance.now();
        const body = await (await page.request.get(url)).body();
        weights.push([name, body.length, Math.round(performance.now() - startMs)]);
      }
      if (DIRECTORY !== undefined) {
        mkdirSync(DIRECTORY, { recursive: true });
        writeFileSync(join(DIRECTORY, "weights.json"), JSON.stringify(weights, null, 1));
      }
      expect(weights.filter(([, bytes]) => bytes > MAX_BYTES)).toEqual([]);
    },
    HOUR_MS,
  );

  it("every page of an empty organization", async () => {
    const { admin } = await startSample(1);
    onTestFinished(() => admin.stop());
    const base = `/organizations/${await createOrganization(admin, { name: "Empty" })}`;
    const views = await openViews(admin);
    for (const [name, path] of Object.entries(PAGES).filter(([, path]) => !path.includes("{"))) {
      await expectPage(views, { name: `${name}-empty`, url: admin.url + base + path });
    }
    expect(errorsOf(admin)).toEqual([]);
  });

  it("what is missing, refused or unreachable", async () => {
    const { admin, filled } = await startSample(8);
    const base = `${admin.url}/organizations/${filled.id}`;
    const views = await openViews(admin);
    await expectPage(views, { name: "missing-broken", url: `${base}/keys/key_0`, status: 404 });
    for (const { page } of views) await page.goto(`${base}/keys/new`);
    await expectPage(views, {
      name: "refused-broken",
      act: async (page) => {
        await page.getByLabel("Name", { exact: true }).fill("ci");
        await page.getByLabel("Requests per minute").fill("many");
        await page.getByRole("button", { name: "Create" }).click();
        await page.getByText("expected a whole number").first().waitFor();
      },
    });
    expect(errorsOf(admin)).toEqual([]);
    await admin.redis.stop();
    await expectPage(views, { name: "redis-broken", url: base, status: 503 });
    await admin.stop();
  });
});

const errorsOf = ({ logs }: AdminUnderTest) => logs.filter(({ level }) => level === "error");

function fillPath(path: string, { keyIds, userIds, groupIds }: FilledSample): string {
  const ids = { "{key}": keyIds[1], "{user}": userIds[0], "{group}": groupIds[1] };
  return Object.entries(ids).reduce((text, [name, id]) => text.replace(name, String(id)), path);
}

interface View {
  readonly name: string;
  readonly page: Page;
}

interface Look {
  readonly name: string;
  readonly url?: string;
  readonly status?: number;
  readonly act?: (page: Page) => Promise<void>;
}

async function expectPage(views: readonly View[], { name, url, status = 200, act }: Look): Promise<void> {
  if (ONLY?.some((one) => name.startsWith(one)) === false) return;
  for (const view of views) {
    if (url !== undefined) await visit(view.page, url, status);
    await act?.(view.page);
    await view.page.locator("h1").waitFor();
    if (DIRECTORY !== undefined) {
      mkdirSync(DIRECTORY, { recursive: true });
      await view.page.screenshot({ path: join(DIRECTORY, `${name}-${view.name}.png`), fullPage: true });
    }
    await expectAccessible(view.page);
    await expectNoSidewaysScroll(view.page);
  }
}

async function visit(page: Page, url: string, expected: number): Promise<void> {
  const status = (await page.goto(url))?.status();
  if (status !== expected) throw new Error(`${url}: ${status} in place of ${expected}`);
}
