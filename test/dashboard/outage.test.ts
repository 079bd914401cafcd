/** Redis goes away while somebody works in the dashboard. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { type PrivateRedis, startRedis } from "../support/redis.ts";
import { waitFor } from "../support/wait.ts";
import { withStack } from "../support/with-stack.ts";
import { CHROMIUM, expectAccessible, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";

describe.skipIf(CHROMIUM === null)(`the dashboard without Redis${SKIPPED_WHY}`, () => {
  let redis: PrivateRedis;
  const getStack = withStack(async () => {
    redis = await startRedis({ appendOnly: true });
    return {
      upstreams: [{ name: "local", url: "http://127.0.0.1:9", path_prefix: "/v1" }],
      overrides: { redis: { url: redis.url } },
    };
  });
  afterAll(() => redis.stop());
  const open = withBrowser();
  let page: Page;
  let path = "";
  beforeAll(async () => {
    const stack = getStack();
    const { id } = await stack.admin("POST", "/api/organizations", { name: "Acme", currency: "USD" });
    path = `/organizations/${String(id)}/keys`;
    page = await open();
    await signIn(page, stack);
  });

  const isReady = async (): Promise<true | null> =>
    (await fetch(`${getStack().adminUrl}/readyz`)).status === 200 ? true : null;

  it("says so, keeps the session and what was typed, and goes on when it is back", async () => {
    const url = getStack().adminUrl + path;
    await page.goto(`${url}/new`);
    await page.getByLabel("Name").fill("typed in an outage");
    await page.getByLabel("Requests per minute").fill("42");
    redis.kill();

    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByText("Nothing was changed.").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("Redis can't be reached");
    await expectAccessible(page);
    const other = await page.context().newPage();
    const answer = await other.goto(url);
    expect(answer?.status()).toBe(503);
    await other.getByText("You stay signed in.").waitFor();
    await expectAccessible(other);
    await page.getByRole("button", { name: "Send it again" }).click();
    await page.getByText("Nothing was changed.").waitFor();

    await redis.restart();
    await waitFor("the store", isReady, { timeoutMs: 20_000 });
    await other.getByRole("link", { name: "Open this page again" }).click();
    await other.getByText("No API keys yet").waitFor();
    await page.getByRole("button", { name: "Send it again" }).click();
    await page.getByText("it is shown only once").waitFor();
    const { data } = (await getStack().admin("GET", `/api${path}`)) as { data: object[] };
    expect(data).toMatchObject([{ name: "typed in an outage", requests_per_minute: 42 }]);
  });

  it("does not say that somebody is signed out who is not", async () => {
    await page.goto(getStack().adminUrl + path);
    redis.kill();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("you may still be signed in").waitFor();
    await redis.restart();
    await waitFor("the store", isReady, { timeoutMs: 20_000 });
    await page.goto(getStack().adminUrl + path);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(/sign-in$/u);
    await page.goto(getStack().adminUrl + path);
    expect(page.url()).toContain("/sign-in");
  });
});
