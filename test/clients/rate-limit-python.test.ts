import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { withPython } from "../support/python.ts";
import { CLIENTS } from "./clients.ts";
import { proves } from "./proofs.ts";
import { createDrainedKey, REFUSALS, STOP_WORDS, useUpTokens } from "./rate-limit-cases.ts";

const chat = withSharedChatStack();
const player = withPython("rate_limit.py");

interface Outcome {
  readonly text: string | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly statuses: readonly number[];
}

describe.each([
  { sdk: "openai", proven: CLIENTS.pythonOpenai, route: "/v1/chat/completions" },
  { sdk: "anthropic", proven: CLIENTS.pythonAnthropic, route: "/v1/messages" },
] as const)("the $sdk SDK for Python", ({ sdk, proven, route }) => {
  proves(proven, route);
  const call = async (apiKey: string, maxRetries: number): Promise<Outcome> => {
    const input = {
      base_url: chat.stack.baseUrl,
      api_key: apiKey,
      model: CHAT_MODEL,
      max_retries: maxRetries,
    };
    return (await player.play(sdk, input)) as Outcome;
  };

  it("waits as long as a 429 says and then has its answer", async () => {
    const key = await createDrainedKey(chat);
    const outcome = await call(key, 3);
    expect(outcome.text).toBe("hello big world");
    expect(outcome.statuses[0]).toBe(429);
    expect(outcome.statuses.at(-1)).toBe(200);
  });

  it("waits out a 429 of tokens per minute", async () => {
    const { key } = await chat.stack.createKey({ tokensPerMinute: 6_000 });
    await useUpTokens(chat, key);
    const outcome = await call(key, 3);
    expect(outcome.text).toBe("hello big world");
    expect(outcome.statuses.at(-1)).toBe(200);
  });

  it("throws its RateLimitError for a 429 that it may not retry, in words on which no framework gives up", async () => {
    const { error, statuses } = await call(await createDrainedKey(chat, 1), 0);
    expect(error).toMatchObject({
      name: "RateLimitError",
      status: 429,
      type: "rate_limit_error",
      code: "rate_limit_exceeded",
      requestId: expect.stringMatching(/^req_/u) as string,
    });
    expect(error?.message).toContain("Rate limit of 1 request per minute");
    expect(error?.message).not.toMatch(STOP_WORDS);
    expect(statuses).toEqual([429]);
  });

  it.each(REFUSALS)("throws its own class for $name and does not try again", async (refusal) => {
    const { status, type, code, openaiClass, anthropicClass } = refusal;
    const { error, statuses } = await call(await refusal.createKey(chat), 2);
    const pythonClass = openaiClass === "APIError" ? "APIStatusError" : openaiClass;
    const name = sdk === "openai" ? pythonClass : anthropicClass;
    expect(error).toMatchObject({ name, status, type, code });
    expect(statuses).toEqual([status]);
  });
});
