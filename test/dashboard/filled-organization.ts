/** An organization with keys, caps and requests of its own, for pages that show something. */
import { chatBody, CHAT_PATH } from "../support/chat-stack.ts";
import type { Stack } from "../support/stack.ts";

export interface FilledOrganization {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

export async function fillOrganization(stack: Stack, name = "Acme"): Promise<FilledOrganization> {
  const organization = await stack.admin("POST", "/api/organizations", {
    name,
    currency: "USD",
    hard_cap_cents: 100,
    budget_cents: 80,
  });
  const id = String(organization["id"]);
  const keys = `/api/organizations/${id}/keys`;
  const ci = await stack.admin("POST", keys, { name: "ci", hard_cap_cents: 40, requests_per_minute: 60 });
  const laptop = await stack.admin("POST", keys, { name: "laptop", hard_cap_cents: 1, budget_cents: 1 });
  await stack.admin("POST", keys, { name: "old", disabled: true });
  const prompt = (words: number): object =>
    chatBody({}, Array.from({ length: words }, () => "word").join(" "));
  for (const [key, words] of [
    [ci["key"], 20_000],
    [laptop["key"], 900],
    [laptop["key"], 900],
  ] as const) {
    await stack.send({ path: CHAT_PATH, key: String(key), body: prompt(words) });
  }
  return { id, keyId: String(ci["id"]), key: String(ci["key"]) };
}
