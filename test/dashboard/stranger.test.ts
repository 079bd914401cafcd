import { OpenAI, APIError } from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { withStack } from "../support/with-stack.ts";
import { startUpstream, type ScriptedUpstream } from "../support/upstream.ts";
import { CHROMIUM, expectAccessible, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";

/** 900 words and as many back cost 1.125 cents. */
const PROMPT = Array.from({ length: 900 }, () => "word").join(" ");

describe.skipIf(CHROMIUM === null)(`somebody who has never seen the dashboard${SKIPPED_WHY}`, () => {
  let upstream: ScriptedUpstream;
  const getStack = withStack(async () => {
    upstream = await startUpstream();
    return { upstreams: [{ name: "local", url: upstream.url, path_prefix: "/v1" }] };
  });
  const open = withBrowser();
  afterAll(() => upstream.close());

  it("makes an organization and a key, hits its cap, and raises it where the message says", async () => {
    const stack = getStack();
    const page = await open();
    await signIn(page, stack);

    await page.getByLabel("Name").fill("Stranger");
    await page.getByRole("button", { name: "Create the organization" }).click();
    await page.getByRole("link", { name: "Create an API key" }).click();
    await page.getByLabel("Name").fill("first");
    await page.getByLabel("Requests per minute").fill("60");
    await page.getByText("60 rpm: 1 request per second, bursts of 10").waitFor();
    await page.getByLabel("Monthly hard cap").fill("0.01");
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByText("it is shown this once").waitFor();
    await expectAccessible(page);
    const apiKey = await page.getByLabel('API key "first"').inputValue();

    const client = new OpenAI({ baseURL: `${stack.baseUrl}/v1`, apiKey, maxRetries: 0 });
    const ask = () =>
      client.chat.completions.create({ model: CHAT_MODEL, messages: [{ role: "user", content: PROMPT }] });
    await ask();
    const refusal = await ask().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(refusal).toBeInstanceOf(APIError);
    expect((refusal as APIError).status).toBe(402);
    const where = /Raise the cap on the (.+) page/u.exec((refusal as APIError).message)?.[1] ?? "";
    expect(where).toBe("API keys");

    await page.getByRole("link", { name: where, exact: true }).click();
    await page.getByText("cap reached").waitFor();
    await page.getByRole("link", { name: "first" }).click();
    await page.getByLabel("Monthly hard cap").fill("1.00");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. It holds from the next request on.").waitFor();
    expect((await ask()).choices[0]?.message.content).toBe(PROMPT);
  });

  it("raises the organization's cap where that message says", async () => {
    const stack = getStack();
    const page = await open();
    await signIn(page, stack);
    const organization = await stack.admin("POST", "/api/organizations", {
      name: "Tight",
      currency: "USD",
      hard_cap_cents: 0,
    });
    const path = `/organizations/${String(organization["id"])}`;
    const { key } = await stack.admin("POST", `/api${path}/keys`, { name: "k" });
    const client = new OpenAI({ baseURL: `${stack.baseUrl}/v1`, apiKey: String(key), maxRetries: 0 });
    const ask = () =>
      client.chat.completions.create({ model: CHAT_MODEL, messages: [{ role: "user", content: "hi" }] });
    const refusal = await ask().then(
      () => null,
      (thrown: unknown) => thrown as APIError,
    );
    expect(refusal?.message).toContain("inference settings");
    await page.goto(`${stack.adminUrl}${path}`);
    await page.getByRole("navigation").getByRole("link", { name: "Inference settings" }).click();
    await page.getByLabel("Monthly hard cap", { exact: true }).fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. It holds from the next request on.").waitFor();
    expect((await ask()).choices[0]?.message.content).toBe("hi");
  });
});
