import { describe, expect, it } from "vitest";
import { createCountTokens } from "../../../src/exchange/count-tokens.ts";
import { PROTOCOLS } from "../../../src/translation/protocols.ts";
import type { ProtocolName } from "../../../src/translation/client-protocol.ts";
import { createCatalogOf } from "../catalog/support.ts";
import { ADMISSION } from "./admission-fixture.ts";

const catalog = createCatalogOf([{ id: "acme/a" }, { id: "acme/b" }]);

function count(protocol: ProtocolName, body: object): { counted: Promise<object>; asked: object[] } {
  const asked: object[] = [];
  const countTokens = createCountTokens({
    catalog: () => catalog,
    protocols: PROTOCOLS,
    estimator: {
      countPrompt: (of, text) => {
        asked.push({ ...of, text });
        return Promise.resolve(5);
      },
    },
  });
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return { counted: countTokens(bytes, { ...ADMISSION, protocol }), asked };
}

describe("counting a prompt's tokens", () => {
  it("of messages counts the text that the upstream would be sent, and answers as Anthropic does", async () => {
    const messages = [{ role: "user", content: "how many?" }];
    const { counted, asked } = count("messages", { model: "acme/a", messages });
    expect(await counted).toEqual({ input_tokens: 5 });
    expect(asked).toEqual([{ model: "acme/a", organizationId: "org_1", text: "how many?" }]);
  });

  it("of responses counts the text that the upstream would be sent, and answers as OpenAI does", async () => {
    const { counted, asked } = count("responses", { model: "acme/a", input: "how many?" });
    expect(await counted).toEqual({ object: "response.input_tokens", input_tokens: 5 });
    expect(asked).toEqual([{ model: "acme/a", organizationId: "org_1", text: "how many?" }]);
  });

  it("is refused for a model that the key may not use, as the request itself would be", async () => {
    const messages = [{ role: "user", content: "how many?" }];
    const { counted, asked } = count("messages", { model: "acme/b", messages });
    await expect(counted).rejects.toThrow(/acme\/b|model/);
    expect(asked).toEqual([]);
  });

  it("is no endpoint of chat completions", async () => {
    const { counted } = count("chat", { model: "acme/a", messages: [] });
    await expect(counted).rejects.toMatchObject({ code: "unknown_endpoint" });
  });
});
