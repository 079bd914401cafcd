/** What a client of a key meets: refusals by the key, the bucket and the cap, for the tests of every SDK. */
import { chatBody, type ChatStack } from "../support/chat-stack.ts";
import { monthLimits } from "../support/month-limits.ts";

export interface Refusal {
  readonly name: string;
  readonly status: number;
  readonly type: string;
  readonly code: string;
  /** Class names, of openai's and of Anthropic's SDK. */
  readonly openaiClass: string;
  readonly anthropicClass: string;
  readonly createKey: (chat: ChatStack) => Promise<string>;
}

export const REFUSALS: readonly Refusal[] = [
  {
    name: "a wrong key",
    status: 401,
    type: "authentication_error",
    code: "invalid_api_key",
    openaiClass: "AuthenticationError",
    anthropicClass: "AuthenticationError",
    createKey: async () => "sk-igw-nobody",
  },
  {
    name: "a reached cap",
    status: 402,
    type: "billing_error",
    code: "hard_cap_reached",
    openaiClass: "APIError",
    anthropicClass: "PaymentRequiredError",
    createKey: async (chat) => (await chat.stack.createKey({ limits: monthLimits({ cap: 0 }) })).key,
  },
  {
    name: "a disabled key",
    status: 403,
    type: "permission_error",
    code: "key_disabled",
    openaiClass: "PermissionDeniedError",
    anthropicClass: "PermissionDeniedError",
    createKey: async (chat) => (await chat.stack.createKey({ disabled: true })).key,
  },
];

/** Words on which LangChain stops retrying a 429. */
export const STOP_WORDS = /quota|billing|credit|will reset at/iu;

/** More than the bucket of a drained key holds. */
const BURST = 12;

/** A key whose bucket is empty: at 10 requests a minute the next token is there after six seconds, on a busy machine later than the first call. */
export async function createDrainedKey(chat: ChatStack, requestsPerMinute = 10): Promise<string> {
  const { key } = await chat.stack.createKey({ requestsPerMinute });
  // At once: one after the other, on a slow machine, they take no more than what flows in.
  const send = async (): Promise<number> => (await chat.stack.send({ path: "/v1/models", key })).status;
  let statuses: readonly number[] = [];
  while (!statuses.includes(429)) statuses = await Promise.all(Array.from({ length: BURST }, send));
  return key;
}

/** Uses up what a key of 6,000 tokens a minute has, by the count of its upstream: its level is above 0 within two seconds. */
export async function useUpTokens(chat: ChatStack, key: string): Promise<void> {
  const message = { role: "assistant", content: "much" };
  chat.upstream.answerNext({
    kind: "json",
    body: {
      id: "chatcmpl-much",
      object: "chat.completion",
      created: 1,
      model: "scripted",
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 5_000, completion_tokens: 1_150, total_tokens: 6_150 },
    },
  });
  await chat.send({ key, body: chatBody() });
}

async function createKeyOutOfTokens(chat: ChatStack): Promise<string> {
  const { key } = await chat.stack.createKey({ tokensPerMinute: 6_000 });
  await useUpTokens(chat, key);
  return key;
}

/** Both ends of a 429: of requests, and of tokens. */
export const OUT_OF = [
  { what: "requests", createKey: (chat: ChatStack) => createDrainedKey(chat) },
  { what: "tokens", createKey: createKeyOutOfTokens },
] as const;
