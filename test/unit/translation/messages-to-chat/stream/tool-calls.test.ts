import { describe, expect, it } from "vitest";
import {
  chunk,
  contentOf,
  createAnswer,
  decode,
  DONE,
  encode,
  FINISH,
  runStream,
  summarize,
  toolChunk,
} from "../../../../support/messages-exchange.ts";

const content = (...pieces: string[]) => contentOf([...pieces, FINISH, DONE]);
/** The tool calls of a stream: "c f {…}". */
function calls(...pieces: string[]): string[] {
  const found: string[] = [];
  for (const line of content(...pieces)) {
    if (line.startsWith("start tool_use ")) found.push(line.slice("start tool_use ".length) + " ");
    if (line.startsWith("input_json ")) found.push(`${found.pop()}${line.slice("input_json ".length)}`);
  }
  return found;
}

describe("tool calls in a stream", () => {
  it("a delta belongs to the call at its index", () => {
    expect(
      calls(
        toolChunk({ index: 0, id: "a", name: "f", arguments: "" }),
        toolChunk({ index: 0, arguments: '{"x"' }),
        toolChunk({ index: 0, arguments: ":1}" }),
        toolChunk({ index: 1, id: "b", name: "g", arguments: "{}" }),
      ),
    ).toEqual(['a f {"x":1}', "b g {}"]);
  });

  it("without an index to that of its id, else to the last", () => {
    expect(
      calls(
        toolChunk({ id: "a", name: "f", arguments: '{"x"' }),
        toolChunk({ arguments: ":" }),
        toolChunk({ id: "b", name: "g", arguments: '{"y"' }),
        toolChunk({ id: "a", arguments: "1}" }),
        toolChunk({ id: "b", arguments: ":2}" }),
      ),
    ).toEqual(['a f {"x":1}', 'b g {"y":2}']);
  });

  it("a new id with a name at a used index is a new call", () => {
    expect(
      calls(
        toolChunk({ index: 0, id: "a", name: "f", arguments: "{}" }),
        toolChunk({ index: 0, id: "b", name: "f", arguments: '{"x":1}' }),
      ),
    ).toEqual(["a f {}", 'b f {"x":1}']);
  });

  it("a repeated id, or another id without a name, is the same call", () => {
    expect(
      calls(
        toolChunk({ index: 0, id: "a", name: "f", arguments: '{"x"' }),
        toolChunk({ index: 0, id: "a", name: "f", arguments: ":" }),
        toolChunk({ index: 0, id: "z", arguments: "1}" }),
      ),
    ).toEqual(['a f {"x":1}']);
  });

  it("an id that comes after the name is no new call", () => {
    expect(
      calls(
        toolChunk({ index: 0, name: "f", arguments: '{"x"' }),
        toolChunk({ index: 0, id: "a", name: "f", arguments: ":1}" }),
      ),
    ).toEqual(['a f {"x":1}']);
  });

  it("whole calls without index and id are calls of their own", () => {
    expect(
      calls(toolChunk({ name: "f", arguments: { x: 1 } }), toolChunk({ name: "f", arguments: { x: 2 } })),
    ).toEqual(['toolu_1 f {"x":1}', 'toolu_2 f {"x":2}']);
  });

  it("several in one chunk without index and id belong to the calls by their place", () => {
    const several = (...pieces: { name?: string; arguments: string }[]) =>
      chunk({ tool_calls: pieces.map((piece) => ({ function: piece })) });
    expect(
      calls(
        several({ name: "f", arguments: '{"x"' }, { name: "g", arguments: '{"y"' }),
        several({ arguments: ":1" }, { arguments: ":2" }),
        several({ arguments: "" }, { arguments: "}" }),
        toolChunk({ arguments: "}" }),
        several({ name: "f", arguments: '{"x":3}' }, { name: "h", arguments: "{}" }),
      ),
    ).toEqual(['toolu_1 f {"x":1}', 'toolu_2 g {"y":2}', 'toolu_3 f {"x":3}', "toolu_4 h {}"]);
  });

  it("calls that began one by one go on by their place when they come together", () => {
    const both = chunk({
      tool_calls: [{ function: { arguments: ":1}" } }, { function: { arguments: ":2}" } }],
    });
    expect(
      calls(
        toolChunk({ index: 0, id: "a", name: "f", arguments: '{"x"' }),
        toolChunk({ index: 1, id: "b", name: "g", arguments: '{"y"' }),
        both,
      ),
    ).toEqual(['a f {"x":1}', 'b g {"y":2}']);
  });

  it("arguments at a drifting index without id belong to the open call", () => {
    expect(
      calls(
        toolChunk({ index: 0, id: "a", name: "f", arguments: "" }),
        toolChunk({ index: 1, arguments: '{"x"' }),
        toolChunk({ index: 2, arguments: ':" ' }),
        toolChunk({ index: 3, arguments: " " }),
        toolChunk({ index: 4, arguments: '"}' }),
        toolChunk({ index: 5, id: "b", name: "g", arguments: "{" }),
        toolChunk({ index: 0, arguments: '"y":2' }),
        toolChunk({ index: 6, arguments: "}" }),
      ),
    ).toEqual(['a f {"x":"  "}', 'b g {"y":2}']);
  });

  it("pieces of a name are put together, repeats and empties ignored", () => {
    expect(
      calls(
        toolChunk({ index: 0, id: "a", name: "get_" }),
        toolChunk({ index: 0, id: "", name: "weather" }),
        toolChunk({ index: 0, name: "", arguments: "{" }),
        toolChunk({ index: 0, name: "get_weather", arguments: "}" }),
      ),
    ).toEqual(["a get_weather {}"]);
  });

  it("a name is settled when the arguments have begun", () => {
    expect(
      calls(
        toolChunk({ index: 0, id: "a", name: "f", arguments: "{" }),
        toolChunk({ index: 1, id: "b", name: "g", arguments: "{" }),
        toolChunk({ index: 1, name: "late", arguments: "}" }),
        toolChunk({ index: 0, arguments: "}" }),
      ),
    ).toEqual(["a f {}", "b g {}"]);
  });

  it("the block opens at once when the name is one of the request's", () => {
    const tools = ["get_weather", "get_weather_forecast", "f"].map((name) => ({
      name,
      input_schema: { type: "object" },
    }));
    const first = (name: string) => {
      const output = createAnswer({ stream: true, tools }).push(
        encode(toolChunk({ index: 0, id: "a", name, arguments: "" })),
      );
      return decode(output.bytes).includes("content_block_start");
    };
    expect(first("f")).toBe(true);
    expect(first("get_weather_forecast")).toBe(true);
    // More may follow.
    expect(first("get_weather")).toBe(false);
    expect(first("unknown")).toBe(false);
  });

  it("id and name may come after the arguments have begun", () => {
    expect(
      calls(
        toolChunk({ index: 0, arguments: '{"x":' }),
        toolChunk({ index: 0, id: "a" }),
        toolChunk({ index: 0, name: "f", arguments: "1}" }),
      ),
    ).toEqual(['a f {"x":1}']);
  });

  it("[stream.tool_live] arguments of the open call leave at once", () => {
    const answer = createAnswer({ stream: true });
    answer.push(encode(toolChunk({ index: 0, id: "a", name: "f", arguments: " " })));
    for (const piece of ['{"city":', '"Par', 'is"}']) {
      const output = answer.push(encode(toolChunk({ index: 0, arguments: piece })));
      expect(decode(output.bytes)).toContain(JSON.stringify(piece).slice(1, -1));
    }
  });

  it("[stream.one_block] interleaved calls come out one after the other", () => {
    expect(
      content(
        toolChunk({ index: 0, id: "a", name: "f", arguments: "{" }),
        toolChunk({ index: 1, id: "b", name: "g", arguments: '{"y"' }),
        toolChunk({ index: 0, arguments: '"x":"}"' }),
        toolChunk({ index: 2, id: "c", name: "h", arguments: "{}" }),
        toolChunk({ index: 1, arguments: ":2}" }),
        toolChunk({ index: 0, arguments: "}" }),
      ),
    ).toEqual([
      "start tool_use a f",
      "input_json {",
      'input_json "x":"}"',
      "input_json }",
      "stop",
      "start tool_use b g",
      'input_json {"y":2}',
      "stop",
      "start tool_use c h",
      "input_json {}",
      "stop",
    ]);
  });

  it("[stream.one_block] the next call goes live when the open one is complete", () => {
    const answer = createAnswer({ stream: true });
    const push = (call: Parameters<typeof toolChunk>[0]) =>
      decode(answer.push(encode(toolChunk(call))).bytes);
    push({ index: 0, id: "a", name: "f", arguments: "{" });
    expect(push({ index: 1, id: "b", name: "g", arguments: '{"y"' })).toBe("");
    expect(push({ index: 0, arguments: "}" })).toContain('"name":"g"');
    expect(push({ index: 1, arguments: ":2}" })).toContain(":2}");
  });

  it("[stream.one_block] text and reasoning wait for the open call, in order", () => {
    expect(
      content(
        toolChunk({ index: 0, id: "a", name: "f", arguments: "{" }),
        chunk({ content: "one" }),
        chunk({ content: " two" }),
        chunk({ reasoning_content: "hm" }),
        toolChunk({ index: 1, id: "b", name: "g", arguments: "{}" }),
        chunk({ content: "three" }),
        toolChunk({ index: 0, arguments: "}" }),
      ).filter((line) => !line.startsWith("signature")),
    ).toEqual([
      "start tool_use a f",
      "input_json {",
      "input_json }",
      "stop",
      "start text",
      "text one two",
      "stop",
      "start thinking",
      "thinking hm",
      "stop",
      "start tool_use b g",
      "input_json {}",
      "stop",
      "start text",
      "text three",
      "stop",
    ]);
  });

  it("[stream.one_block] of signatures that wait the last one counts", () => {
    const signed = (signature: string) =>
      chunk({ thinking_blocks: [{ type: "thinking", thinking: "", signature }] });
    const pieces = [
      toolChunk({ index: 0, id: "a", name: "f", arguments: "{" }),
      chunk({ reasoning_content: "hm" }),
      signed("one"),
      signed("two"),
      toolChunk({ index: 0, arguments: "}" }),
    ];
    expect(content(...pieces)).toContain("signature two");
  });

  it("[stream.one_block] what waits for a call without an end follows at the end", () => {
    expect(
      content(
        toolChunk({ index: 0, id: "a", name: "f", arguments: '{"x"' }),
        toolChunk({ index: 1, id: "b", name: "g", arguments: "{}" }),
        chunk({ content: "Hi" }),
      ),
    ).toEqual([
      "start tool_use a f",
      'input_json {"x"',
      "stop",
      "start tool_use b g",
      "input_json {}",
      "stop",
      "start text",
      "text Hi",
      "stop",
    ]);
  });

  it("a missing or repeated id is replaced, a call without a name dropped", () => {
    expect(
      calls(
        toolChunk({ index: 0, name: "f", arguments: "{}" }),
        toolChunk({ index: 1, id: "a", name: "g", arguments: "{}" }),
        toolChunk({ index: 2, id: "a", name: "h", arguments: "{}" }),
        toolChunk({ index: 3, id: "n", arguments: "{}" }),
      ),
    ).toEqual(["toolu_1 f {}", "a g {}", "toolu_2 h {}"]);
    expect(summarize(runStream([toolChunk({ index: 0, id: "n" }), FINISH, DONE]).events)).toEqual([
      "message_start",
      "end end_turn",
      "message_stop",
    ]);
  });

  it.each([
    ["none", undefined, "a f "],
    ["white space", "  ", "a f "],
    ["null", "null", "a f "],
    ["a list", "[1]", 'a f {"INVALID_JSON":"[1]"}'],
    ["a list already", [1], 'a f {"INVALID_JSON":"[1]"}'],
    ["text", "Dave", 'a f {"INVALID_JSON":"Dave"}'],
    ["text in a string", '"Dave"', 'a f {"INVALID_JSON":"\\"Dave\\""}'],
    ["a string with an object", '"{\\"x\\":1}"', 'a f {"x":1}'],
    ["an object already", { x: 1 }, 'a f {"x":1}'],
    ["more after the object", '{"x":1}{"x":1}', 'a f {"x":1}'],
  ])("arguments that are %s become an object", (_name, args, expected) => {
    expect(calls(toolChunk({ index: 0, id: "a", name: "f", arguments: args }))).toEqual([expected]);
  });

  it("[response.function_call] is one call, live", () => {
    expect(
      content(
        chunk({ function_call: { name: "f", arguments: "{" } }),
        chunk({ function_call: { arguments: "}" } }),
      ),
    ).toEqual(["start tool_use toolu_1 f", "input_json {", "input_json }", "stop"]);
  });
});
