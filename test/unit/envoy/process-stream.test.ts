import { beforeEach, describe, expect, it } from "vitest";

import { ProcessStream } from "../../../src/envoy/transport/process-stream.ts";

const MESSAGE = { request_headers: {} };
const REPLY = { request_headers: {} };
/** To all of a response. */
const WHOLE = { response_headers: { response: { status: "CONTINUE_AND_REPLACE" } } } as const;
const START = { response_headers: { response: {} } } as const;
const IMMEDIATE = { immediate_response: { details: "gateway" } };

describe("ProcessStream", () => {
  let events: string[];
  let stream: ProcessStream;

  beforeEach(() => {
    events = [];
    stream = new ProcessStream(
      {
        send: (response) => events.push(response.immediate_response === undefined ? "reply" : "immediate"),
        endOk: () => events.push("ok"),
        endWithError: (reason) => events.push(`error: ${reason}`),
        pause: () => events.push("pause"),
        resume: () => events.push("resume"),
      },
      {
        check: async () => ({}),
        log: () => undefined,
        isServing: () => true,
        openProcess: () => ({
          onMessage: () => events.push("message"),
          onEnd: () => events.push("end"),
        }),
      },
    );
  });

  it.each([
    { name: "headers without a body", message: { response_headers: { end_of_stream: true } } },
    { name: "the last of a body", message: { response_body: { end_of_stream: true } } },
    { name: "trailers", message: { response_trailers: {} } },
  ])("ends with OK together with the reply to $name, once", ({ message }) => {
    stream.receive(message);
    expect(events).toEqual(["message"]);
    stream.reply(WHOLE);
    expect(events).toEqual(["message", "reply", "ok"]);
    stream.halfClose();
    expect(events).toEqual(["message", "reply", "ok", "end"]);
  });

  it("does not end before each message is answered, nor before the end of a streamed response", () => {
    const piece = (end_of_stream: boolean) => ({
      response_body: { response: { body_mutation: { streamed_response: { end_of_stream } } } },
    });
    stream.receive({ response_headers: {} });
    stream.reply(START);
    stream.receive({ response_body: { end_of_stream: true } });
    stream.reply(piece(false));
    expect(events).toEqual(["message", "reply", "message", "reply"]);
    stream.reply(piece(true));
    expect(events.slice(4)).toEqual(["reply", "ok"]);
  });

  it("waits for Envoy's end where a streamed response ends before its upstream", () => {
    const last = {
      response_body: { response: { body_mutation: { streamed_response: { end_of_stream: true } } } },
    };
    stream.receive({ response_headers: {} });
    stream.reply(START);
    stream.receive({ response_body: {} });
    stream.reply(last);
    expect(events).not.toContain("ok");
    stream.halfClose();
    expect(events.slice(-2)).toEqual(["ok", "end"]);
  });

  it("owes one reply to all that comes of a request, and one to all of a response", () => {
    stream.receive(MESSAGE);
    stream.receive({ request_body: {} });
    stream.receive({ request_trailers: {} });
    stream.reply(REPLY);
    stream.receive({ response_headers: {} });
    stream.receive({ response_body: {} });
    stream.receive({ response_body: { end_of_stream: true } });
    expect(events).not.toContain("ok");
    stream.reply(WHOLE);
    expect(events.slice(-2)).toEqual(["reply", "ok"]);
    stream.halfClose();
    expect(events.at(-1)).toBe("end");
  });

  it("owes a reply to the body that comes after the reply to its headers", () => {
    stream.receive(MESSAGE);
    stream.reply(REPLY);
    stream.receive({ request_body: {} });
    stream.halfClose();
    expect(events.slice(-2)).toEqual(["error: the stream was closed before its last reply", "end"]);
  });

  it("ends with OK when every message is answered", () => {
    stream.receive(MESSAGE);
    stream.reply(REPLY);
    stream.halfClose();
    stream.close();
    expect(events).toEqual(["message", "reply", "ok", "end"]);
  });

  it("ends with an error when a reply is owed", () => {
    stream.receive(MESSAGE);
    stream.receive({ response_headers: {} });
    stream.reply(REPLY);
    stream.halfClose();
    stream.close();
    expect(events).toEqual([
      "message",
      "message",
      "reply",
      "error: the stream was closed before its last reply",
      "end",
    ]);
  });

  it("answers all that is owed by an immediate response, and hands nothing on after it", () => {
    stream.receive(MESSAGE);
    stream.receive(MESSAGE);
    stream.reply(IMMEDIATE);
    stream.receive(MESSAGE);
    stream.reply(REPLY);
    stream.fail("late");
    stream.halfClose();
    expect(events).toEqual(["message", "message", "immediate", "ok", "end"]);
  });

  it("never ends with OK once it has failed", () => {
    stream.fail("broken");
    stream.receive(MESSAGE);
    stream.reply(REPLY);
    stream.halfClose();
    stream.close();
    expect(events).toEqual(["error: broken", "end"]);
  });

  it.each([REPLY, WHOLE, IMMEDIATE])("fails at a reply that nobody asked for: %o", (reply) => {
    stream.reply(reply);
    stream.close();
    expect(events).toEqual(["error: a reply without a message", "end"]);
  });

  it.each([
    { name: "the request", message: { response_headers: {} }, reply: REPLY },
    { name: "the response", message: MESSAGE, reply: WHOLE },
  ])("fails at a reply to $name of which nothing has come", ({ message, reply }) => {
    stream.receive(message);
    stream.reply(reply);
    expect(events.at(-1)).toBe("error: a reply without a message");
  });

  describe("while a response is streamed", () => {
    const piece = (end_of_stream: boolean) => ({
      response_body: { response: { body_mutation: { streamed_response: { end_of_stream } } } },
    });

    beforeEach(() => {
      stream.receive({ response_headers: {} });
      stream.reply(START);
      events.length = 0;
    });

    it("sends pieces that answer no message, and owes none to those that come", () => {
      stream.reply(piece(false));
      stream.reply(piece(false));
      stream.receive({ response_body: {} });
      stream.halfClose();
      expect(events).toEqual(["reply", "reply", "message", "ok", "end"]);
    });

    it("neither sends nor hands on anything after the end of the response", () => {
      stream.reply(piece(true));
      stream.receive(MESSAGE);
      stream.reply(piece(false));
      stream.fail("late");
      stream.halfClose();
      expect(events).toEqual(["reply", "ok", "end"]);
    });
  });

  it("sends nothing once the stream is closed", () => {
    stream.receive(MESSAGE);
    stream.close();
    stream.close();
    stream.halfClose();
    stream.reply(REPLY);
    stream.fail("late");
    expect(events).toEqual(["message", "end"]);
  });
});
