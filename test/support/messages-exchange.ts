/** Short ways through the messages translation, for its tests. */
import { GatewayError } from "../../src/shared/contract/errors.ts";
import type { IdGenerator } from "../../src/data-path/translation/messages-to-chat/ids.ts";
import type { Message } from "../../src/data-path/translation/messages-to-chat/message.ts";
import type { Answer, AnswerOutput, ModelTarget } from "../../src/data-path/translation/client-protocol.ts";
import { type ModelProfile, REASONING_EFFORTS } from "../../src/shared/contract/model-profile.ts";
import type { ChatRequestBody } from "../../src/data-path/translation/conversation/chat-request.ts";
import { MessagesRequest } from "../../src/data-path/translation/messages-to-chat/request.ts";
import { PROTOCOLS } from "../../src/data-path/translation/protocols.ts";
import { type MessageEvent, parseMessageEvents } from "./messages-protocol-checker.ts";
import { atOnce } from "../../src/shared/event-loop/steps.ts";

type Json = Readonly<Record<string, unknown>>;

export const DEFAULT_PROFILE: ModelProfile = {
  maxTokensField: "max_tokens",
  passthroughFields: [],
  reasoningEfforts: REASONING_EFFORTS,
  reasoningHistory: "reasoning_content",
  promptCacheKey: false,
  thinkTags: "none",
  topK: "forward",
  images: true,
  files: true,
  maxStop: null,
  toolNameMax: null,
  systemMid: "fold",
  prefill: "plain",
  continuousUsage: false,
  streamOptions: "forward",
  userField: "user",
};

export const ESTIMATED_INPUT_TOKENS = 77;

export function createModel(profile: Partial<ModelProfile> = {}): ModelTarget {
  return {
    id: "acme/echo",
    upstreamModel: "echo-7b",
    maxOutputTokens: 1_000_000,
    profile: { ...DEFAULT_PROFILE, ...profile },
  };
}

/** `msg_1`, `toolu_1`, `toolu_2` … */
export function countingIds(): IdGenerator {
  let messages = 0;
  let toolUses = 0;
  return { messageId: () => `msg_${++messages}`, toolUseId: () => `toolu_${++toolUses}` };
}

export function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
}

export function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** A Messages body: the fields given, and what must be there. */
export function requestBody(fields: Json = {}): Json {
  return { model: "acme/echo", max_tokens: 100, messages: [{ role: "user", content: "Hello" }], ...fields };
}

export function parse(fields: Json = {}): MessagesRequest {
  const body = atOnce(PROTOCOLS.messages.readBody(encode(requestBody(fields))));
  return new MessagesRequest(body, "answer", countingIds());
}

/** The chat completion request that a Messages request becomes. */
export function toChat(fields: Json = {}, profile: Partial<ModelProfile> = {}): ChatRequestBody {
  return JSON.parse(decode(parse(fields).toUpstream(createModel(profile)))) as ChatRequestBody;
}

/** The chat messages that a list of messages becomes. */
export function toChatMessages(
  messages: readonly unknown[],
  profile: Partial<ModelProfile> = {},
): ChatRequestBody["messages"] {
  return toChat({ messages }, profile).messages;
}

/** The chat messages that the blocks of one user message become. */
export function userBlocks(...content: unknown[]): ChatRequestBody["messages"] {
  return toChatMessages([{ role: "user", content }]);
}

/** The chat messages that the blocks of one assistant message become. */
export function assistantBlocks(...content: unknown[]): ChatRequestBody["messages"] {
  return toChatMessages([
    { role: "user", content: "Hello" },
    { role: "assistant", content },
  ]).slice(1);
}

/** The chat messages that blocks with the results of one turn's calls become. */
export function resultBlocks(...results: { tool_use_id: string; [name: string]: unknown }[]) {
  const calls = results.map(({ tool_use_id: id }) => ({ type: "tool_use", id, name: "f", input: {} }));
  return toChatMessages([
    { role: "assistant", content: calls },
    { role: "user", content: results },
  ]).slice(1);
}

/** What a client is told: "400 invalid_parameter top_k: Input should be …". Throws when nothing was refused. */
export function refusal(fields: Json, profile: Partial<ModelProfile> = {}): string {
  return describeError(() => toChat(fields, profile));
}

export function describeError(attempt: () => unknown): string {
  try {
    attempt();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.status("messages")} ${error.publicCode} ${error.message}`;
  }
  throw new Error("nothing was refused");
}

/** The reader of the answer to a request with these fields. */
export function createAnswer(fields: Json = {}, profile: Partial<ModelProfile> = {}): Answer {
  return parse(fields).createAnswer({
    model: createModel(profile),
    estimatedInputTokens: ESTIMATED_INPUT_TOKENS,
    nowMs: () => 0,
    requestId: "req_1",
  });
}

/** A chat completion around one message. */
export function completion(message: Json, more: { choice?: Json; body?: Json } = {}): Json {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    choices: [
      { index: 0, message: { role: "assistant", ...message }, finish_reason: "stop", ...more.choice },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    ...more.body,
  };
}

/** The message that a chat completion becomes. */
export function toMessage(body: Json, fields: Json = {}, profile: Partial<ModelProfile> = {}): Message {
  return JSON.parse(decode(createAnswer(fields, profile).translateBody(encode(body)).bytes)) as Message;
}

/** One chunk of an upstream's stream, as an event. */
export function chunk(delta: Json, more: { choice?: Json; body?: Json } = {}): string {
  return event({ choices: [{ index: 0, delta, finish_reason: null, ...more.choice }], ...more.body });
}

export function event(value: unknown): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}

/** One entry of a delta's `tool_calls`, as a chunk. */
export function toolChunk(call: { index?: number; id?: string; name?: string; arguments?: unknown }): string {
  const { index, id, name } = call;
  return chunk({ tool_calls: [{ index, id, function: { name, arguments: call.arguments } }] });
}

export const FINISH = chunk({}, { choice: { finish_reason: "stop" } });
export const USAGE = event({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5 } });
export const DONE = event("[DONE]");

export interface StreamResult {
  readonly events: MessageEvent[];
  /** One per piece pushed, and one for the end. */
  readonly outputs: AnswerOutput[];
  readonly answer: Answer;
}

/** Pushes the pieces of an upstream's stream, then its end. */
export function runStream(
  pieces: readonly (string | Uint8Array)[],
  fields: Json = {},
  profile: Partial<ModelProfile> = {},
): StreamResult {
  const answer = createAnswer({ stream: true, ...fields }, profile);
  const outputs = pieces.map((piece) => answer.push(typeof piece === "string" ? encode(piece) : piece));
  outputs.push(answer.end());
  return { events: parseMessageEvents(outputs.map(({ bytes }) => decode(bytes)).join("")), outputs, answer };
}

/** The events in short: "start text", "text Hello", "stop", "end tool_use". */
export function summarize(events: readonly MessageEvent[]): string[] {
  return events.map(({ event: type, data }) => {
    if (type === "content_block_start") {
      const { type: kind, id, name } = data["content_block"] as Record<string, string>;
      return kind === "tool_use" ? `start ${kind} ${id} ${name}` : `start ${kind}`;
    }
    if (type === "content_block_delta") {
      const { type: kind, ...value } = data["delta"] as Record<string, string>;
      return `${String(kind).replace(/_delta$/, "")} ${Object.values(value).join("")}`;
    }
    if (type === "content_block_stop") return "stop";
    if (type === "message_delta") return `end ${(data["delta"] as { stop_reason: string }).stop_reason}`;
    if (type === "error") return `error ${(data["error"] as { type: string }).type}`;
    return type;
  });
}

/** The events of a stream in short, without the frame of `message_start`, `message_delta` and `message_stop`. */
export function contentOf(pieces: readonly string[], fields: Json = {}): string[] {
  return summarize(runStream(pieces, fields).events).filter(
    (line) => !line.startsWith("message_") && !line.startsWith("end "),
  );
}
