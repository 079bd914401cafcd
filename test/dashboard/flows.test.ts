import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import type { Stack } from "../support/stack.ts";
import { CHROMIUM, expectAccessible, signIn, SKIPPED_WHY, unfold, withBrowser } from "./browser.ts";
import { openOwnOrganization } from "./own-organization.ts";

const FOLDS = ["Further limits and rules", "Alerts go to", "Model names", "New keys begin with"];

describe.skipIf(CHROMIUM === null)(`an administrator in the dashboard${SKIPPED_WHY}`, () => {
  const chat = withSharedChatStack();
  const getStack = (): Stack => chat.stack;
  const open = withBrowser();
  let page: Page;
  let base = "";
  let api = "";
  beforeAll(async () => {
    ({ page, api, base } = await openOwnOrganization(getStack(), open));
  });

  async function createKey(name: string): Promise<{ path: string; secret: string }> {
    const { id, key } = await getStack().admin("POST", `${api}/keys`, { name });
    return { path: `${base}/keys/${String(id)}`, secret: String(key) };
  }
  const status = async (key: string): Promise<number> =>
    (await getStack().send({ path: "/v1/key", key })).status;
  const confirm = (name: string) => page.getByRole("dialog").getByRole("button", { name }).click();

  it("comes to the organization of the token", () => {
    expect(page.url()).toBe(base);
  });

  it("sees what is wrong with a value beside its field, and everything that was typed", async () => {
    await page.goto(`${base}/keys/new`);
    expect(await page.locator("main :is(.field, .limit-row):visible").count()).toBeLessThanOrEqual(7);
    await page.getByLabel("Name").fill("wrong");
    await page.getByLabel("Requests per minute").fill("0");
    await unfold(page, "More settings");
    await page.getByLabel("Note").fill("typed");
    await page.getByLabel("Requests at the same time").fill("many");
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByRole("alert").waitFor();
    const described = await page.getByLabel("Requests per minute").getAttribute("aria-describedby");
    expect(described).toContain("requests_per_minute-problem");
    expect(await page.locator("#requests_per_minute-problem").textContent()).toContain(
      "from 1 to 1000000, found 0",
    );
    expect(await page.locator("#max_concurrent_requests-problem").textContent()).toContain('found "many"');
    expect(await page.getByLabel("Name").inputValue()).toBe("wrong");
    expect(await page.getByLabel("Note").inputValue()).toBe("typed");
    // Its fold is open because of it, also without a script.
    expect(await page.locator("#max_concurrent_requests-problem").isVisible()).toBe(true);
    await expectAccessible(page);
    await page.getByLabel("Limits, row 1: amount").fill("ten");
    await page.getByRole("button", { name: "Create the key" }).click();
    expect(await page.locator("#limits-problem").textContent()).toContain("such as 10");
  });

  it("sets every limit of a key", async () => {
    const { path } = await createKey("limits");
    // A link to a field unfolds the settings.
    await page.goto(`${path}#limits`);
    await page.getByLabel("Name").fill("renamed");
    await page.getByLabel("Requests per minute").fill("6,000");
    await page.getByLabel("Limits, row 1: amount").fill("12,50");
    expect(await page.locator("output[for=limits-0]").textContent()).toContain("not an amount");
    await page.getByRole("button", { name: "Save" }).click();
    expect(await page.locator("#limits-problem").textContent()).toContain("such as 10 or 10.50");
    await page.getByLabel("Requests per minute").fill("6000");
    await page.getByLabel("Limits, row 1: amount").fill("1012.50");
    expect(await page.locator("output[for=limits-0]").textContent()).toBe("= 1,012.50 USD");
    await page.getByLabel("Limits, row 1: amount").fill("12.50");
    await page.getByLabel("Limits, row 2: amount").fill("10");
    await page.getByLabel("Limits, row 2: period").selectOption("a month");
    await page.getByLabel("Limits, row 2: kind").selectOption("budget");
    await page.getByLabel("Requests at the same time").fill("3");
    await page.getByLabel("Expires (UTC)").fill("2099-12-31T23:59");
    await page.getByLabel("All models").uncheck();
    await page.getByLabel("acme/echo-small").check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect(await getStack().admin("GET", path.replace(getStack().adminUrl, "/api"))).toMatchObject({
      name: "renamed",
      requests_per_minute: 6000,
      hard_cap_cents: 1250,
      budget_cents: 1000,
      max_concurrent_requests: 3,
      expires_at: "2099-12-31T23:59:00.000Z",
      allowed_models: ["acme/echo-small"],
    });
  });

  it("does not write over what somebody else has changed meanwhile", async () => {
    const { path } = await createKey("contested");
    await page.goto(`${path}#limits`);
    await getStack().admin("PATCH", path.replace(getStack().adminUrl, "/api"), { hard_cap_cents: 700 });
    await page.getByLabel("Limits, row 1: amount").fill("1");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Another person changed this key in the meantime").waitFor();
    expect(await page.getByLabel("Limits, row 1: amount").inputValue()).toBe("7.00");
  });

  it("disables, enables, rotates and deletes a key, and each holds for the next request", async () => {
    const { path, secret } = await createKey("life");
    expect(await status(secret)).toBe(200);
    await page.goto(path);
    await page.getByRole("button", { name: "Disable" }).click();
    await page.getByText("Requests with it return 403 until you enable it.").waitFor();
    expect(await status(secret)).toBe(403);
    await page.getByRole("button", { name: "Enable" }).click();
    await page.getByText("It works from the next request.").waitFor();
    expect(await status(secret)).toBe(200);
    await page.getByLabel("The previous key").selectOption("3600");
    await page.getByRole("button", { name: "Rotate" }).click();
    const rotated = await page.getByLabel('API key "life"').inputValue();
    expect(rotated).not.toBe(secret);
    expect(await page.locator("#curl").textContent()).toContain(`Bearer ${rotated}`);
    expect(await page.locator("#openai-python").textContent()).toContain(`api_key="${rotated}"`);
    expect([await status(secret), await status(rotated)]).toEqual([200, 200]);
    await page.goto(path);
    await page.getByRole("button", { name: "Delete" }).click();
    await expectAccessible(page);
    await confirm("Cancel");
    expect(await status(rotated)).toBe(200);
    await page.getByRole("button", { name: "Delete" }).click();
    await confirm("Delete");
    await page.getByText("Deleted. Requests with it return 401.").waitFor();
    expect(await status(rotated)).toBe(401);
  });

  it("deletes a key without scripts, after a question of its own", async () => {
    const { path, secret } = await createKey("plain");
    const plain = await open({ javaScriptEnabled: false });
    await signIn(plain, getStack());
    await plain.goto(path);
    await plain.getByRole("button", { name: "Delete" }).click();
    await plain.getByText('Delete the API key "plain"? This cannot be undone.').waitFor();
    expect(await status(secret)).toBe(200);
    await plain.getByRole("button", { name: "Delete" }).click();
    await plain.getByText("Deleted. Requests with it return 401.").waitFor();
    expect(await status(secret)).toBe(401);
  });

  it("sets everything of the organization, and reads the webhook's secret once", async () => {
    await page.goto(`${base}/settings`);
    for (const title of FOLDS) await unfold(page, title);
    await page.getByLabel("Name").fill("Acme Ltd");
    await page.getByLabel("Limits, row 1: amount").fill("1000");
    await page.getByLabel("Limits, row 2: amount").fill("800.00");
    await page.getByLabel("Limits, row 2: period").selectOption("a month");
    await page.getByLabel("Limits, row 2: kind").selectOption("budget");
    await page.getByLabel("Strict caps").check();
    await page.getByLabel("This dashboard").uncheck();
    await page.getByLabel("Webhook URL").fill("https://example.com/hook");
    await page.getByLabel("Aliases, one a line").fill("gpt-4o-mini = acme/echo-small");
    await page.getByLabel("Default model").fill("acme/echo-small");
    await page.getByLabel("Requests per minute").fill("120");
    await page.getByLabel("Limits of a key, row 1: amount").fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    expect(await page.getByLabel("Webhook secret").inputValue()).toMatch(/^whsec_/u);
    expect(await getStack().admin("GET", api)).toMatchObject({
      name: "Acme Ltd",
      hard_cap_cents: 100_000,
      budget_cents: 80_000,
      strict_caps: true,
      notifications: { dashboard: false, emails: [], webhook: { url: "https://example.com/hook" } },
      model_names: { aliases: { "gpt-4o-mini": "acme/echo-small" }, default_model: "acme/echo-small" },
      key_defaults: { requests_per_minute: 120, hard_cap_cents: 500, budget_cents: null },
    });
    await page.goto(`${base}/settings`);
    expect(await page.getByLabel("Aliases, one a line").inputValue()).toBe("gpt-4o-mini = acme/echo-small");
    await unfold(page, "Model names");
    await page.getByLabel("Default model").fill("acme/nothing");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("unknown model").first().waitFor();
    await page.goto(`${base}/settings`);
    await unfold(page, "Alerts go to");
    await page.getByLabel("Mail addresses").fill("a@example.com");
    await page.getByRole("button", { name: "Save" }).click();
    expect(await page.locator('[id="notifications.emails-problem"]').textContent()).toContain(
      "has no mail server",
    );
    await page.goto(`${base}/settings`);
    await page.getByRole("button", { name: "New secret" }).click();
    await confirm("New secret");
    expect(await page.getByLabel("Webhook secret").inputValue()).toMatch(/^whsec_/u);
    await page.goto(`${base}/settings`);
    await unfold(page, "Alerts go to");
    await page.getByLabel("Webhook URL").fill("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved.").waitFor();
    expect((await getStack().admin("GET", api))["notifications"]).toMatchObject({ webhook: null });
  });

  it("makes a viewer's token, with which everything is seen and nothing changed, and deletes it", async () => {
    await page.goto(`${base}/tokens`);
    await page.getByText("Create a token", { exact: true }).click();
    await page.getByLabel("Name").fill("victor");
    await page.getByLabel("Role").selectOption("viewer");
    await page.getByRole("button", { name: "Create the token" }).click();
    const token = await page.getByLabel('Token "victor" (viewer)').inputValue();
    const viewer = await open();
    await signIn(viewer, getStack(), token);
    for (const path of ["", "/keys", "/settings", "/tokens"]) {
      const answer = await viewer.goto(base + path);
      expect(answer?.status()).toBe(200);
      await viewer.getByText("Your token has the role viewer").waitFor();
      expect(await viewer.getByRole("button").allTextContents()).toEqual(["Sign out"]);
    }
    const answer = await viewer.goto(`${base}/keys/new`);
    expect(answer?.status()).toBe(200);
    expect(await viewer.getByRole("button", { name: "Create the key" }).isDisabled()).toBe(true);
    await page.goto(`${base}/tokens`);
    await page.getByRole("button", { name: "Delete victor" }).click();
    await confirm("Delete");
    await page.getByText("Calls with the token return 401.").waitFor();
    await viewer.goto(base);
    expect(viewer.url()).toContain("/sign-in");
  });

  it("reads who changed what", async () => {
    await page.goto(`${base}/audit`);
    const row = page
      .getByRole("row")
      .filter({ hasText: "Organization changed" })
      .filter({ hasText: "Acme Ltd" })
      .last();
    expect(await row.textContent()).toContain("anna");
    expect(await row.textContent()).toContain("hard cap: none → 1,000.00 USD");
  });

  it("copies a snippet with a click", async () => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(`${base}/try`);
    await page.getByRole("button", { name: "Copy curl, OpenAI chat completions" }).click();
    await page.getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toContain(getStack().baseUrl);
  });

  it("works with the keyboard alone", async () => {
    await page.goto(`${base}/keys`);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Skip to the page");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Create an API key");
  });

  it("is still signed in where a mail's link is followed, and sees the field that it names", async () => {
    const link = `${base}/settings#limits`;
    await page.route("http://mail.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<a href="${link}">Raise the cap</a>` }),
    );
    await page.goto("http://mail.example/");
    await page.getByRole("link", { name: "Raise the cap" }).click();
    await page.getByRole("heading", { name: "Settings" }).first().waitFor();
    expect(page.url()).toBe(link);
  });

  it.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    "comes to the field that a link names after the sign-in, also at the second try: %j",
    async (options) => {
      const link = `${base}/settings#limits`;
      const signedOut = await open(options);
      await signedOut.goto(link);
      for (const token of ["wrong", getStack().adminToken]) {
        await signedOut.getByLabel("Token").fill(token);
        await signedOut.getByRole("button", { name: "Sign in" }).click();
      }
      await signedOut.getByRole("button", { name: "Sign out" }).waitFor();
      expect(signedOut.url()).toBe(link);
    },
  );

  it("makes a token that only reads unless somebody says more", async () => {
    await page.goto(`${base}/tokens`);
    expect(await page.getByLabel("Role").inputValue()).toBe("viewer");
  });

  it("deletes all keys after a leak", async () => {
    const { secret } = await createKey("leaked");
    await page.goto(`${base}/settings`);
    await page.getByLabel("Yes, delete all keys").check();
    await page.getByRole("button", { name: "Delete all keys" }).click();
    await confirm("Delete all keys");
    await page.getByText("All API keys are deleted.").waitFor();
    expect(await status(secret)).toBe(401);
  });

  it("as the operator: suspends an organization and corrects its spend", async () => {
    const operator = await open();
    await signIn(operator, getStack());
    await operator.goto(`${base}/usage`);
    const link = operator.getByRole("link", { name: "Correct this month's spend" });
    await link.click();
    await operator.getByLabel("Amount").fill("-0.5");
    await operator.getByLabel("Reason").fill("refund");
    const sent = await operator.locator("form.card input[name=id]").inputValue();
    await operator.getByRole("button", { name: "Correct" }).click();
    await operator.getByText("Spend corrected.").waitFor();
    // The same form again, gone back to and changed.
    await link.click();
    await operator
      .locator("form.card input[name=id]")
      .evaluate((input, id) => input.setAttribute("value", id), sent);
    await operator.getByLabel("Amount").fill("-0.75");
    await operator.getByLabel("Reason").fill("refund");
    await operator.getByRole("button", { name: "Correct" }).click();
    await operator.getByText("This form was already sent with other values").waitFor();
    expect((await getStack().admin("GET", api))["spent_cents"]).toBe(-50);
    await operator.goto(`${base}/settings`);
    await unfold(operator, "Operator only");
    await operator.getByLabel("Suspended").check();
    await operator.getByRole("button", { name: "Save" }).click();
    await operator.getByText("Saved.").waitFor();
    await operator.goto(base);
    await operator.getByText("This organization is suspended").waitFor();
    await operator.getByRole("link", { name: "All organizations" }).click();
    await operator.getByRole("row", { name: "Acme Ltd" }).getByText("suspended").waitFor();
  });
});
