import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  chunk,
  contentOf,
  DONE,
  FINISH,
  runStream,
  summarize,
  toolChunk,
  USAGE,
} from "../../../../support/messages-exchange.ts";
import { checkMessageStream } from "../../../../support/messages-protocol-checker.ts";

const sign = (text: string) => `signature gw.${createHash("sha256").update(text).digest("base64url")}`;
const content = (...pieces: string[]) => contentOf([...pieces, FINISH, DONE]);
const TOOL = toolChunk({ index: 0, id: "c", name: "f", arguments: "{}" });
const TOOL_BLOCK = ["start tool_use c f", "input_json {}", "stop"];

describe("prose in a stream", () => {
  it.each(["reasoning_content", "reasoning"])(
    "[stream.thinking] %s is a block, signed when it closes",
    (field) => {
      expect(content(chunk({ [field]: "h" }), chunk({ [field]: "m" }), chunk({ content: "Hi" }))).toEqual([
        "start thinking",
        "thinking h",
        "thinking m",
        sign("hm"),
        "stop",
        "start text",
        "text Hi",
        "stop",
      ]);
    },
  );

  it("[stream.thinking] the upstream's signature counts more", () => {
    const signed = chunk({ thinking_blocks: [{ type: "thinking", thinking: "", signature: "sig" }] });
    expect(content(chunk({ reasoning_content: "hm" }), signed)).toEqual([
      "start thinking",
      "thinking hm",
      "signature sig",
      "stop",
    ]);
    const part = { type: "thinking", thinking: [{ type: "text", text: "hm" }], signature: "sig" };
    expect(content(chunk({ content: [part] }))).toContain("signature sig");
  });

  it("[stream.text] is a block of its own between others", () => {
    expect(content(chunk({ content: "" }), chunk({ content: "H" }), chunk({ content: "i" }))).toEqual([
      "start text",
      "text H",
      "text i",
      "stop",
    ]);
    expect(
      content(chunk({ content: "a" }), chunk({ reasoning_content: "b" }), chunk({ content: "c" })),
    ).toEqual([
      "start text",
      "text a",
      "stop",
      "start thinking",
      "thinking b",
      sign("b"),
      "stop",
      "start text",
      "text c",
      "stop",
    ]);
  });

  it("[stream.text] after a tool call is a new text block", () => {
    expect(content(TOOL, chunk({ content: "Hi" }))).toEqual([...TOOL_BLOCK, "start text", "text Hi", "stop"]);
  });

  it("[stream.text] a refusal is a text block, and says so", () => {
    const { events } = runStream([chunk({ refusal: "I " }), chunk({ refusal: "cannot." }), FINISH, DONE]);
    expect(summarize(events)).toEqual([
      "message_start",
      "start text",
      "text I ",
      "text cannot.",
      "stop",
      "end refusal",
      "message_stop",
    ]);
    expect(events.at(-2)!.data).toMatchObject({ delta: { stop_details: { explanation: "I cannot." } } });
  });

  it("white space at the beginning waits, and is dropped before a tool call", () => {
    const space = chunk({ content: "\n\n" });
    expect(content(space, TOOL)).toEqual(TOOL_BLOCK);
    expect(
      content(chunk({ reasoning_content: "hm" }), space, space, TOOL).filter((line) =>
        line.startsWith("start"),
      ),
    ).toEqual(["start thinking", "start tool_use c f"]);
    expect(content(space, chunk({ content: " Hi" }))).toEqual(["start text", "text \n\n Hi", "stop"]);
    expect(content(chunk({ content: "Hi" }), space, TOOL)).toEqual([
      "start text",
      "text Hi",
      "text \n\n",
      "stop",
      ...TOOL_BLOCK,
    ]);
    expect(content(TOOL, space)).toEqual(TOOL_BLOCK);
    expect(content(space, TOOL, chunk({ content: "Hi" }))).toEqual([
      ...TOOL_BLOCK,
      "start text",
      "text Hi",
      "stop",
    ]);
    expect(content(space)).toEqual(["start text", "text \n\n", "stop"]);
  });

  it("white space without end is passed on", () => {
    const pieces = Array.from({ length: 100 }, () => chunk({ content: " ".repeat(100) }));
    expect(content(...pieces).length).toBeGreaterThan(80);
  });

  it("is told after reasoning and before calls of the same chunk", () => {
    const tool_calls = [{ index: 0, id: "c", function: { name: "f", arguments: "{}" } }];
    const all = chunk(
      { tool_calls, content: "Hi", reasoning_content: "hm" },
      { choice: { finish_reason: "tool_calls" } },
    );
    expect(summarize(runStream([all, USAGE, DONE]).events)).toEqual([
      "message_start",
      "start thinking",
      "thinking hm",
      sign("hm"),
      "stop",
      "start text",
      "text Hi",
      "stop",
      ...TOOL_BLOCK,
      "end tool_use",
      "message_stop",
    ]);
  });
});

describe("the end of a stream", () => {
  it("[stream.finish] the end of the message waits for usage, and nothing behind that is read", () => {
    const pieces = [chunk({ content: "Hi" }), FINISH, USAGE, chunk({ content: "more" }), TOOL, DONE];
    const { events, outputs } = runStream(pieces);
    expect(summarize(events)).toEqual([
      "message_start",
      "start text",
      "text Hi",
      "stop",
      "end end_turn",
      "message_stop",
    ]);
    expect(outputs.map(({ final }) => final)).toEqual([false, false, false, false, false, true, true]);
    expect(outputs[4]!.bytes).toHaveLength(0);
  });

  it("[stream.end] [DONE], or the end after a finish reason, completes the message", () => {
    const whole = ["message_start", "start text", "text Hi", "stop", "end end_turn", "message_stop"];
    expect(summarize(runStream([chunk({ content: "Hi" }), DONE]).events)).toEqual(whole);
    expect(summarize(runStream([chunk({ content: "Hi" }), FINISH]).events)).toEqual(whole);
    expect(summarize(runStream([chunk({ content: "Hi" }), FINISH + USAGE.trimEnd()]).events)).toEqual(whole);
    const last = runStream([chunk({ content: "Hi" }), DONE]).events.at(-2)!.data;
    expect(last["usage"]).toHaveProperty("output_tokens");
  });

  it("[stream.end] an answer without content is whole too", () => {
    expect(summarize(runStream([chunk({ role: "assistant" }), FINISH, DONE]).events)).toEqual([
      "message_start",
      "end end_turn",
      "message_stop",
    ]);
  });

  it.each([
    ["nothing", [], ["error api_error"]],
    [
      "half a text",
      [chunk({ content: "Hi" })],
      ["message_start", "start text", "text Hi", "error api_error"],
    ],
    [
      "half an event",
      [chunk({ content: "Hi" }), "data: {"],
      ["message_start", "start text", "text Hi", "error api_error"],
    ],
    [
      "half a tool call",
      [toolChunk({ index: 0, id: "c", name: "f", arguments: '{"a"' })],
      ["message_start", "start tool_use c f", 'input_json {"a"', "error api_error"],
    ],
  ])("[stream.cut_off] an end after %s is an error", (_name, pieces, expected) => {
    const { events, outputs } = runStream(pieces);
    expect(summarize(events)).toEqual(expected);
    expect(checkMessageStream(events)).toBe("error");
    expect(outputs.at(-1)).toMatchObject({ final: false, failed: { code: "upstream_error" } });
  });

  it("[stream.cut_off] says what happened", () => {
    const { events } = runStream([chunk({ content: "Hi" })]);
    expect(events.at(-1)!.data).toMatchObject({
      type: "error",
      error: {
        type: "api_error",
        message: "The model server ended its response before it was complete. Try again.",
      },
    });
  });
});
