import { beforeEach, describe, expect, it } from "vitest";

import { ProcessStream } from "../../../src/envoy/process-stream.ts";

const MESSAGE = { request_headers: {} };
const REPLY = { request_headers: {} };
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
      },
      {
        check: async () => ({}),
        isServing: () => true,
        openProcess: () => ({
          onMessage: () => events.push("message"),
          onEnd: () => events.push("end"),
        }),
      },
    );
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
    stream.receive(MESSAGE);
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

  it("fails at a reply that nobody asked for", () => {
    stream.reply(REPLY);
    stream.close();
    expect(events).toEqual(["error: a reply without a message", "end"]);
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
