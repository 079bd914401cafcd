import { describe, expect, it } from "vitest";
import { summarizeError } from "../support/answer-checks.ts";
import { chatBody, withChatStack } from "../support/chat-stack.ts";
import { findFreePort } from "../support/free-port.ts";
import { catalogEntry } from "../support/gateway-config.ts";
import { type HttpAnswer, readError, readEvents } from "../support/http.ts";
import {
  finishChunk,
  openaiError,
  type ScriptedAnswer,
  textChunk,
  textCompletion,
} from "../support/scripted-answer.ts";

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

function refusal(status: number, fields: object = {}, headers: Record<string, string> = {}): ScriptedAnswer {
  return { kind: "json", status, headers, body: openaiError("temperature is too high", fields) };
}

function failure(status: number, headers: Record<string, string> = {}): ScriptedAnswer {
  return { kind: "json", status, headers, body: openaiError(SECRET_TEXT) };
}

const INVALID = {
  status: 400,
  type: "invalid_request_error",
  message: expect.stringContaining("temperature is too high") as string,
};
const BROKEN = { status: 502, type: "api_error", code: "upstream_error" };
const STARTING = { status: 503, type: "overloaded_error", code: "model_starting" };
const OVERLOADED = { status: 503, type: "overloaded_error", code: "model_overloaded" };

const ROWS: readonly Row[] = [
  {
    name: "a 400 with code and param",
    answer: refusal(400, { code: "bad_range", param: "temperature" }),
    expected: { ...INVALID, code: "bad_range", param: "temperature" },
  },
  { name: "a 400 without a code", answer: refusal(400), expected: { ...INVALID, code: "invalid_parameter" } },
  {
    name: "a 400 with a number as code",
    answer: refusal(400, { code: 400 }),
    expected: { ...INVALID, code: "invalid_parameter" },
  },
  { name: "a 413", answer: refusal(413), expected: INVALID },
  { name: "a 422", answer: refusal(422), expected: INVALID },
  {
    name: "a 301",
    answer: failure(301, { location: "http://10.0.0.1/" }),
    expected: { status: 502, type: "api_error" },
  },
  { name: "a 401", answer: failure(401), expected: { ...BROKEN, code: "upstream_authentication_failed" } },
  { name: "a 402", answer: failure(402), expected: { status: 502, type: "api_error" } },
  { name: "a 403", answer: failure(403), expected: { status: 502, type: "api_error" } },
  { name: "a 404", answer: failure(404), expected: BROKEN },
  {
    name: "a 429 with Retry-After",
    answer: failure(429, { "retry-after": "7" }),
    expected: { ...OVERLOADED, retryAfter: "7" },
  },
  {
    name: "a 429 with a long Retry-After",
    answer: failure(429, { "retry-after": "900" }),
    expected: { ...OVERLOADED, retryAfter: "59" },
  },
  { name: "a 429 without Retry-After", answer: failure(429), expected: { ...OVERLOADED, retryAfter: "5" } },
  { name: "a 529", answer: failure(529), expected: { ...OVERLOADED, retryAfter: "5" } },
  { name: "a 500", answer: failure(500), expected: BROKEN },
  { name: "a 502", answer: failure(502), expected: BROKEN },
  {
    name: "a 503 with Retry-After",
    answer: failure(503, { "retry-after": "3" }),
    expected: { ...STARTING, retryAfter: "3" },
  },
  { name: "a 503 without Retry-After", answer: failure(503), expected: { ...STARTING, retryAfter: "10" } },
  { name: "a reset before the answer", answer: { kind: "reset" }, expected: BROKEN },
  {
    name: "an answer that is not JSON",
    answer: {
      kind: "bytes",
      headers: { "content-type": "application/json" },
      pieces: [`<html>${SECRET_TEXT}`],
    },
    expected: BROKEN,
  },
  {
    name: "a page instead of an answer",
    answer: { kind: "bytes", headers: { "content-type": "text/html" }, pieces: [`<html>${SECRET_TEXT}`] },
    expected: BROKEN,
  },
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
  { name: "an error with status 200", answer: failure(200), expected: BROKEN },
];

describe.each([
  { name: "JSON", stream: false },
  { name: "streamed", stream: true },
])("upstream failures of $name requests", ({ stream }) => {
  it.each(ROWS)("answer $name as the contract says", async ({ answer, expected }) => {
    chat.upstream.answer(answer);
    const received = await chat.send({ body: chatBody({ stream }) });
    expect(summarizeError(received)).toMatchObject({ ...expected, breaches: [] });
    expect(received.text).not.toContain(SECRET_TEXT);
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("answer a refused connection with model_starting and the catalog's startup time", async () => {
    const received = await chat.send({ body: chatBody({ stream, model: ABSENT_MODEL }) });
    expect(summarizeError(received)).toMatchObject({ ...STARTING, retryAfter: "17", breaches: [] });
  });
});

describe("an upstream that fails after its answer has begun", () => {
  const events = [textChunk("one"), textChunk("two")];

  it("cuts the client's stream when it resets", async () => {
    chat.upstream.answer({ kind: "events", events, done: false, ending: "reset" });
    // The reset may overtake the first bytes: it is an error then. A whole stream it may never be.
    expect(["cut", 502]).toContain(await outcome(chat.send({ body: chatBody({ stream: true }) })));
  });

  it("never gives a cut JSON answer as a whole one", async () => {
    const body = JSON.stringify(textCompletion("cut off", null));
    chat.upstream.answer({
      kind: "bytes",
      headers: { "content-type": "application/json", "content-length": String(body.length) },
      pieces: [body.slice(0, 20)],
      ending: "reset",
    });
    expect(["cut", 502]).toContain(await outcome(chat.send({ body: chatBody() })));
  });

  it("ends the stream with an error event when the upstream sends one", async () => {
    const error = { error: { message: "out of memory", type: "server_error", code: 500 } };
    chat.upstream.answer({ kind: "events", events: [...events, error, textChunk("never")], done: false });
    const received = await chat.send({ body: chatBody({ stream: true }) });
    const last = readEvents(received.text).at(-1);
    expect(last).toMatchObject({
      error: { type: "api_error", request_id: received.headers["x-request-id"] },
    });
    expect(received.text).not.toContain("never");
  });

  it("ends the stream with an error event when the upstream stops in the middle", async () => {
    chat.upstream.answer({ kind: "events", events, done: false });
    const received = await chat.send({ body: chatBody({ stream: true }) });
    expect(readEvents(received.text).at(-1)).toMatchObject({ error: { code: "upstream_error" } });
    expect(received.text).not.toContain("[DONE]");
  });

  it("takes a stream for whole that has a finish reason but no [DONE]", async () => {
    chat.upstream.answer({ kind: "events", events: [...events, finishChunk()], done: false });
    const received = await chat.send({ body: chatBody({ stream: true }) });
    expect(received.complete).toBe(true);
    expect(received.text).not.toContain('"error"');
    expect(readEvents(received.text).at(-1)).toBe("[DONE]");
  });
});

describe("a model's error", () => {
  it("keeps the id that the log has", async () => {
    chat.upstream.answer(failure(500));
    const received = await chat.send({ body: chatBody() });
    expect(readError(received).request_id).toBe(received.headers["request-id"]);
  });
});

/** The status of a whole answer, or "cut". */
async function outcome(sending: Promise<HttpAnswer>): Promise<number | "cut"> {
  try {
    const answer = await sending;
    return answer.complete ? answer.status : "cut";
  } catch (thrown) {
    if (thrown instanceof Error && /ECONNRESET|socket hang up/u.test(thrown.message)) return "cut";
    throw thrown;
  }
}
