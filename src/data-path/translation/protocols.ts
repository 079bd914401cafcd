/** The client protocols and their translations for each upstream protocol. */
import { CHAT_FIELDS } from "./chat-to-chat/request/read-fields.ts";
import { chatToChat } from "./chat-to-chat/translation.ts";
import type { Steps } from "../../shared/event-loop/steps.ts";
import type { Protocol, ProtocolName, RequestBody } from "./client-protocol.ts";
import { TIER_FIELDS } from "../../shared/usage/service-tiers.ts";
import { COMPLETIONS_FIELDS } from "./completions-to-completions/request/read-fields.ts";
import { completionsToCompletions } from "./completions-to-completions/translation.ts";
import { EMBEDDINGS_FIELDS } from "./embeddings-to-embeddings/request.ts";
import { embeddingsToEmbeddings } from "./embeddings-to-embeddings/translation.ts";
import { readJsonBody } from "./json/parse-body.ts";
import { nameModel, readRequestBody } from "./request-body.ts";
import { formatErrorBody as formatMessagesErrorBody } from "./messages-to-chat/error-body.ts";
import { messagesToChat } from "./messages-to-chat/translation.ts";
import { messagesToMessages } from "./messages-to-messages/translation.ts";
import { formatErrorBody } from "./openai/error-body.ts";
import { readModel, refuseAmbiguousKeys } from "./openai/request-fields.ts";
import { STATE_FIELDS } from "./responses-to-chat/request/refuse-state.ts";
import { responsesToChat } from "./responses-to-chat/translation.ts";
import { responsesToResponses } from "./responses-to-responses/translation.ts";

const MESSAGES_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "max_tokens",
  "stream",
  "tools",
  "mcp_servers",
  "container",
  ...TIER_FIELDS,
]);
const RESPONSES_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "max_output_tokens",
  "stream",
  "tools",
  "max_tool_calls",
  ...TIER_FIELDS,
  "input",
  "instructions",
  ...STATE_FIELDS,
]);

export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = {
  /** `POST /v1/chat/completions`. */
  chat: {
    name: "chat",
    readBody: (bytes) => readPassedBody(bytes, CHAT_FIELDS),
    translations: { chat: chatToChat },
    formatError: formatErrorBody,
  },
  /** `POST /v1/messages`. */
  messages: {
    name: "messages",
    readBody: (bytes) => readRequestBody(bytes, MESSAGES_FIELDS),
    translations: { chat: messagesToChat, messages: messagesToMessages },
    formatError: formatMessagesErrorBody,
  },
  /** `POST /v1/responses`. */
  responses: {
    name: "responses",
    readBody: (bytes) => readRequestBody(bytes, RESPONSES_FIELDS),
    translations: { chat: responsesToChat, responses: responsesToResponses },
    formatError: formatErrorBody,
  },
  /** `POST /v1/embeddings`. */
  embeddings: {
    name: "embeddings",
    readBody: (bytes) => readPassedBody(bytes, EMBEDDINGS_FIELDS),
    translations: { embeddings: embeddingsToEmbeddings },
    formatError: formatErrorBody,
  },
  /** `POST /v1/completions`. */
  completions: {
    name: "completions",
    readBody: (bytes) => readPassedBody(bytes, COMPLETIONS_FIELDS),
    translations: { completions: completionsToCompletions },
    formatError: formatErrorBody,
  },
};

/** Reads a body whose text is forwarded as it is. */
function* readPassedBody(bytes: Uint8Array, fields: ReadonlySet<string>): Steps<RequestBody> {
  const body = yield* readJsonBody(bytes);
  refuseAmbiguousKeys(body, fields);
  return nameModel(body, readModel(body.value));
}
