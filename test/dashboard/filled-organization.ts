/** An organization with keys, caps and requests of its own, for pages that show something. */
import { chatBody, CHAT_PATH } from "../support/chat-stack.ts";
import type { Stack } from "../support/stack.ts";

export interface FilledOrganization {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
  /** Of a user of the group, who has a key. */
  readonly userId: string;
  readonly groupId: string;
}

export async function fillOrganization(stack: Stack, name = "Acme"): Promise<FilledOrganization> {
  const organization = await stack.admin("POST", "/api/organizations", {
    name,
    currency: "USD",
    hard_cap_cents: 100,
    budget_cents: 80,
  });
  const id = String(organization["id"]);
  const base = `/api/organizations/${id}`;
  const keys = `${base}/keys`;
  const groupId = String((await stack.admin("POST", `${base}/groups`, { name: "Research" }))["id"]);
  const person = { name: "Ann Smith", email: "ann.smith@example.com", group_id: groupId };
  const userId = String((await stack.admin("POST", `${base}/users`, person))["id"]);
  const ci = await stack.admin("POST", keys, { name: "ci", hard_cap_cents: 40, requests_per_minute: 60 });
  const laptop = await stack.admin("POST", keys, {
    name: "laptop",
    hard_cap_cents: 1,
    budget_cents: 1,
    user_id: userId,
  });
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
  return { id, keyId: String(ci["id"]), key: String(ci["key"]), userId, groupId };
}
