import { isJsonObject } from "../../../../shared/text/json-object.ts";
import { CHAT_SEARCH_FIELDS } from "../../fields/server-tools.ts";
import { readOutputLimit } from "../../fields/output-limit.ts";
import type { JsonBody } from "../../json/parse-body.ts";
import {
  invalid,
  missing,
  readRequestedTier,
  readFlag,
  readEndUser,
  readInteger,
  readChoices,
  readStreamOptions,
} from "../../openai/request-fields.ts";
import { TIER_FIELDS } from "../../../../shared/usage/service-tiers.ts";
import { nameServiceTier } from "../../../../shared/usage/service-tiers.ts";

/** Fields of a chat completion request that the gateway reads. All other fields pass to the upstream unread. */
export interface ChatFields {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly stream: boolean;
  readonly streamOptions: Readonly<Record<string, unknown>> | null;
  /** Generated answers: `n`, or `best_of` if a server supports it and generates more to choose from. */
  readonly choices: number;
  /** The requested tier in lower case. */
  readonly serviceTier: string | null;
  /** The smallest limit under any of its names, or null. */
  readonly maxOutputTokens: number | null;
  readonly endUser: string | null;
}

/** Every field that is read or written here, see `refuseAmbiguousKeys`. */
export const CHAT_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "n",
  "best_of",
  "max_tokens",
  "max_completion_tokens",
  "tools",
  "functions",
  "response_format",
  ...TIER_FIELDS,
  ...CHAT_SEARCH_FIELDS,
]);

/** @throws GatewayError 400 naming the field, what was found and what was expected. */
export function readChatFields(body: JsonBody): ChatFields {
  const { value } = body;
  const messages = readMessages(value["messages"]);
  const stream = readFlag(value, "stream");
  for (const name of ["max_completion_tokens", "max_tokens"]) readInteger(value, name);
  return {
    messages,
    stream,
    streamOptions: readStreamOptions(value),
    endUser: readEndUser(value),
    choices: Math.max(readChoices(value, "n"), readChoices(value, "best_of")),
    serviceTier: nameServiceTier({ ...value, service_tier: readRequestedTier(value) }),
    maxOutputTokens: readOutputLimit(body),
  };
}

function readMessages(messages: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (messages === undefined) throw missing("messages", "an array of at least one message");
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalid("messages", "an array of at least one message", messages);
  }
  const wrong = messages.findIndex((message) => !isJsonObject(message));
  if (wrong !== -1) throw invalid(`messages.${wrong}`, "an object with a `role`", messages[wrong]);
  return messages as readonly Readonly<Record<string, unknown>>[];
}
