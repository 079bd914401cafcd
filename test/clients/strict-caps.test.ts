/** What the SDKs for Node read of what strict caps leave room for: in the refusal, and in an answer that was shrunk. */
import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { catchApiError, messageParams, SDKS, textOf } from "./anthropic-sdks.ts";
import { createOpenAi, OPENAI_SDKS } from "./openai-sdks.ts";
import { proves } from "./proofs.ts";
import { monthLimits } from "../support/month-limits.ts";

// One worker: what it has learned of a prompt, another one may not know yet.
const chat = withChatStack();
const ASKED = 8_000;
/** Five cents, which are less than 5,000 tokens of answer. */
const createCapped = (onCap: "refuse" | "shrink") =>
  chat.stack.createKey({ limits: monthLimits({ cap: 5 }) }, { strictCaps: true, onCap });
const answer = () => {
  const usage = { promptTokens: 3, cachedTokens: 0, completionTokens: 1 };
  chat.upstream.answer({ kind: "json", body: textCompletion("Hello.", usage) });
};
const SENTENCE = /You requested up to 8000 tokens, but can only afford (\d+)\./u;

describe.each(OPENAI_SDKS)("$name under strict caps", (sdk) => {
  proves(sdk.proven, "/v1/chat/completions");
  const create = (apiKey: string, maxTokens: number) =>
    createOpenAi(sdk, chat, { apiKey, maxRetries: 2 })
      .chat.completions.create({
        model: CHAT_MODEL,
        max_tokens: maxTokens,
        messages: [{ role: "user", content: "hello big world" }],
      })
      .withResponse();

  it("throws at once, and passes with what the error says", async () => {
    const { key } = await createCapped("refuse");
    answer();
    const error: unknown = await create(key, ASKED).catch((thrown: unknown) => thrown);
    if (!(error instanceof sdk.module.APIError)) throw new Error("the SDK threw nothing of its own");
    expect(error).toMatchObject({ status: 402, code: "hard_cap_reached" });
    expect(error.message).toMatch(SENTENCE);
    expect(chat.upstream.requests).toHaveLength(0);
    const { affordable_max_tokens: affordable } = error.error as Record<string, unknown>;
    expect(Number(SENTENCE.exec(error.message)?.[1])).toBe(affordable);
    expect((await create(key, Number(affordable))).data.choices[0]?.message.content).toBe("Hello.");
  });

  it("reads a shrunk answer as any other, and how long it may be from its headers", async () => {
    const { key } = await createCapped("shrink");
    answer();
    const { data, response } = await create(key, ASKED);
    expect(data.choices[0]?.message.content).toBe("Hello.");
    const told = Number(response.headers.get("x-budget-max-tokens"));
    expect(chat.upstream.lastRequest.body).toMatchObject({ max_tokens: told });
  });
});

describe.each(SDKS)("$name under strict caps", (sdk) => {
  proves(sdk.proven, "/v1/messages");
  const clientOf = (apiKey: string) =>
    sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey, maxRetries: 2 });

  it("throws at once, and passes with what the error says", async () => {
    const { key } = await createCapped("refuse");
    answer();
    const error = await catchApiError(clientOf(key).messages.create(messageParams({ max_tokens: ASKED })));
    expect(error.status).toBe(402);
    expect(error.message).toMatch(SENTENCE);
    expect(chat.upstream.requests).toHaveLength(0);
    const { affordable_max_tokens: affordable } = (error.error as { error: Record<string, unknown> }).error;
    const message = await clientOf(key).messages.create(messageParams({ max_tokens: Number(affordable) }));
    expect(textOf(message)).toBe("Hello.");
  });

  it("reads a shrunk answer as any other, and how long it may be from its headers", async () => {
    const { key } = await createCapped("shrink");
    answer();
    const params = messageParams({ max_tokens: ASKED });
    const { data, response } = await clientOf(key).messages.create(params).withResponse();
    expect(textOf(data)).toBe("Hello.");
    const told = Number(response.headers.get("x-budget-max-tokens"));
    expect(chat.upstream.lastRequest.body).toMatchObject({ max_tokens: told });
  });
});
