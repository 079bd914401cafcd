import { describe, expect, it } from "vitest";
import { withChatStack } from "../support/chat-stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { finishChunk, openaiError, type ScriptedAnswer, textChunk } from "../support/scripted-answer.ts";
import { textCompletion } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";
import { readMessageStream, sendMessages, streamedText, summarizeMessagesError } from "./messages-checks.ts";
import { messagesBody } from "./metering-figures.ts";

const closedPort = await findFreePort();
const ABSENT_MODEL = "acme/absent";

const chat = withChatStack((upstream) => ({
  upstreams: [
    { name: "local", url: upstream.url, path_prefix: "/v1" },
    { name: "absent", url: `http://127.0.0.1:${closedPort}`, path_prefix: "/v1" },
  ],
  catalog: [catalogEntry(), catalogEntry({ id: ABSENT_MODEL, upstream: "absent", startup_seconds: 17 })],
}));

/** A text of the upstream that only the log may have. */
const SECRET_TEXT = "internal host gpu-7.cluster.local";

interface Row {
  readonly name: string;
  readonly answer: ScriptedAnswer;
  readonly expected: object;
}

function refusal(status: number, fields: object = {}): ScriptedAnswer {
  return { kind: "json", status, body: openaiError("temperature is too high", fields) };
}

function failure(status: number, headers: Record<string, string> = {}): ScriptedAnswer {
  return { kind: "json", status, headers, body: openaiError(SECRET_TEXT) };
}

function page(type: string): ScriptedAnswer {
  return { kind: "bytes", headers: { "content-type": type }, pieces: [`<html>${SECRET_TEXT}`] };
}

const INVALID = {
  status: 400,
  type: "invalid_request_error",
  message: expect.stringContaining("temperature is too high") as string,
};
const BROKEN = { status: 502, type: "api_error", code: "upstream_error" };
const STARTING = { status: 503, type: "overloaded_error", code: "model_starting" };
const OVERLOADED = { status: 529, type: "overloaded_error", code: "model_overloaded" };

const ROWS: readonly Row[] = [
  {
    name: "a 400 with code and param",
    answer: refusal(400, { code: "bad_range", param: "temperature" }),
    expected: { ...INVALID, code: "bad_range", param: "temperature" },
  },
  { name: "a 400 without a code", answer: refusal(400), expected: { ...INVALID, code: "invalid_parameter" } },
  { name: "a 413", answer: refusal(413), expected: INVALID },
  { name: "a 422", answer: refusal(422), expected: INVALID },
  {
    name: "vLLM's 400",
    answer: {
      kind: "json",
      status: 400,
      body: { object: "error", message: "temperature is too high", type: "BadRequestError", code: 400 },
    },
    expected: { ...INVALID, code: "invalid_parameter" },
  },
  {
    name: "Ollama's 400",
    answer: { kind: "json", status: 400, body: { error: "temperature is too high" } },
    expected: INVALID,
  },
  {
    name: "a 401",
    answer: failure(401),
    expected: { ...BROKEN, code: "upstream_authentication_failed" },
  },
  { name: "a 402", answer: failure(402), expected: { status: 502, type: "api_error" } },
  { name: "a 403", answer: failure(403), expected: { status: 502, type: "api_error" } },
  { name: "a 404", answer: failure(404), expected: BROKEN },
  {
    name: "a 429 with Retry-After",
    answer: failure(429, { "retry-after": "7" }),
    expected: { ...OVERLOADED, retryAfter: "7" },
  },
  { name: "a 429 without Retry-After", answer: failure(429), expected: { ...OVERLOADED, retryAfter: "5" } },
  { name: "a 529", answer: failure(529), expected: { ...OVERLOADED, retryAfter: "5" } },
  { name: "a 500", answer: failure(500), expected: BROKEN },
  {
    name: "a 503 with Retry-After",
    answer: failure(503, { "retry-after": "3" }),
    expected: { ...STARTING, retryAfter: "3" },
  },
  { name: "a 503 without Retry-After", answer: failure(503), expected: { ...STARTING, retryAfter: "10" } },
  { name: "a reset before the answer", answer: { kind: "reset" }, expected: BROKEN },
  { name: "an answer that is not JSON", answer: page("application/json"), expected: BROKEN },
  { name: "a page instead of an answer", answer: page("text/html"), expected: BROKEN },
  {
    name: "an empty answer",
    answer: { kind: "bytes", headers: { "content-length": "0" }, pieces: [] },
    expected: BROKEN,
  },
  {
    name: "a compressed answer that nobody asked for",
    answer: { kind: "json", gzip: true, body: textCompletion("hi", null) },
    expected: BROKEN,
  },
  {
    name: "an answer without choices",
    answer: { kind: "json", body: { object: "chat.completion", choices: [] } },
    expected: BROKEN,
  },
  { name: "an error with status 200", answer: failure(200), expected: BROKEN },
];

describe.each([
  { name: "JSON", stream: false },
  { name: "streamed", stream: true },
])("upstream failures of $name messages", ({ stream }) => {
  it.each(ROWS)("answer $name as the contract says", async ({ answer, expected }) => {
    chat.upstream.answer(answer);
    const received = await sendMessages(chat, { body: messagesBody({ stream }) });
    expect(summarizeMessagesError(received)).toMatchObject({ ...expected, breaches: [] });
    expect(received.text).not.toContain(SECRET_TEXT);
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("answer a refused connection with model_starting and the catalog's startup time", async () => {
    const received = await sendMessages(chat, { body: messagesBody({ stream, model: ABSENT_MODEL }) });
    expect(summarizeMessagesError(received)).toMatchObject({ ...STARTING, retryAfter: "17", breaches: [] });
  });
});

describe("an upstream that fails after its answer has begun", () => {
  const EVENTS = [textChunk("one"), textChunk(" two")];

  it.each([
    {
      name: "sends an error",
      events: [{ error: { message: SECRET_TEXT, type: "server_error", code: 500 } }, textChunk("never")],
      type: "api_error",
    },
    {
      name: "sends an error of its overload",
      events: [{ error: { message: SECRET_TEXT, code: 429 } }],
      type: "overloaded_error",
    },
    { name: "sends vLLM's error", events: [{ object: "error", message: SECRET_TEXT }], type: "api_error" },
    { name: "stops in the middle", events: [], type: "api_error" },
  ])("ends the stream with an error event when it $name", async ({ events, type }) => {
    chat.upstream.answer({ kind: "events", events: [...EVENTS, ...events], done: false });
    const received = await sendMessages(chat, { body: messagesBody({ stream: true }) });
    const read = readMessageStream(received, "error");
    expect(streamedText(read)).toBe("one two");
    expect(read.at(-1)?.data).toMatchObject({
      type: "error",
      error: { type, request_id: received.headers["request-id"] },
      request_id: received.headers["request-id"],
    });
    expect(received.text).not.toMatch(/message_stop|never|gpu-7/u);
  });

  it("ends the stream with an error event when a chunk is no JSON", async () => {
    const headers = { "content-type": "text/event-stream" };
    const pieces = [`data: ${JSON.stringify(textChunk("one"))}\n\n`, "data: {oops\n\n"];
    chat.upstream.answer({ kind: "bytes", headers, pieces });
    const received = await sendMessages(chat, { body: messagesBody({ stream: true }) });
    expect(streamedText(readMessageStream(received, "error"))).toBe("one");
  });

  it("takes a stream for whole that has a finish reason but no [DONE]", async () => {
    chat.upstream.answer({ kind: "events", events: [...EVENTS, finishChunk()], done: false });
    const received = await sendMessages(chat, { body: messagesBody({ stream: true }) });
    expect(streamedText(readMessageStream(received, "message_stop"))).toBe("one two");
  });

  it("cuts the client's stream when it resets", async () => {
    const gate = createGate();
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("one"), gate],
      done: false,
      ending: "reset",
    });
    const received = await sendMessages(chat, {
      body: messagesBody({ stream: true }),
      onData: (_chunk, soFar) => {
        if (soFar.includes('"one"')) gate.release();
      },
    });
    expect(received.complete).toBe(false);
    expect(received.text).toContain('"one"');
    expect(received.text).not.toContain("message_stop");
  });
});
