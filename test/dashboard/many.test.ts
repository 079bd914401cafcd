/** An operator with many organizations, one of them with many keys. */
import { beforeAll, describe, expect, it } from "vitest";
import type { Page } from "playwright-core";
import { ORGANIZATION } from "../store/fixture.ts";
import { firstOnPush } from "../support/extent.ts";
import { addTestKey } from "../support/test-key.ts";
import { withStack } from "../support/with-stack.ts";
import {
  CHROMIUM,
  expectAccessible,
  expectStillAccessible,
  expectNoSidewaysScroll,
  signIn,
  SKIPPED_WHY,
  withBrowser,
} from "./browser.ts";

const ORGANIZATIONS = 1_000;
const KEYS = 250;
const AT_ONCE = 50;

describe.skipIf(CHROMIUM === null)(`an operator with ${ORGANIZATIONS} organizations${SKIPPED_WHY}`, () => {
  const getStack = withStack({
    upstreams: [{ name: "local", url: "http://127.0.0.1:9", path_prefix: "/v1" }],
  });
  const open = withBrowser();
  let page: Page;
  let first = "";
  const idOf = async (search: string): Promise<string> => {
    const path = `/api/organizations?search=${encodeURIComponent(search)}`;
    const { data } = (await getStack().admin("GET", path)) as { data: { id: string }[] };
    return data[0]?.id ?? "";
  };
  const makeAll = async (count: number, make: (index: number) => Promise<unknown>): Promise<void> => {
    for (let made = 0; made < count; made += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => make(made + index)));
    }
  };
  beforeAll(async () => {
    // Straight in the store, as the management API makes them.
    const store = await getStack().store();
    await makeAll(ORGANIZATIONS, (index) =>
      store.createOrganization({ ...ORGANIZATION, name: `Customer ${index}` }),
    );
    first = await idOf("Customer 0");
    await makeAll(KEYS, (index) => addTestKey(store, first, { name: `service-${index}` }));
    page = await open();
    await signIn(page, getStack());
  }, 120_000);

  it("reads them page by page, and finds one by a part of its name in capitals or not", async () => {
    await page.goto(`${getStack().adminUrl}/organizations`);
    // With the stack's own.
    await page.getByText(`1–50 of 1,001 organizations, 0.00 USD spent this month`).waitFor();
    expect(await page.getByRole("row").count()).toBe(51);
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByText("51–100 of 1,001 organizations").waitFor();
    await page.getByLabel("Find").fill("OMER 77");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("link", { name: "Customer 777", exact: true }).waitFor();
    expect(await page.getByRole("row").count()).toBe(12);
    await expectStillAccessible(page);
    await page.getByLabel("Find").fill("nobody");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("No organization matches these filters.").waitFor();
  });

  it("sorts organizations by spend, and suspends several after a preview", async () => {
    const body = { amount_cents: 300, reason: "test" };
    const spender = await idOf("Customer 500");
    await getStack().admin("POST", `/api/organizations/${spender}/spend-corrections`, body);
    const list = `${getStack().adminUrl}/organizations`;
    await page.goto(list);
    // The list of so many is kept for a second.
    await expect
      .poll(
        async () => {
          await page.goto(list);
          return page.getByRole("rowheader").first().textContent();
        },
        { timeout: 60_000 },
      )
      .toBe("Customer 500");
    await page.getByText("3.00 USD spent this month").waitFor();
    for (const name of ["Customer 500", "Customer 1"]) {
      await page.getByLabel(`Choose ${name}`, { exact: true }).check();
    }
    await page.getByRole("button", { name: "Suspend…" }).click();
    await page.getByRole("row", { name: "Customer 500 active → suspended" }).waitFor();
    await page
      .getByText("Requests with API keys of suspended organizations return 403 until you resume them.")
      .waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Suspend 2 organizations" }).click();
    await page.getByText("Changed. Applies from the next request.").waitFor();
    await expect
      .poll(
        async () => {
          await page.goto(`${list}?sort=name&state=suspended`);
          return page.getByRole("rowheader").allTextContents();
        },
        { timeout: 60_000 },
      )
      .toEqual(["Customer 1", "Customer 500"]);
    await page.getByLabel("Choose all on this page").check();
    await page.getByRole("button", { name: "Change…" }).click();
    await page.getByLabel("Change Limits").check();
    await page.getByLabel("Limits, row 1: amount").fill("20.00");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("row", { name: "Customer 1 Limits: none → month cap 20.00" }).waitFor();
    await page.getByRole("link", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Resume…" }).waitFor();
  });

  it("moves from any page of one to the same page of another, with the keyboard", async () => {
    await page.goto(`${getStack().adminUrl}/organizations/${first}/settings`);
    await page.getByLabel("Go to another organization").fill("customer 99");
    await page.locator('#organizations option[value="Customer 99"]').waitFor({ state: "attached" });
    await expectStillAccessible(page);
    await page.getByLabel("Go to another organization").fill("Customer 99");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/organizations/${await idOf("Customer 99")}/settings`);
    await page.getByLabel("Go to another organization").fill("Customer 99");
    await page.keyboard.press("End");
    await page.keyboard.type("x");
    await page.keyboard.press("Enter");
    await page.getByText("No organization matches these filters.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/organizations");
  });

  it("reads many keys page by page, and finds one by its name", async () => {
    const phone = await open({ viewport: { width: 390, height: 844 } });
    await signIn(phone, getStack());
    for (const view of firstOnPush([phone, page])) {
      await view.goto(`${getStack().adminUrl}/organizations/${first}/keys`);
      expect(await view.getByRole("row").count()).toBe(51);
      await expectNoSidewaysScroll(view);
      await view.getByLabel("Find").fill("SERVICE-24");
      await view.getByRole("button", { name: "Search" }).click();
      await view.getByRole("link", { name: "service-249", exact: true }).waitFor();
      expect(await view.getByRole("row").count()).toBe(12);
    }
  });

  it("sorts keys, and changes and disables several at once after a preview", async () => {
    const keys = `/api/organizations/${first}/keys`;
    await page.goto(`${getStack().adminUrl}/organizations/${first}/keys`);
    await page.getByText(`1–50 of ${KEYS} API keys`).waitFor();
    await page.getByRole("link", { name: "name", exact: true }).click();
    await page.getByRole("link", { name: "Next" }).click();
    await page.getByText(`51–100 of ${KEYS} API keys`).waitFor();
    expect(await page.getByRole("rowheader").first().textContent()).toBe("service-50");
    await page.getByRole("button", { name: "Disable…" }).click();
    await page.getByText("Nothing is chosen.").waitFor();
    const choose = async () => {
      for (const name of ["service-50", "service-52"]) await page.getByLabel(`Choose ${name}`).check();
    };
    await choose();
    await page.getByRole("button", { name: "Change…" }).click();
    await page.getByLabel("Change Limits").check();
    await page.getByLabel("Limits, row 1: amount").fill("12,50");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.locator("#limits-problem").waitFor();
    await page.getByLabel("Limits, row 1: amount").fill("12.50");
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByRole("row", { name: "service-52 Limits: none → month cap 12.50" }).waitFor();
    await expectStillAccessible(page);
    await page.getByRole("button", { name: "Change 2 API keys" }).click();
    await page.getByText("Changed. Applies from the next request.").waitFor();
    expect(await page.getByRole("rowheader").first().textContent()).toBe("service-50");
    await choose();
    await page.getByRole("button", { name: "Disable…" }).click();
    await page.getByRole("row", { name: "service-50 active → disabled" }).waitFor();
    await page.getByRole("button", { name: "Disable 2 API keys" }).click();
    await page.getByText("Changed. Applies from the next request.").waitFor();
    const { data } = await getStack().admin("GET", `${keys}?sort=name&state=disabled`);
    expect(data).toMatchObject(
      ["service-50", "service-52"].map((name) => ({ name, hard_cap_cents: 1250, disabled: true })),
    );
  });

  it("puts the spend of one key right", async () => {
    await page.goto(`${getStack().adminUrl}/organizations/${first}/usage/corrections`);
    await page.getByLabel("Amount").fill("1.25");
    await page.getByLabel("API key", { exact: true }).selectOption("service-7");
    await page.getByLabel("Reason").fill("ticket 42");
    await page.getByRole("button", { name: "Correct" }).click();
    await page.getByText("Spend corrected.").waitFor();
    await page
      .getByRole("row", { name: "service-7" })
      .getByRole("cell", { name: "1.25 USD", exact: true })
      .waitFor();
    await page.goto(`${getStack().adminUrl}/organizations/${first}/audit`);
    const row = page.getByRole("row").filter({ hasText: "Spend corrected" });
    expect(await row.textContent()).toContain("reason: ticket 42");
    expect(await row.textContent()).toContain("service-7");
  });

  it("offers no other organization to an organization's token", async () => {
    const path = `/api/organizations/${first}/tokens`;
    const { token } = await getStack().admin("POST", path, { name: "anna", role: "admin" });
    const own = await open();
    await signIn(own, getStack(), String(token));
    expect(await own.getByLabel("Go to another organization").count()).toBe(0);
    const answer = await own.goto(`${getStack().adminUrl}/organizations/suggestions?search=Customer`);
    expect(await answer?.text()).toBe("[]");
    await own.goto(`${getStack().adminUrl}/organizations?search=Customer+99&to=keys`);
    expect(own.url()).toBe(`${getStack().adminUrl}/organizations/${first}`);
  });
});
