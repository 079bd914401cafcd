import { describe, expect, it } from "vitest";
import { summarizeError } from "../support/answer-checks.ts";
import { chatBody } from "../support/chat-stack.ts";
import { type HttpAnswer, readError, readEvents } from "../support/http.ts";
import { finishChunk, textChunk, textCompletion } from "../support/scripted-answer.ts";
import {
  ABSENT_MODEL,
  createFailureRows,
  failure,
  SECRET_TEXT,
  UNREACHABLE,
  withAbsentModel,
} from "./failing-upstreams.ts";

const chat = withAbsentModel();

describe.each([
  { name: "JSON", stream: false },
  { name: "streamed", stream: true },
])("upstream failures of $name requests", ({ stream }) => {
  it.each(createFailureRows(503))("answer $name as the contract says", async ({ answer, expected }) => {
    chat.upstream.answer(answer);
    const received = await chat.send({ body: chatBody({ stream }) });
    expect(summarizeError(received)).toMatchObject({ ...expected, breaches: [] });
    expect(received.text).not.toContain(SECRET_TEXT);
    expect(chat.upstream.requests).toHaveLength(1);
  });

  it("answer a refused connection of a server that was never there with model_unreachable and the catalog's startup time", async () => {
    const received = await chat.send({ body: chatBody({ stream, model: ABSENT_MODEL }) });
    expect(summarizeError(received)).toMatchObject({ ...UNREACHABLE, retryAfter: "17", breaches: [] });
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
