/** Every way of an answer through the gateway, for tests of what holds on each of them. */
import type { Answer, AnswerOutput, ProtocolName } from "../../src/data-path/translation/client-protocol.ts";
import type { UpstreamProtocol } from "../../src/shared/contract/model-profile.ts";
import { createModel, decode, encode, ESTIMATED_INPUT_TOKENS } from "./messages-exchange.ts";
import { parseWith } from "./parse-with.ts";

export interface AnswerRoute {
  /** "messages to chat". */
  readonly name: string;
  readonly client: ProtocolName;
  readonly upstream: UpstreamProtocol;
}

function createRoute(client: ProtocolName, upstream: UpstreamProtocol): AnswerRoute {
  return { name: `${client} to ${upstream}`, client, upstream };
}

/** Whose upstream answers in choices. */
export const CHOICES_ROUTES: readonly AnswerRoute[] = [
  createRoute("chat", "chat"),
  createRoute("completions", "completions"),
  createRoute("messages", "chat"),
  createRoute("responses", "chat"),
];

/** Whose upstream speaks the client's own protocol, and not in choices. */
export const NATIVE_ROUTES: readonly AnswerRoute[] = [
  createRoute("messages", "messages"),
  createRoute("responses", "responses"),
];

const BODIES: Readonly<Record<ProtocolName, object>> = {
  chat: { messages: [{ role: "user", content: "Hello" }], stream_options: { include_usage: true } },
  completions: { prompt: "Hello" },
  messages: { max_tokens: 100, messages: [{ role: "user", content: "Hello" }] },
  responses: { input: "Hello" },
  embeddings: { input: "Hello" },
};

/** The reader of an answer on this route. */
export function createRouteAnswer({ client, upstream }: AnswerRoute, fields: object = {}): Answer {
  const { stream_options, ...body } = BODIES[client] as { stream_options?: object };
  const isStream = (fields as { stream?: boolean }).stream === true;
  const options = isStream && stream_options !== undefined ? { stream_options } : {};
  const request = parseWith(client, encode({ model: "acme/echo", ...body, ...options, ...fields }), upstream);
  const model = createModel();
  request.toUpstream(model);
  return request.createAnswer({
    model,
    estimatedInputTokens: ESTIMATED_INPUT_TOKENS,
    nowMs: () => 1_000,
    requestId: "req_1",
  });
}

export interface RouteStream {
  readonly text: string;
  readonly last: AnswerOutput;
  readonly answer: Answer;
}

/** Pushes the pieces of an upstream's stream, then its end. */
export function runRouteStream(route: AnswerRoute, pieces: readonly string[]): RouteStream {
  const answer = createRouteAnswer(route, { stream: true });
  const outputs = pieces.map((piece) => answer.push(encode(piece)));
  const last = answer.end();
  return { text: [...outputs, last].map(({ bytes }) => decode(bytes)).join(""), last, answer };
}

/** A chunk with this text, in the form of the route's upstream. */
export function choiceChunk({ upstream }: AnswerRoute, text: string, choice: object = {}): string {
  const piece = upstream === "completions" ? { text } : { delta: { content: text } };
  return dataEvent({
    id: "c",
    model: "up",
    choices: [{ index: 0, ...piece, finish_reason: null, ...choice }],
  });
}

/** A whole answer with this text, in the form of the route's upstream. */
export function choiceAnswer({ upstream }: AnswerRoute, text: string, choice: object = {}): object {
  const piece = upstream === "completions" ? { text } : { message: { role: "assistant", content: text } };
  return {
    id: "c",
    model: "up",
    choices: [{ index: 0, ...piece, finish_reason: "stop", ...choice }],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  };
}

export function dataEvent(data: unknown): string {
  return `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}
