/** Every route whose clients say how long an answer may be, and whose caps can be set on any owner. */
import { CHAT_PATH, type ChatStack, withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { MESSAGES_PATH } from "./metering-figures.ts";

/** The longest answer of every model here. */
export const MAX_OUTPUT = 40_000;
/** 250 microcents for a prompt token, 1,000 for a generated one: a cent is 1,000 tokens of answer. */
const fields = { max_output_tokens: MAX_OUTPUT, context_window: 50_000 };
export const CHAT = "acme/long-chat";
const ONE_NAME = "acme/one-name";
export const NATIVE = "acme/long-native";
const TEXT = "acme/long-text";

export const withRoutes = (): ChatStack =>
  withSharedChatStack([
    catalogEntry({ id: CHAT, ...fields }),
    catalogEntry({ id: ONE_NAME, ...fields, profile: { max_tokens_field: "max_completion_tokens" } }),
    catalogEntry({ id: NATIVE, upstream: "native", ...fields }),
    catalogEntry({ id: TEXT, ...fields, capabilities: ["completions"] }),
  ]);

export interface Route {
  readonly path: string;
  readonly model: string;
  /** The client's own name of the limit. */
  readonly limit: string;
  readonly prompt: (text: string) => object;
  readonly answers?: "n" | "best_of";
  readonly isLimitRequired?: true;
  /** A whole answer of its upstream, without cost but for one token. */
  readonly answer: object;
}

const USAGE = { promptTokens: 0, cachedTokens: 0, completionTokens: 1 };
const COMPLETION = textCompletion("x", USAGE);
const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "echo",
  content: [{ type: "text", text: "x" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 0, output_tokens: 1 },
};
const RESPONSE = {
  id: "resp_1",
  object: "response",
  status: "completed",
  model: "echo",
  output: [],
  usage: { input_tokens: 0, output_tokens: 1, total_tokens: 1 },
};
const TEXT_COMPLETION = {
  id: "cmpl-1",
  object: "text_completion",
  created: 1_790_000_000,
  model: "echo",
  choices: [{ index: 0, text: "x", logprobs: null, finish_reason: "stop" }],
  usage: { prompt_tokens: 0, completion_tokens: 1, total_tokens: 1 },
};

export const talk = (content: string) => ({ messages: [{ role: "user", content }] });
export const ROUTES: Readonly<Record<string, Route>> = {
  chat: { path: CHAT_PATH, model: CHAT, limit: "max_tokens", prompt: talk, answers: "n", answer: COMPLETION },
  "chat under one name": {
    path: CHAT_PATH,
    model: ONE_NAME,
    limit: "max_tokens",
    prompt: talk,
    answers: "n",
    answer: COMPLETION,
  },
  messages: {
    path: MESSAGES_PATH,
    model: CHAT,
    limit: "max_tokens",
    prompt: talk,
    isLimitRequired: true,
    answer: COMPLETION,
  },
  "native messages": {
    path: MESSAGES_PATH,
    model: NATIVE,
    limit: "max_tokens",
    prompt: talk,
    isLimitRequired: true,
    answer: MESSAGE,
  },
  responses: {
    path: "/v1/responses",
    model: CHAT,
    limit: "max_output_tokens",
    prompt: (input) => ({ input }),
    answer: COMPLETION,
  },
  "native responses": {
    path: "/v1/responses",
    model: NATIVE,
    limit: "max_output_tokens",
    prompt: (input) => ({ input }),
    answer: RESPONSE,
  },
  completions: {
    path: "/v1/completions",
    model: TEXT,
    limit: "max_tokens",
    prompt: (text) => ({ prompt: [text, `${text}é`] }),
    answers: "best_of",
    answer: TEXT_COMPLETION,
  },
};

export const SCOPES = ["key", "user", "group", "organization"] as const;

export interface OwnerCap {
  readonly scope: (typeof SCOPES)[number];
  readonly period: string;
  readonly cents: number;
}

/** An organization with strict caps, a group, a user in it and the user's key. */
export async function createOwners(chat: ChatStack, settings: object = {}) {
  const { organizationId } = await chat.stack.createKey({}, { strictCaps: true, ...settings });
  const path = `/api/organizations/${organizationId}`;
  const group = await chat.stack.admin("POST", `${path}/groups`, { name: "Search" });
  const user = await chat.stack.admin("POST", `${path}/users`, { name: "Zoë", group_id: group["id"] });
  const key = await chat.stack.admin("POST", `${path}/keys`, { name: "ci", user_id: user["id"] });
  const paths = {
    key: `${path}/keys/${String(key["id"])}`,
    user: `${path}/users/${String(user["id"])}`,
    group: `${path}/groups/${String(group["id"])}`,
    organization: path,
  };
  return { paths, organizationId, key: String(key["key"]) };
}
export type Owners = Awaited<ReturnType<typeof createOwners>>;

/** Sets these caps, and takes away the owner's others. */
export async function cap(chat: ChatStack, owners: Owners, limits: readonly OwnerCap[]): Promise<void> {
  for (const scope of SCOPES) {
    const own = limits.filter((limit) => limit.scope === scope);
    const rows = [...new Map(own.map(({ period, cents }) => [period, cents]))].map(([period, cents]) => ({
      period,
      kind: "cap",
      cents,
    }));
    if (rows.length > 0) await chat.stack.admin("PATCH", owners.paths[scope], { limits: rows });
  }
}
