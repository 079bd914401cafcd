import Anthropic, { APIError as AnthropicError } from "@anthropic-ai/sdk";
import { APIError as OpenAIError, OpenAI } from "openai";
import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { createDrainedKey, OUT_OF, REFUSALS, STOP_WORDS } from "./rate-limit-cases.ts";

const chat = withChatStack(() => ({ workers: 2 }));
const MESSAGES = [{ role: "user" as const, content: "hello big world" }];

interface Outcome {
  readonly text: string | null;
  readonly error: {
    name: string;
    status: unknown;
    type: unknown;
    code: unknown;
    message: string;
    requestId: unknown;
  } | null;
  /** HTTP requests that the SDK made, with the status of each answer. */
  readonly statuses: readonly number[];
}

interface Sdk {
  readonly name: string;
  readonly call: (apiKey: string, maxRetries: number) => Promise<Outcome>;
}

async function record(
  maxRetries: number,
  run: (options: { fetch: typeof fetch; maxRetries: number }) => Promise<string | null>,
): Promise<Outcome> {
  const statuses: number[] = [];
  const counted: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    statuses.push(response.status);
    return response;
  };
  try {
    return { text: await run({ fetch: counted, maxRetries }), error: null, statuses };
  } catch (thrown) {
    if (!(thrown instanceof OpenAIError || thrown instanceof AnthropicError)) throw thrown;
    const { name } = thrown.constructor;
    const code = thrown instanceof AnthropicError ? thrown.errorCode : thrown.code;
    const { status, type, message, requestID } = thrown;
    return { text: null, error: { name, status, type, code, message, requestId: requestID }, statuses };
  }
}

const OPENAI: Sdk = {
  name: "openai",
  call: (apiKey, maxRetries) =>
    record(maxRetries, async (options) => {
      const client = new OpenAI({ baseURL: `${chat.stack.baseUrl}/v1`, apiKey, ...options });
      const completion = await client.chat.completions.create({ model: CHAT_MODEL, messages: MESSAGES });
      return completion.choices[0]?.message.content ?? null;
    }),
};

const ANTHROPIC: Sdk = {
  name: "anthropic",
  call: (apiKey, maxRetries) =>
    record(maxRetries, async (options) => {
      const client = new Anthropic({ baseURL: chat.stack.baseUrl, apiKey, ...options });
      const message = await client.messages.create({ model: CHAT_MODEL, messages: MESSAGES, max_tokens: 20 });
      const [block] = message.content;
      return block?.type === "text" ? block.text : null;
    }),
};

describe.each([OPENAI, ANTHROPIC])("the $name SDK for Node", ({ name, call }) => {
  it.each(OUT_OF)("waits as long as a 429 for $what says and then has its answer", async ({ createKey }) => {
    const key = await createKey(chat);
    const { text, statuses } = await call(key, 2);
    expect(text).toBe("hello big world");
    expect(statuses[0]).toBe(429);
    expect(statuses.at(-1)).toBe(200);
    expect(statuses.length).toBeLessThanOrEqual(3);
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
    const className = name === "openai" ? openaiClass : anthropicClass;
    expect(error).toMatchObject({ name: className, status, type, code });
    expect(statuses).toEqual([status]);
  });
});
