import { describe, expect, it } from "vitest";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { readError } from "../support/http.ts";
import type { CreatedKey } from "../support/test-key.ts";
import { GOLD_MODEL, METERED_CATALOG } from "./metering-figures.ts";
import { monthLimits } from "../support/month-limits.ts";

const DASHBOARD = { base_url: "https://dash.example.com/", contact: "platform@example.com" };
const chat = withChatStack(() => ({ catalog: METERED_CATALOG, overrides: { dashboard: DASHBOARD } }));

const pageOf = (key: CreatedKey) => `https://dash.example.com/organizations/${key.organizationId}`;
const refusalOf = async (key: CreatedKey) =>
  readError(await chat.send({ key: key.key, body: chatBody({ model: GOLD_MODEL, max_tokens: 100 }) }));

describe("the message of a 402", () => {
  it("leads to the field of the key's cap and names whom to ask, refused at the admission", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) });
    expect((await refusalOf(key)).message).toContain(
      `. Raise the cap on ${pageOf(key)}/keys/${key.id}#limits or ask platform@example.com.`,
    );
  });

  it("leads to the field of the organization's cap", async () => {
    const key = await chat.stack.createKey({}, { limits: monthLimits({ cap: 0 }) });
    expect((await refusalOf(key)).message).toContain(
      `. Raise the cap on ${pageOf(key)}/settings#limits or ask platform@example.com.`,
    );
  });

  it("leads there too when strict caps refuse what could pass the cap", async () => {
    const key = await chat.stack.createKey({ limits: monthLimits({ cap: 1 }) }, { strictCaps: true });
    const refused = await refusalOf(key);
    expect(refused).toHaveProperty("held_cents");
    expect(refused.message).toContain(
      ` Raise the cap on ${pageOf(key)}/keys/${key.id}#limits or ask platform@example.com.`,
    );
  });
});
