import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { CHROMIUM, expectAccessible, openSettings, signIn, SKIPPED_WHY, withBrowser } from "./browser.ts";

/** 900 words and as many back cost 1.125 cents. */
const PROMPT = Array.from({ length: 900 }, () => "word").join(" ");

interface Answer {
  readonly status: number;
  readonly choices?: readonly { readonly message: { readonly content: string } }[];
  readonly error?: { readonly message: string; readonly doc_url: string };
}

async function ask({ baseUrl }: { readonly baseUrl: string }, key: string, content: string): Promise<Answer> {
  const response = await fetch(`${baseUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: CHAT_MODEL, messages: [{ role: "user", content }] }),
  });
  return { ...((await response.json()) as Omit<Answer, "status">), status: response.status };
}

describe.skipIf(CHROMIUM === null)(`somebody who has never seen the dashboard${SKIPPED_WHY}`, () => {
  const chat = withSharedChatStack();
  const open = withBrowser();

  it("makes an organization and a key, hits its cap, and raises it where the message says", async () => {
    const { stack } = chat;
    const page = await open();
    await signIn(page, stack);

    await page.getByText("Create an organization", { exact: true }).click();
    await page.getByLabel("Name").fill("Stranger");
    await page.getByRole("button", { name: "Create the organization" }).click();
    await page.getByRole("link", { name: "Create an API key" }).click();
    await page.getByLabel("Name").fill("first");
    await page.getByLabel("Requests per minute").fill("60");
    await page.getByText("60 rpm: 1 request per second, bursts of 10").waitFor();
    await page.getByLabel("Limits, row 1: amount").fill("0.01");
    await page.getByRole("button", { name: "Create the key" }).click();
    await page.getByText("it is shown only once").waitFor();
    await expectAccessible(page);
    const apiKey = await page.getByLabel('API key "first"').inputValue();

    expect(await ask(stack, apiKey, PROMPT)).toMatchObject({ status: 200 });
    const refusal = await ask(stack, apiKey, PROMPT);
    expect(refusal.status).toBe(402);
    const where = /Raise the cap on the (.+) page/u.exec(refusal.error?.message ?? "")?.[1] ?? "";
    expect(where).toBe("API keys");

    const reference = await open();
    await reference.goto(refusal.error?.doc_url ?? "");
    await reference.locator("tr:target").getByText("hard_cap_reached", { exact: true }).waitFor();
    await expectAccessible(reference);

    await page.getByRole("link", { name: where, exact: true }).click();
    await page.getByText("cap reached").waitFor();
    await page.getByRole("link", { name: "first" }).click();
    await openSettings(page);
    await page.getByLabel("Limits, row 1: amount").fill("1.00");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Applies from the next request.").waitFor();
    expect((await ask(stack, apiKey, PROMPT)).choices?.[0]?.message.content).toBe(PROMPT);
  });

  it("raises the organization's cap where that message says", async () => {
    const { stack } = chat;
    const page = await open();
    await signIn(page, stack);
    const organization = await stack.admin("POST", "/api/organizations", {
      name: "Tight",
      currency: "USD",
      hard_cap_cents: 0,
    });
    const path = `/organizations/${String(organization["id"])}`;
    const { key } = await stack.admin("POST", `/api${path}/keys`, { name: "k" });
    const refusal = await ask(stack, String(key), "hi");
    expect(refusal.error?.message).toContain("inference settings");
    await page.goto(`${stack.adminUrl}${path}`);
    await page.getByRole("navigation").getByRole("link", { name: "Inference settings" }).click();
    await page.getByLabel("Limits, row 1: amount").fill("5");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved. Applies from the next request.").waitFor();
    expect((await ask(stack, String(key), "hi")).choices?.[0]?.message.content).toBe("hi");
  });
});
