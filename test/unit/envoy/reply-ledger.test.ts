import { beforeEach, describe, expect, it } from "vitest";

import { ReplyLedger } from "../../../src/envoy/transport/reply-ledger.ts";

const MESSAGE = { request_headers: {} };
const REPLY = { request_headers: {} };
/** To all of a response. */
const WHOLE = { response_headers: { response: { status: "CONTINUE_AND_REPLACE" } } } as const;
const START = { response_headers: { response: {} } } as const;
const IMMEDIATE = { immediate_response: { details: "gateway" } };

describe("ReplyLedger", () => {
  let events: string[];
  let ledger: ReplyLedger;

  beforeEach(() => {
    events = [];
    ledger = new ReplyLedger(
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
    ledger.receive(message);
    expect(events).toEqual(["message"]);
    ledger.reply(WHOLE);
    expect(events).toEqual(["message", "reply", "ok"]);
    ledger.halfClose();
    expect(events).toEqual(["message", "reply", "ok", "end"]);
  });

  it("does not end before each message is answered, nor before the end of a streamed response", () => {
    const piece = (end_of_stream: boolean) => ({
      response_body: { response: { body_mutation: { streamed_response: { end_of_stream } } } },
    });
    ledger.receive({ response_headers: {} });
    ledger.reply(START);
    ledger.receive({ response_body: { end_of_stream: true } });
    ledger.reply(piece(false));
    expect(events).toEqual(["message", "reply", "message", "reply"]);
    ledger.reply(piece(true));
    expect(events.slice(4)).toEqual(["reply", "ok"]);
  });

  it("waits for Envoy's end where a streamed response ends before its upstream", () => {
    const last = {
      response_body: { response: { body_mutation: { streamed_response: { end_of_stream: true } } } },
    };
    ledger.receive({ response_headers: {} });
    ledger.reply(START);
    ledger.receive({ response_body: {} });
    ledger.reply(last);
    expect(events).not.toContain("ok");
    ledger.halfClose();
    expect(events.slice(-2)).toEqual(["ok", "end"]);
  });

  it("owes one reply to all that comes of a request, and one to all of a response", () => {
    ledger.receive(MESSAGE);
    ledger.receive({ request_body: {} });
    ledger.receive({ request_trailers: {} });
    ledger.reply(REPLY);
    ledger.receive({ response_headers: {} });
    ledger.receive({ response_body: {} });
    ledger.receive({ response_body: { end_of_stream: true } });
    expect(events).not.toContain("ok");
    ledger.reply(WHOLE);
    expect(events.slice(-2)).toEqual(["reply", "ok"]);
    ledger.halfClose();
    expect(events.at(-1)).toBe("end");
  });

  it("owes a reply to the body that comes after the reply to its headers", () => {
    ledger.receive(MESSAGE);
    ledger.reply(REPLY);
    ledger.receive({ request_body: {} });
    ledger.halfClose();
    expect(events.slice(-2)).toEqual(["error: the stream was closed before its last reply", "end"]);
  });

  it("ends with OK when every message is answered", () => {
    ledger.receive(MESSAGE);
    ledger.reply(REPLY);
    ledger.halfClose();
    ledger.close();
    expect(events).toEqual(["message", "reply", "ok", "end"]);
  });

  it("ends with an error when a reply is owed", () => {
    ledger.receive(MESSAGE);
    ledger.receive({ response_headers: {} });
    ledger.reply(REPLY);
    ledger.halfClose();
    ledger.close();
    expect(events).toEqual([
      "message",
      "message",
      "reply",
      "error: the stream was closed before its last reply",
      "end",
    ]);
  });

  it("answers all that is owed by an immediate response, and hands nothing on after it", () => {
    ledger.receive(MESSAGE);
    ledger.receive(MESSAGE);
    ledger.reply(IMMEDIATE);
    ledger.receive(MESSAGE);
    ledger.reply(REPLY);
    ledger.fail("late");
    ledger.halfClose();
    expect(events).toEqual(["message", "message", "immediate", "ok", "end"]);
  });

  it("never ends with OK once it has failed", () => {
    ledger.fail("broken");
    ledger.receive(MESSAGE);
    ledger.reply(REPLY);
    ledger.halfClose();
    ledger.close();
    expect(events).toEqual(["error: broken", "end"]);
  });

  it.each([REPLY, WHOLE, IMMEDIATE])("fails at a reply that nobody asked for: %o", (reply) => {
    ledger.reply(reply);
    ledger.close();
    expect(events).toEqual(["error: a reply without a message", "end"]);
  });

  it.each([
    { name: "the request", message: { response_headers: {} }, reply: REPLY },
    { name: "the response", message: MESSAGE, reply: WHOLE },
  ])("fails at a reply to $name of which nothing has come", ({ message, reply }) => {
    ledger.receive(message);
    ledger.reply(reply);
    expect(events.at(-1)).toBe("error: a reply without a message");
  });

  describe("while a response is streamed", () => {
    const piece = (end_of_stream: boolean) => ({
      response_body: { response: { body_mutation: { streamed_response: { end_of_stream } } } },
    });

    beforeEach(() => {
      ledger.receive({ response_headers: {} });
      ledger.reply(START);
      events.length = 0;
    });

    it("sends pieces that answer no message, and owes none to those that come", () => {
      ledger.reply(piece(false));
      ledger.reply(piece(false));
      ledger.receive({ response_body: {} });
      ledger.halfClose();
      expect(events).toEqual(["reply", "reply", "message", "ok", "end"]);
    });

    it("neither sends nor hands on anything after the end of the response", () => {
      ledger.reply(piece(true));
      ledger.receive(MESSAGE);
      ledger.reply(piece(false));
      ledger.fail("late");
      ledger.halfClose();
      expect(events).toEqual(["reply", "ok", "end"]);
    });
  });

  it("ends a streamed response that is complete, though trailers of its request were not answered", () => {
    const last = {
      response_body: { response: { body_mutation: { streamed_response: { end_of_stream: true } } } },
    };
    ledger.receive({ response_headers: {} });
    ledger.reply(START);
    ledger.receive({ request_trailers: {} });
    ledger.reply(last);
    ledger.halfClose();
    expect(events.slice(-3)).toEqual(["reply", "ok", "end"]);
  });

  it("stays over where a reply cannot be sent and the transport ends the call instead", () => {
    const failing = new ReplyLedger(
      {
        send: () => failing.close(),
        endOk: () => events.push("ok"),
        endWithError: (reason) => events.push(`error: ${reason}`),
        pause: () => undefined,
        resume: () => undefined,
      },
      {
        check: async () => ({}),
        log: () => undefined,
        isServing: () => true,
        openProcess: () => ({ onMessage: () => undefined, onEnd: () => events.push("end") }),
      },
    );
    failing.receive({ response_headers: { end_of_stream: true } });
    failing.reply(IMMEDIATE);
    failing.halfClose();
    expect(events).toEqual(["end"]);
  });

  it("sends nothing once the stream is closed", () => {
    ledger.receive(MESSAGE);
    ledger.close();
    ledger.close();
    ledger.halfClose();
    ledger.reply(REPLY);
    ledger.fail("late");
    expect(events).toEqual(["message", "end"]);
  });
});
