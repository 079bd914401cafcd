/** Answers that a model server breaks off and still ends tidily, through the real Envoy, on every route. */
import { describe, expect, it } from "vitest";
import {
  type AnswerRoute,
  CHOICES_ROUTES,
  choiceAnswer,
  choiceChunk,
  dataEvent,
} from "../support/answer-routes.ts";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { catalogEntry, CHAT_MODEL } from "../support/gateway-config.ts";
import type { HttpAnswer } from "../support/http.ts";
import { messagesStream } from "../support/native-exchange.ts";
import { readRequest } from "./metering-figures.ts";

const TEXT_MODEL = "acme/text";
const NATIVE_MODEL = "acme/native";
const PRICES = { USD: { input: "1", cached_input: "1", output: "4" } };
/** Of 100 prompt tokens and 20 generated ones, in microcents. */
const COST = 100n * 100n + 20n * 400n;
const DONE = "data: [DONE]\n\n";
const USAGE = dataEvent({
  choices: [],
  usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
});

const chat = withSharedChatStack([
  catalogEntry({ prices: PRICES }),
  catalogEntry({ id: TEXT_MODEL, capabilities: ["completions"], prices: PRICES }),
  catalogEntry({ id: NATIVE_MODEL, upstream: "native", prices: PRICES }),
]);

const PATHS: Readonly<Record<string, string>> = {
  chat: "/v1/chat/completions",
  completions: "/v1/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};
const BODIES: Readonly<Record<string, object>> = {
  chat: { messages: [{ role: "user", content: "Hello" }] },
  completions: { prompt: "Hello" },
  messages: { max_tokens: 100, messages: [{ role: "user", content: "Hello" }] },
  responses: { input: "Hello" },
};

function send({ client }: AnswerRoute, fields: object): Promise<HttpAnswer> {
  const model = client === "completions" ? TEXT_MODEL : CHAT_MODEL;
  return chat.send({ path: PATHS[client]!, body: { model, ...BODIES[client], ...fields } });
}

function streamOf(...pieces: string[]) {
  return { kind: "bytes", headers: { "content-type": "text/event-stream" }, pieces } as const;
}

describe.each(CHOICES_ROUTES)("$name", (route) => {
  const half = choiceChunk(route, "half an ");

  it.each([
    { name: "that its server aborts", pieces: [choiceChunk(route, "", { finish_reason: "abort" })] },
    {
      name: "with an error in a choice",
      pieces: [choiceChunk(route, "", { finish_reason: "error", error: { code: 502, message: "gone" } })],
    },
    { name: "with an error in a field of its own", pieces: ['error: {"code":500,"message":"gone"}\n\n'] },
    { name: "with a bare line of JSON", pieces: ['{"error":{"message":"gone","code":500}}\n\n'] },
    { name: "with an event of that name", pieces: ['event: error\ndata: {"detail":"gone"}\n\n'] },
  ])("tells a streamed answer $name as an error and logs it as the upstream's", async ({ pieces }) => {
    chat.upstream.answer(streamOf(half, ...pieces, USAGE, DONE));
    const received = await send(route, { stream: true });
    expect(received.status).toBe(200);
    expect(received.text).toContain("half an ");
    expect(received.text).toContain('"upstream_error"');
    expect(received.text).not.toMatch(/message_stop|response\.completed/u);
    const record = await readRequest(chat.stack, chat.key, received);
    expect(record).toMatchObject({ error_code: "upstream_error" });
  });

  it("takes a stream without a finish reason for whole that ends right behind its usage", async () => {
    chat.upstream.answer(streamOf(half, USAGE));
    const received = await send(route, { stream: true });
    expect([received.status, received.complete]).toEqual([200, true]);
    expect(received.text).not.toMatch(/"error":\{|response\.(?:failed|incomplete)/u);
    expect(await readRequest(chat.stack, chat.key, received)).toMatchObject({
      error_code: null,
      cost_microcents: Number(COST),
      estimated: false,
    });
  });

  it("takes one for half whose usage came before the answer", async () => {
    chat.upstream.answer(streamOf(USAGE, half, choiceChunk(route, "answer")));
    const received = await send(route, { stream: true });
    expect(received.text).toContain('"upstream_error"');
    expect(received.text).not.toMatch(/message_stop|response\.completed/u);
  });

  it("charges an aborted answer by the server's own count, streamed and whole", async () => {
    const aborted = choiceChunk(route, "", { finish_reason: "abort" });
    chat.upstream.answer(streamOf(half, aborted, USAGE, DONE));
    const streamed = await send(route, { stream: true });
    expect(await readRequest(chat.stack, chat.key, streamed)).toMatchObject({
      cost_microcents: Number(COST),
      estimated: false,
    });
    chat.upstream.answer({ kind: "json", body: choiceAnswer(route, "half", { finish_reason: "abort" }) });
    const whole = await send(route, {});
    expect(whole.status).toBe(502);
    expect(await readRequest(chat.stack, chat.key, whole)).toMatchObject({
      cost_microcents: Number(COST),
      estimated: false,
    });
  });

  it("passes over data that says nothing, before the answer and in it", async () => {
    const end = choiceChunk(route, "", { finish_reason: "stop" });
    chat.upstream.answer(streamOf("data: null\n\n", "data:  \n\n", half, "data: null\n\n", end, USAGE, DONE));
    const received = await send(route, { stream: true });
    expect(received.text).toContain("half an ");
    expect(received.text).not.toMatch(/"error":\{|data: null/u);
    expect(await readRequest(chat.stack, chat.key, received)).toMatchObject({
      cost_microcents: Number(COST),
      error_code: null,
    });
  });
});

it("a native stream whose server writes [DONE] in place of message_stop is over, though its connection stays open", async () => {
  const stream = messagesStream();
  const pieces = [stream.slice(0, stream.indexOf("event: message_stop")), DONE];
  chat.upstream.answer({ ...streamOf(...pieces), ending: "hang" });
  const received = await chat.send({
    path: "/v1/messages",
    body: { model: NATIVE_MODEL, ...BODIES["messages"], stream: true },
  });
  expect(received.text.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true);
  expect(await readRequest(chat.stack, chat.key, received)).toMatchObject({
    error_code: null,
    estimated: false,
  });
});
