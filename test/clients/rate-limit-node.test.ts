import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { CHAT_MODEL } from "../support/gateway-config.ts";
import { messageParams, SDKS, textOf } from "./anthropic-sdks.ts";
import type { Client } from "./clients.ts";
import { createOpenAi, OPENAI_SDKS } from "./openai-sdks.ts";
import { proves, type Route } from "./proofs.ts";
import { createDrainedKey, OUT_OF, type Refusal, REFUSALS, STOP_WORDS } from "./rate-limit-cases.ts";

const chat = withSharedChatStack();
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

/** What both SDKs have on each error that an answer stands for; Anthropic's calls the code `errorCode`. */
interface SdkError extends Error {
  readonly status: unknown;
  readonly type: unknown;
  readonly code?: unknown;
  readonly errorCode?: unknown;
  readonly requestID: unknown;
}

interface Sdk {
  readonly name: string;
  readonly proven: Client;
  readonly route: Route;
  readonly className: (refusal: Refusal) => string;
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
    if (!(thrown instanceof Error && "requestID" in thrown)) throw thrown;
    const { name } = thrown.constructor;
    const { status, type, code, errorCode, message, requestID: requestId } = thrown as SdkError;
    return {
      text: null,
      error: { name, status, type, code: errorCode ?? code, message, requestId },
      statuses,
    };
  }
}

const OPENAI = OPENAI_SDKS.map((sdk): Sdk => ({
  name: sdk.name,
  proven: sdk.proven,
  route: "/v1/chat/completions",
  className: ({ openaiClass }) => openaiClass,
  call: (apiKey, maxRetries) =>
    record(maxRetries, async (options) => {
      const client = createOpenAi(sdk, chat, { apiKey, ...options });
      const completion = await client.chat.completions.create({ model: CHAT_MODEL, messages: MESSAGES });
      return completion.choices[0]?.message.content ?? null;
    }),
}));

// Of the current major alone: the one before has no field for the code.
const ANTHROPIC = SDKS.slice(0, 1).map((sdk): Sdk => ({
  name: sdk.name,
  proven: sdk.proven,
  route: "/v1/messages",
  className: ({ anthropicClass }) => anthropicClass,
  call: (apiKey, maxRetries) =>
    record(maxRetries, async (options) => {
      const client = sdk.createClient({ baseURL: chat.stack.baseUrl, apiKey, ...options });
      return textOf(await client.messages.create(messageParams({ max_tokens: 20 })));
    }),
}));

describe.each([...OPENAI, ...ANTHROPIC])("$name", ({ proven, route, className, call }) => {
  proves(proven, route);

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
    const { status, type, code } = refusal;
    const { error, statuses } = await call(await refusal.createKey(chat), 2);
    expect(error).toMatchObject({ name: className(refusal), status, type, code });
    expect(statuses).toEqual([status]);
  });
});
