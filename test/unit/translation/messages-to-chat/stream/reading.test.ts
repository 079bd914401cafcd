import { describe, expect, it } from "vitest";
import {
  chunk,
  completion,
  createAnswer,
  decode,
  describeError,
  DONE,
  encode,
  ESTIMATED_INPUT_TOKENS,
  event,
  FINISH,
  runStream,
  summarize,
  toolChunk,
  USAGE,
} from "../../../../support/messages-exchange.ts";
import { checkMessageStream, parseMessageEvents } from "../../../../support/messages-protocol-checker.ts";

const HELLO = ["message_start", "start text", "text Hello", "stop", "end end_turn", "message_stop"];
const hello = JSON.stringify({ choices: [{ index: 0, delta: { content: "Hello" } }] });
const run = (...pieces: string[]) => summarize(runStream(pieces).events);
const usageOf = (pieces: readonly string[], type: string) => {
  const { data } = runStream(pieces).events.find(({ event: name }) => name === type)!;
  return (type === "message_start" ? (data["message"] as { usage: object }).usage : data["usage"]) as object;
};

describe("reading the upstream's stream", () => {
  it("[stream.format] events have a name, one data line and a blank line", () => {
    const text = decode(createAnswer({ stream: true }).push(encode(chunk({ content: "Hello" }))).bytes);
    expect(text).toMatch(/^(event: [a-z_]+\ndata: \{.*\}\n\n){3}$/);
    expect(createAnswer({ stream: true }).contentType).toBe("text/event-stream");
    expect(createAnswer().contentType).toBe("application/json");
  });

  it("any split gives the same events", () => {
    const text = [
      chunk({ reasoning_content: "grübel 🤔" }),
      chunk({ content: "Héllo 🌍" }),
      toolChunk({ index: 0, id: "c", name: "f", arguments: '{"ü":"🚀"}' }),
      FINISH,
      USAGE,
      DONE,
    ].join("");
    const bytes = encode(text);
    const expected = runStream([text]).events;
    for (const size of [1, 2, 3, 7, 64]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      expect(runStream(pieces).events).toEqual(expected);
    }
  });

  it("an event leaves in the piece that completes its chunk", () => {
    const answer = createAnswer({ stream: true });
    const bytes = encode(chunk({ content: "Hello" }));
    expect(answer.push(bytes.subarray(0, bytes.length - 1)).bytes).toHaveLength(0);
    expect(decode(answer.push(bytes.subarray(bytes.length - 1)).bytes)).toContain("Hello");
    for (const text of [" a", " b"]) {
      const output = answer.push(encode(chunk({ content: text })));
      expect(decode(output.bytes)).toContain(`"text":"${text}"`);
      expect(output).toMatchObject({ final: false, failed: null });
    }
  });

  it.each([
    ["CRLF", `data: ${hello}\r\n\r\ndata: [DONE]\r\n\r\n`],
    ["CR", `data: ${hello}\r\rdata: [DONE]\r\r`],
    ["no space after the colon", `data:${hello}\n\ndata:[DONE]\n\n`],
    ["comments", `: hi\n\ndata: ${hello}\n: ping\n\n:\n\ndata: [DONE]\n\n`],
    ["a BOM", `\uFEFFdata: ${hello}\n\ndata: [DONE]\n\n`],
    ["other fields", `event: x\nid: 1\nretry: 5\ndata: ${hello}\n\ndata: [DONE]\n\n`],
    ["several data lines", `data: ${hello.slice(0, 12)}\ndata: ${hello.slice(12)}\n\ndata: [DONE]\n\n`],
    ["no blank line at the end", `data: ${hello}\n\ndata: [DONE]`],
    ["empty data", `data:\n\ndata: ${hello}\n\ndata: [DONE]\n\n`],
  ])("a stream with %s is read", (_name, text) => {
    for (const pieces of [[text], Array.from(text)]) {
      expect(run(...pieces).filter((event) => event !== "ping")).toEqual(HELLO);
    }
  });

  it.each([": processing\n\n", "data:\n\n", "data: null\n\n"])(
    "[stream.keep_alive] %j is told to the client",
    (alive) => {
      const answer = createAnswer({ stream: true });
      const before = answer.push(encode(alive));
      // `message_start` is the first event.
      expect(decode(before.bytes)).toBe(": in progress\n\n");
      expect(before.isKeepAlive).toBe(true);
      expect(answer.push(encode(chunk({ content: "Hello" }))).isKeepAlive).toBe(false);
      const between = answer.push(encode(alive));
      expect(decode(between.bytes)).toBe('event: ping\ndata: {"type":"ping"}\n\n');
      expect(between.isKeepAlive).toBe(true);
    },
  );

  it("[stream.done] nothing after [DONE] counts", () => {
    expect(run(event(hello), DONE, chunk({ content: "more" }), event("{"), DONE)).toEqual(HELLO);
    expect(run(event(hello) + DONE + event("{"))).toEqual(HELLO);
  });

  it.each(["{", "nonsense", "7", "[]", '"text"'])("[stream.not_json] %s is an error and the end", (data) => {
    const { events, outputs } = runStream([event(hello), event(data), chunk({ content: "more" }), DONE]);
    expect(summarize(events)).toEqual(["message_start", "start text", "text Hello", "error api_error"]);
    expect(checkMessageStream(events)).toBe("error");
    expect(outputs[1]).toMatchObject({ final: false, failed: { code: "upstream_error" } });
  });

  it.each([
    [{ error: { message: "boom", type: "server_error" } }, "api_error"],
    [{ error: "boom" }, "api_error"],
    [{ object: "error", message: "boom", code: 503 }, "overloaded_error"],
    [{ error: { message: "too long", code: 400 } }, "invalid_request_error"],
  ])("[stream.error_chunk] %j is an error and the end", (data, type) => {
    const { events } = runStream([event(hello), event(data), FINISH, DONE]);
    expect(summarize(events)).toEqual(["message_start", "start text", "text Hello", `error ${type}`]);
    expect(summarize(runStream([event(data)]).events)).toEqual([`error ${type}`]);
  });

  it("[stream.error_chunk] a null error is none", () => {
    expect(
      run(event(JSON.stringify({ ...(JSON.parse(hello) as object), error: null })), FINISH, DONE),
    ).toEqual(HELLO);
  });

  it("[stream.no_choices] gives its usage, nothing else", () => {
    const filter = event({ choices: [], prompt_filter_results: [] });
    expect(run(filter, event(hello), filter, FINISH, USAGE, DONE)).toEqual(HELLO);
    expect(run(event({ object: "chat.completion.chunk" }), event(hello), DONE)).toEqual(HELLO);
  });

  it("[stream.no_choices] a stream without any choice is an error", () => {
    expect(run(USAGE, DONE)).toEqual(["message_start", "error api_error"]);
    expect(run(DONE)).toEqual(["error api_error"]);
  });

  it("choices of other indexes are ignored", () => {
    const other = event({ choices: [{ index: 1, delta: { content: "other" }, finish_reason: "length" }] });
    expect(run(other, event(hello), other, FINISH, DONE)).toEqual(HELLO);
    expect(run(event({ choices: [{ delta: { content: "Hello" } }] }), DONE)).toEqual(HELLO);
  });

  it("[stream.usage] the last one counts, wherever it stands, and ends nothing", () => {
    const withUsage = (delta: object, completion_tokens: number) =>
      chunk(delta as Record<string, unknown>, { body: { usage: { prompt_tokens: 9, completion_tokens } } });
    const pieces = [
      withUsage({ content: "Hel" }, 1),
      withUsage({ content: "lo" }, 2),
      FINISH,
      withUsage({}, 3),
      DONE,
    ];
    const { events, answer } = runStream([...pieces.slice(0, 4), event({ choices: [], usage: null }), DONE]);
    expect(summarize(events)).toEqual([
      "message_start",
      "start text",
      "text Hel",
      "text lo",
      "stop",
      "end end_turn",
      "message_stop",
    ]);
    expect(usageOf(pieces, "message_delta")).toMatchObject({ input_tokens: 9, output_tokens: 3 });
    expect(answer.observation.usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
  });

  it("[stream.start] input_tokens is the estimate, exact in message_delta", () => {
    const pieces = [event(hello), FINISH, USAGE, DONE];
    expect(usageOf(pieces, "message_start")).toMatchObject({
      input_tokens: ESTIMATED_INPUT_TOKENS,
      output_tokens: 0,
    });
    expect(usageOf(pieces, "message_delta")).toMatchObject({ input_tokens: 10, output_tokens: 5 });
  });

  it("[stream.start] the first chunk's usage is better, and without any the estimate stays", () => {
    const usage = { prompt_tokens: 12, completion_tokens: 1 };
    const first = event({ choices: [{ index: 0, delta: { content: "Hello" } }], usage });
    expect(usageOf([first, DONE], "message_start")).toMatchObject({ input_tokens: 12 });
    expect(usageOf([event(hello), DONE], "message_delta")).toMatchObject({
      input_tokens: ESTIMATED_INPUT_TOKENS,
      output_tokens: 0,
    });
  });

  it("[stream.start] has an empty message of the catalog's model", () => {
    const [start] = runStream([event(hello)]).events;
    expect(start!.data["message"]).toMatchObject({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "acme/echo",
      content: [],
      stop_reason: null,
      stop_sequence: null,
    });
  });

  it("[stream.json_answer] is played as events", () => {
    const tool_calls = [
      { id: "c", function: { name: "f", arguments: '{"a":1}' } },
      { id: "d", function: { name: "g", arguments: "" } },
    ];
    const body = completion({ reasoning_content: "hm", content: "Hi", tool_calls });
    const output = createAnswer({ stream: true }).translateBody(encode(body));
    const events = parseMessageEvents(decode(output.bytes));
    expect(checkMessageStream(events)).toBe("message_stop");
    expect(output.final).toBe(true);
    expect(summarize(events)).toEqual([
      "message_start",
      "start thinking",
      "thinking hm",
      expect.stringMatching(/^signature gw\./),
      "stop",
      "start text",
      "text Hi",
      "stop",
      "start tool_use c f",
      'input_json {"a":1}',
      "stop",
      "start tool_use d g",
      "stop",
      "end tool_use",
      "message_stop",
    ]);
    expect(events.at(-2)!.data["usage"]).toMatchObject({ input_tokens: 10, output_tokens: 5 });
  });

  it("[stream.json_answer] an error in it is an error", () => {
    const answer = createAnswer({ stream: true });
    expect(describeError(() => answer.translateBody(encode({ error: { message: "bad", code: 400 } })))).toBe(
      "400 invalid_parameter bad",
    );
  });

  it("[stream.client_gone] what was generated is known at any time", () => {
    const answer = createAnswer({ stream: true, thinking: { type: "disabled" } });
    answer.push(encode(chunk({ reasoning_content: "hm" })));
    answer.push(encode(chunk({ content: "grün" })));
    answer.push(encode(toolChunk({ index: 0, id: "c", name: "f", arguments: '{"a"' })));
    const { generatedText, generatedDeltas, generatedBytes, usage } = answer.observation;
    expect(generatedText).toBe('hmgrünf{"a"');
    expect(generatedDeltas).toBe(3);
    expect(generatedBytes).toBe(12);
    expect(usage).toBeNull();
  });

  it("[stream.client_gone] the text that is kept is bounded, the count is not", () => {
    const answer = createAnswer({ stream: true });
    const piece = encode(chunk({ content: "x".repeat(100_000) }));
    for (let count = 0; count < 20; count += 1) answer.push(piece);
    expect(answer.observation.generatedBytes).toBe(2_000_000);
    expect(answer.observation.generatedText.length).toBeLessThanOrEqual(1_048_576);
  });

  it("[stream.ping] bridges a long silence", () => {
    const hidden = Array.from({ length: 70 }, () => chunk({ reasoning_content: "hm" }));
    const { events } = runStream([...hidden, event(hello), DONE], { thinking: { type: "disabled" } });
    expect(checkMessageStream(events)).toBe("message_stop");
    expect(summarize(events).filter((line) => line === "ping")).toHaveLength(2);
    expect(summarize(runStream([...hidden, DONE]).events)).not.toContain("ping");
  });
});
