import { describe, expect, it } from "vitest";
import { finishChunk, textChunk } from "../support/scripted-answer.ts";
import { createGate } from "../support/wait.ts";
import { readMessageStream, sendMessages, streamedText, summarizeMessagesError } from "./messages-checks.ts";
import { messagesBody } from "./metering-figures.ts";
import {
  ABSENT_MODEL,
  BROKEN,
  createFailureRows,
  type FailureRow,
  SECRET_TEXT,
  UNREACHABLE,
  withAbsentModel,
} from "./failing-upstreams.ts";

const chat = withAbsentModel();

const ROWS: readonly FailureRow[] = [
  ...createFailureRows(529),
  {
    name: "an answer without choices",
    answer: { kind: "json", body: { object: "chat.completion", choices: [] } },
    expected: BROKEN,
  },
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

  it("answer a refused connection of a server that was never there with model_unreachable and the catalog's startup time", async () => {
    const received = await sendMessages(chat, { body: messagesBody({ stream, model: ABSENT_MODEL }) });
    expect(summarizeMessagesError(received)).toMatchObject({
      ...UNREACHABLE,
      retryAfter: "17",
      breaches: [],
    });
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
        if (soFar().includes('"one"')) gate.release();
      },
    });
    expect(received.complete).toBe(false);
    expect(received.text).toContain('"one"');
    expect(received.text).not.toContain("message_stop");
  });
});
