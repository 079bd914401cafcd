/** What servers write into an answer, in any form that they have for it, reaches the client once. */
import { describe, expect, it } from "vitest";
import { HEARING_ROUTES } from "../../support/heard-answer.ts";
import { chunk, completion, DONE, event, FINISH, toolChunk, USAGE } from "../../support/messages-exchange.ts";

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

  it("tells what was told before once, and what was not", () => {
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

  it("has the last delta of a chunk that has the whole message as well", () => {
    const last = wholeChunk(
      { reasoning_content: "hmm", content: "hello" },
      { delta: { reasoning_content: "m" } },
    );
    expect(stream([...told, last, DONE])).toEqual({ thinking: "hmm", text: "hello", calls: [] });
  });

  it("tells reasoning once, whichever fields have it", () => {
    const { thinking } = stream([...told, wholeChunk({ reasoning: "hm", content: "hello" }), DONE]);
    expect(thinking).toBe("hm");
  });

  it("reads messages in place of deltas as pieces", () => {
    const pieces = ["hel", "lo"].map((content) => wholeChunk({ content }, { finish_reason: null }));
    expect(stream([...pieces, FINISH, DONE]).text).toBe("hello");
  });
});

describe.each(HEARING_ROUTES)("$name: calls without ids that all have index 0", ({ stream }) => {
  const calls = (...pieces: Parameters<typeof toolChunk>[0][]) =>
    stream([...pieces.map((piece) => toolChunk({ index: 0, ...piece })), FINISH, DONE]).calls;
  const one = '{"x":1}';
  const two = '{"x":2}';
  const named = [`get ${one}`, `get ${two}`];

  it("are told apart by a name behind a finished call", () => {
    expect(calls({ id: "", name: "get", arguments: one }, { id: "", name: "get", arguments: two })).toEqual(
      named,
    );
    expect(
      calls({ name: "get", arguments: one }, { name: "put", arguments: "" }, { arguments: two }),
    ).toEqual([`get ${one}`, `put ${two}`]);
    const pieces = ["get", "get"].flatMap((name, at) => [
      { name, arguments: "" },
      { arguments: '{"x":' },
      { arguments: at === 0 ? "1}" : "2}" },
    ]);
    expect(calls(...pieces)).toEqual(named);
  });

  it("are told apart in one chunk, whole or in pieces", () => {
    const several = (...entries: object[]) =>
      chunk({ tool_calls: entries.map((called) => ({ index: 0, function: called })) });
    const whole = several({ name: "get", arguments: one }, { name: "put", arguments: two });
    expect(stream([whole, FINISH, DONE]).calls).toEqual([`get ${one}`, `put ${two}`]);
    const pieces = [
      several({ name: "get", arguments: "" }, { name: "put", arguments: "" }),
      several({ arguments: one }, { arguments: two }),
    ];
    expect(stream([...pieces, FINISH, DONE]).calls).toEqual([`get ${one}`, `put ${two}`]);
  });

  it("are two where neither has arguments, and one where `{}` is a beginning", () => {
    const empty = { name: "get", arguments: "{}" };
    expect(calls(empty, empty)).toEqual(["get {}", "get {}"]);
    expect(calls(empty, { name: "get", arguments: one })).toEqual([`get ${one}`]);
  });

  it("are told apart by the names of other declared tools, finished or not", () => {
    expect(calls({ name: "get" }, { name: "put" }).map((call) => call.split(" ")[0])).toEqual(["get", "put"]);
    expect(calls({ name: "get", arguments: '{"x":' }, { name: "put", arguments: two })[1]).toBe(`put ${two}`);
    const same = { id: "call", arguments: one };
    expect(calls({ ...same, name: "get" }, { ...same, name: "put" })).toEqual([`get ${one}`, `put ${one}`]);
    expect(calls({ id: "a", name: "sea" }, { name: "rch_files", arguments: one })).toEqual([
      `search_files ${one}`,
    ]);
  });

  it("are one where its name is repeated with each piece, and behind the last", () => {
    const pieces = ["", '{"x":', "1}", ""].map((args) => ({ id: "", name: "get", arguments: args }));
    expect(calls(...pieces)).toEqual([`get ${one}`]);
  });
});

describe.each(HEARING_ROUTES)("$name: calls that all have the same id and name", ({ stream, whole }) => {
  const one = '{"x":1}';
  const two = '{"x":2}';
  const entry = (args: string, fields: object = {}) => ({
    index: 0,
    id: "a",
    function: { name: "get", arguments: args },
    ...fields,
  });
  const rest = (args: string) => ({ index: 0, function: { arguments: args } });
  const several = (...entries: object[]) => chunk({ tool_calls: entries });
  const calls = (...pieces: string[]) => stream([...pieces, FINISH, DONE]).calls;

  it.each([
    ["whole", [several(entry(one)), several(entry(two))]],
    [
      "whole and without an index",
      [several(entry(one, { index: null })), several(entry(two, { index: null }))],
    ],
    ["whole in one chunk", [several(entry(one), entry(two))]],
    ["in pieces", [entry('{"x":'), rest("1}"), entry('{"x":'), rest("2}")].map((call) => several(call))],
    ["their name alone", [entry(""), rest(one), entry(""), rest(two)].map((call) => several(call))],
  ])("[response.tool_calls] are two: %s", (_, pieces) => {
    expect(calls(...pieces)).toEqual([`get ${one}`, `get ${two}`]);
  });

  it("[response.tool_calls] are as many as a whole answer lists", () => {
    const message = { tool_calls: [entry(one), entry(two), entry(two)] };
    expect(whole(completion(message)).calls).toEqual([`get ${one}`, `get ${two}`, `get ${two}`]);
  });

  it.each([
    ["each piece", ['{"x":', "1}", ""]],
    ["its end", [one, one]],
    ["the beginning of its arguments", ["{}", one]],
  ])("[response.tool_calls] are one that a server repeats with %s", (_, pieces) => {
    expect(calls(...pieces.map((args) => several(entry(args))))).toEqual([`get ${one}`]);
  });
});

describe.each(HEARING_ROUTES)("$name: arguments", ({ stream, whole }) => {
  const called = (args: unknown) => ({
    tool_calls: [{ index: 0, id: "a", function: { name: "get", arguments: args } }],
  });
  const both = (args: unknown) => [
    stream([chunk(called(args)), FINISH, DONE]).calls,
    whole(completion(called(args))).calls,
  ];

  it.each(["", "  ", "null", null, undefined, {}])(
    "[response.arguments] are {} where they are %j",
    (args) => {
      for (const [call] of both(args)) expect(call).toMatch(/^get (?:\{\}|null)?$/u);
    },
  );

  it.each(['{"a": "x", "b": tru', '{"a": Dave}', "[1]", [1], "Dave", '"Dave"', "5", 5, true])(
    "[response.arguments] are never {} where they are %j, but what the model wrote",
    (args) => {
      const text = typeof args === "string" ? args : JSON.stringify(args);
      for (const [call] of both(args)) {
        expect(call).toSatisfy(
          (told: string) =>
            told === `get ${text}` || told === `get ${JSON.stringify({ INVALID_JSON: text })}`,
        );
      }
    },
  );

  it("[response.arguments] are the first of several objects in a row", () => {
    for (const calls of both('{"x":1}{"x":2}')) expect(calls).toEqual(['get {"x":1}']);
  });

  it.each([
    [[{ id: "a", name: "get", arguments: { x: 1 } }]],
    [[{ id: "a", function: { name: "get", parameters: { x: 1 } } }]],
    [{ "0": { id: "a", function: { name: "get", arguments: '{"x":1}' } } }],
  ])("[response.tool_calls] are calls in the form %j", (form) => {
    expect(stream([chunk({ tool_calls: form }), FINISH, DONE]).calls).toEqual(['get {"x":1}']);
    expect(whole(completion({ tool_calls: form })).calls).toEqual(['get {"x":1}']);
  });

  it("[response.tool_calls] of a single call that is no list are its own", () => {
    const call = { index: 0, id: "a", type: "function", function: { name: "get", arguments: { x: 1 } } };
    expect(stream([chunk({ tool_calls: call }), FINISH, DONE]).calls).toEqual(['get {"x":1}']);
    expect(whole(completion({ tool_calls: call })).calls).toEqual(['get {"x":1}']);
  });
});

describe.each(HEARING_ROUTES)("$name: reasoning", ({ stream, whole }) => {
  const FORMS = [
    ...["reasoning_text", "thinking", "thinking_content"].map((name) => ({ [name]: "hm" })),
    ...[{ content: "hm" }, { text: "hm" }, [{ type: "text", text: "hm" }]].map((reasoning) => ({
      reasoning,
    })),
    { reasoning_details: { type: "reasoning.text", text: "hm" } },
    { provider_specific_fields: { reasoning_content: "hm" } },
    { provider_specific_fields: { thinking_blocks: [{ type: "thinking", thinking: "hm" }] } },
    { content: [{ type: "reasoning", content: [{ type: "reasoning_text", text: "hm" }] }] },
    { content: [{ type: "reasoning_content", reasoning_content: { reasoningText: { text: "hm" } } }] },
    { content: [{ type: "reasoning_text", text: "hm" }] },
    { content: [{ type: "text", thought: true, text: "hm" }] },
    { reasoning_details: [{ type: "reasoning.text", text: "hm", index: 0 }] },
    {
      reasoning_details: [
        { type: "reasoning.summary", summary: "hm" },
        { type: "reasoning.encrypted", data: "x" },
      ],
    },
    { thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }] },
    { content: [{ type: "reasoning", summary: [{ type: "summary_text", text: "hm", signature: "s" }] }] },
    { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
    { reasoning_content: "hm", reasoning_details: [{ type: "reasoning.text", text: "hm" }] },
  ];

  it.each(FORMS)("[response.thinking] in %j is thinking, once", (fields) => {
    const expected = { thinking: "hm", text: "ok", calls: [] };
    expect(stream([chunk(fields), chunk({ content: "ok" }), FINISH, DONE])).toEqual(expected);
    const { content = [] } = fields as { content?: object[] };
    const message = { ...fields, content: [...content, { type: "text", text: "ok" }] };
    expect(whole(completion(message))).toEqual(expected);
  });

  it("[response.thinking] is told once where its details follow as a copy", () => {
    const copy = chunk({ thinking_blocks: [{ type: "thinking", thinking: "hm", signature: "s" }] });
    expect(stream([chunk({ reasoning_content: "hm" }), copy, FINISH, DONE]).thinking).toBe("hm");
  });
});

describe.each(HEARING_ROUTES)("$name: tags of reasoning in the content", ({ stream, whole }) => {
  it.each([
    { setting: "tags", content: "<think>\nhm so</think>\n\nanswer", thinking: "hm so", text: "answer" },
    { setting: "tags", content: " \n<think>hm</think>", thinking: "hm", text: "" },
    { setting: "tags", content: "<think>hm", thinking: "hm", text: "" },
    { setting: "tags", content: "<think>hm</thi", thinking: "hm</thi", text: "" },
    { setting: "tags", content: "<think></think>answer", thinking: "", text: "answer" },
    { setting: "tags", content: "<thinker> is a word", thinking: "", text: "<thinker> is a word" },
    { setting: "tags", content: "<thi", thinking: "", text: "<thi" },
    { setting: "tags", content: "say <think>x</think>", thinking: "", text: "say <think>x</think>" },
    { setting: "closing_tag", content: "hm < so</think>\nanswer", thinking: "hm < so", text: "answer" },
    { setting: "closing_tag", content: "<think>hm</think>answer", thinking: "hm", text: "answer" },
    { setting: "none", content: "<think>hm</think>answer", thinking: "", text: "<think>hm</think>answer" },
  ] as const)("[profile.think_tags] $setting: $content", ({ setting, content, thinking, text }) => {
    const profile = { thinkTags: setting };
    const expected = { thinking, text, calls: [] };
    expect(whole(completion({ content }), profile)).toEqual(expected);
    for (const size of [1, 3, 100]) {
      const pieces = content.match(new RegExp(`[^]{1,${size}}`, "gu")) ?? [];
      const chunks = pieces.map((piece) => chunk({ content: piece }));
      expect(stream([...chunks, FINISH, USAGE, DONE], profile)).toEqual(expected);
    }
  });
});

describe.each(HEARING_ROUTES)("$name: a tool's name with a marker", ({ stream, whole }) => {
  it.each([
    ["get<|channel|>commentary", "get"],
    ["get<|channel|>analysis", "get"],
    ["functions.get<|channel|>json", "get"],
    ["<|channel|>commentary to=functions.search_files", "search_files"],
    ["functions.get:0", "get"],
    ["unknown<|channel|>commentary", "unknown<|channel|>commentary"],
  ])("[response.tool_name] %s is %s", (name, expected) => {
    const called = { tool_calls: [{ index: 0, id: "a", function: { name, arguments: "{}" } }] };
    expect(whole(completion(called)).calls).toEqual([`${expected} {}`]);
    expect(stream([chunk(called), FINISH, DONE]).calls[0]).toMatch(`${expected} `);
  });
});
