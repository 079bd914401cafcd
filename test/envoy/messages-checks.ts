/** What the tests of the messages route read and send. */
import { describeAnswer, type ErrorSummary, summarizeError } from "../support/answer-checks.ts";
import type { ChatStack } from "../support/chat-stack.ts";
import type { HttpAnswer, SendOptions } from "../support/http.ts";
import {
  checkMessageStream,
  type MessageEvent,
  parseMessageEvents,
} from "../support/messages-protocol-checker.ts";

export const COUNT_TOKENS_PATH = "/v1/messages/count_tokens";
const BUCKET_HEADERS = ["limit", "remaining", "reset"].map((name) => `anthropic-ratelimit-requests-${name}`);

/** `POST /v1/messages` with the stack's key; path, key and the rest as given otherwise. */
export function sendMessages(
  chat: ChatStack,
  options: Partial<SendOptions> & { readonly key?: string | null },
): Promise<HttpAnswer> {
  return chat.send({ path: "/v1/messages", ...options });
}

/** As `describeAnswer`, with the bucket in Anthropic's own headers. */
export function describeMessagesAnswer(answer: HttpAnswer): string {
  const missing = BUCKET_HEADERS.filter((name) => answer.headers[name] === undefined);
  return missing.length === 0 ? describeAnswer(answer) : `${answer.status} without ${missing.join(", ")}`;
}

/** As `summarizeError`, with every breach of the Anthropic envelope as well. */
export function summarizeMessagesError(answer: HttpAnswer): ErrorSummary {
  const summary = summarizeError(answer);
  const breaches = [...summary.breaches];
  const body = answer.json();
  const { error } = body as { error: { code: string; details?: { error_code?: string } } };
  if (Object.keys(body).sort().join() !== "error,request_id,type") breaches.push(Object.keys(body).join());
  if (body["type"] !== "error") breaches.push(`type ${String(body["type"])}`);
  if (body["request_id"] !== answer.headers["request-id"]) breaches.push("request_id");
  if (error.details?.error_code !== error.code) breaches.push("details.error_code");
  return { ...summary, breaches };
}

/**
 * The events of a stream that keeps to the protocol and ends so; throws at the first violation. An `error` may be
 * followed by a cut: an upstream that would go on is cut off, and the client's connection with it.
 */
export function readMessageStream(answer: HttpAnswer, ending: "message_stop" | "error"): MessageEvent[] {
  const description = describeMessagesAnswer(ending === "error" ? { ...answer, complete: true } : answer);
  if (description !== "200") throw new Error(description);
  const events = parseMessageEvents(answer.text);
  const ended = checkMessageStream(events);
  if (ended !== ending) throw new Error(`ended by ${ended}: ${answer.text.slice(-2_000)}`);
  return events;
}

/** The text of all text deltas. */
export function streamedText(events: readonly MessageEvent[]): string {
  const deltas = events.map(({ data }) => data["delta"] as { text?: string } | undefined);
  return deltas.map((delta) => delta?.text ?? "").join("");
}
