/** What servers write into an answer, in any form that they have for it, reaches the client once. */
import { describe, expect, it } from "vitest";
import { HEARING_ROUTES } from "../../support/heard-answer.ts";
import { chunk, DONE, event, FINISH, toolChunk, USAGE } from "../../support/messages-exchange.ts";

const stop = { choice: { finish_reason: "stop" } };
const CALL = { index: 0, id: "a", function: { name: "get", arguments: '{"x":1}' } };
const wholeChunk = (message: object, more: object = {}) =>
  event({
    object: "chat.completion",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", ...message }, ...more }],
  });

describe.each(HEARING_ROUTES)("$name: a stream with early reasons to end", ({ stream }) => {
  it("[stream.finish] has everything up to its end, and its last reason", () => {
    const pieces = [
      chunk({ reasoning_content: "think " }, stop),
      chunk({ reasoning_content: "more" }, stop),
      chunk({ content: "the " }),
      chunk({ content: "answer" }),
    ];
    for (const end of [[FINISH, USAGE, DONE], [USAGE], [DONE], []]) {
      expect(stream([...pieces, ...end])).toEqual({ thinking: "think more", text: "the answer", calls: [] });
    }
  });

  it("[stream.finish] has calls that come behind one", () => {
    const call = toolChunk({ index: 0, id: "a", name: "get", arguments: '{"x":1}' });
    expect(stream([chunk({ content: "look" }), FINISH, call, DONE])).toEqual({
      thinking: "",
      text: "look",
      calls: ['get {"x":1}'],
    });
  });

  it("[stream.finish] has nothing that comes behind the usage that ends it", () => {
    const pieces = [chunk({ content: "a" }), FINISH, USAGE, chunk({ content: "b" }), DONE];
    expect(stream(pieces).text).toBe("a");
  });
});

describe.each(HEARING_ROUTES)("$name: a stream that ends in a whole message", ({ stream }) => {
  const told = [chunk({ reasoning_content: "hm" }), chunk({ content: "hel" }), chunk({ content: "lo" })];
  const message = { reasoning_content: "hm", content: "hello", tool_calls: [CALL] };

  it("[stream.whole_message] tells what was told before once, and what was not", () => {
    const expected = { thinking: "hm", text: "hello", calls: ['get {"x":1}'] };
    expect(stream([...told, wholeChunk(message), DONE])).toEqual(expected);
    expect(stream([...told, wholeChunk(message, { delta: {} }), USAGE])).toEqual(expected);
    expect(stream([...told, wholeChunk(message, { delta: { role: "assistant", content: "" } })])).toEqual(
      expected,
    );
    const call = toolChunk({ index: 0, id: "a", name: "get", arguments: '{"x":1}' });
    expect(stream([...told, call, wholeChunk(message), DONE])).toEqual(expected);
    expect(stream([wholeChunk(message), DONE])).toEqual(expected);
  });

  it("[stream.whole_message] tells reasoning once, whichever fields have it", () => {
    const { thinking } = stream([...told, wholeChunk({ reasoning: "hm", content: "hello" }), DONE]);
    expect(thinking).toBe("hm");
  });

  it("[stream.whole_message] reads messages in place of deltas as pieces", () => {
    const pieces = ["hel", "lo"].map((content) => wholeChunk({ content }, { finish_reason: null }));
    expect(stream([...pieces, FINISH, DONE]).text).toBe("hello");
  });
});
