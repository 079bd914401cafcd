/** What the SDKs for Python read of what strict caps leave room for: in the refusal, and in an answer that was shrunk. */
import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { withPython } from "../support/python.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { CLIENTS } from "./clients.ts";
import { proves } from "./proofs.ts";
import { monthLimits } from "../support/month-limits.ts";

// One worker: what it has learned of a prompt, another one may not know yet.
const chat = withChatStack();
const player = withPython("rate_limit.py");
const ASKED = 8_000;
const SENTENCE = /You requested up to 8000 tokens, but can only afford (\d+)\./u;
/** What each SDK calls a 402. */
const SDKS = [
  {
    sdk: "openai",
    errorClass: "APIStatusError",
    proven: CLIENTS.pythonOpenai,
    route: "/v1/chat/completions",
  },
  {
    sdk: "anthropic",
    errorClass: "PaymentRequiredError",
    proven: CLIENTS.pythonAnthropic,
    route: "/v1/messages",
  },
] as const;

interface Outcome {
  readonly text: string | null;
  readonly error: { readonly message: string; readonly affordable: number } | null;
  readonly statuses: readonly number[];
  readonly shrunkTo?: string | null;
}

/** Five cents, which are less than 5,000 tokens of answer. */
const createCapped = async (onCap: "refuse" | "shrink") =>
  (await chat.stack.createKey({ limits: monthLimits({ cap: 5 }) }, { strictCaps: true, onCap })).key;

async function call(sdk: string, apiKey: string, maxTokens: number): Promise<Outcome> {
  chat.upstream.answer({
    kind: "json",
    body: textCompletion("Hello.", { promptTokens: 3, cachedTokens: 0, completionTokens: 1 }),
  });
  const input = { base_url: chat.stack.baseUrl, api_key: apiKey, model: CHAT_MODEL };
  return (await player.play(sdk, { ...input, max_retries: 2, max_tokens: maxTokens })) as Outcome;
}

describe.each(SDKS)("the $sdk SDK for Python under strict caps", ({ sdk, errorClass, proven, route }) => {
  proves(proven, route);

  it("throws at once, and passes with what the error says", async () => {
    const key = await createCapped("refuse");
    const { error, statuses } = await call(sdk, key, ASKED);
    expect(error).toMatchObject({ name: errorClass, status: 402, code: "hard_cap_reached" });
    expect(error?.message).toMatch(SENTENCE);
    expect(statuses).toEqual([402]);
    expect(chat.upstream.requests).toHaveLength(0);
    const affordable = error?.affordable ?? 0;
    expect(Number(SENTENCE.exec(error?.message ?? "")?.[1])).toBe(affordable);
    // With one more it does not, and with that it does.
    expect((await call(sdk, key, affordable + 1)).statuses).toEqual([402]);
    expect(await call(sdk, key, affordable)).toMatchObject({ text: "Hello.", statuses: [200] });
  });

  it("reads a shrunk answer as any other, and how long it may be from its headers", async () => {
    const key = await createCapped("shrink");
    const { text, statuses, shrunkTo } = await call(sdk, key, ASKED);
    expect(text).toBe("Hello.");
    expect(statuses).toEqual([200]);
    expect(Number(shrunkTo)).toBeGreaterThan(256);
    expect(chat.upstream.lastRequest.body).toMatchObject({ max_tokens: Number(shrunkTo) });
  });
});
