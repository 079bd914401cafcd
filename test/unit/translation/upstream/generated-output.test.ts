import { describe, expect, it } from "vitest";
import {
  CHOICES_ROUTES,
  createRouteAnswer,
  dataEvent,
  NATIVE_ROUTES,
} from "../../../support/answer-routes.ts";
import { encode } from "../../../support/messages-exchange.ts";
import { createNativeAnswer, namedEvent } from "../../../support/native-exchange.ts";
import type { Answer } from "../../../../src/data-path/translation/client-protocol.ts";

/** The routes whose upstream answers in chat completions. */
const CHAT_ROUTES = CHOICES_ROUTES.filter(({ upstream }) => upstream === "chat");

const chunk = (choice: object) => dataEvent({ id: "c", model: "up", choices: [{ index: 0, ...choice }] });
const details = (text: string) => [{ type: "reasoning.text", text, index: 0, format: "unknown" }];

function seen({ observation }: Answer) {
  const { generatedText: text, generatedBytes: bytes, generatedDeltas: pieces } = observation;
  return { text, bytes, pieces };
}

const textOf = (text: string, pieces: number) => ({ text, bytes: Buffer.byteLength(text), pieces });

describe.each(CHAT_ROUTES)("what was generated, $name", (route) => {
  const read = (...choices: object[]) => {
    const answer = createRouteAnswer(route, { stream: true });
    for (const choice of choices) answer.push(encode(chunk(choice)));
    return seen(answer);
  };

  it.each([
    ["reasoning_details", { reasoning_details: details("one two") }],
    ["reasoning_text", { reasoning_text: "one two" }],
    ["thinking_blocks", { thinking_blocks: [{ type: "thinking", thinking: "one two", signature: "s" }] }],
    [
      "a custom tool's input",
      { tool_calls: [{ index: 0, id: "a", type: "custom", custom: { input: "one two" } }] },
    ],
    ["a transcript", { audio: { id: "a", transcript: "one two" } }],
    ["a refusal", { refusal: "one two" }],
    ["a field of tomorrow", { of_tomorrow: { parts: [{ words: "one two" }] } }],
  ])("is %s", (_name, delta) => {
    expect(read({ delta })).toEqual(textOf("one two", 1));
  });

  it("is what a choice has beside its delta, and what other choices have", () => {
    expect(read({ delta: {}, of_tomorrow: "one" }, { index: 1, delta: { content: "two" } }).text).toBe(
      "onetwo",
    );
  });

  it("has reasoning once, however many fields repeat it, in the same chunks or at the end", () => {
    const pieces = ["one ", "two ", "three"].map((text) => ({
      delta: { reasoning: text, reasoning_content: text, reasoning_details: details(text) },
    }));
    expect(read(...pieces)).toEqual(textOf("one two three", 3));
    const copy = { delta: { reasoning_details: details("one two three and four") } };
    expect(read({ delta: { reasoning: "one two three" } }, copy)).toEqual(
      textOf("one two three and four", 2),
    );
  });

  it("has a whole message at the end once, and what deltas have not told of it", () => {
    const message = { role: "assistant", reasoning_content: "hm", content: "hello big world" };
    const deltas = [
      { delta: { reasoning: "hm" } },
      { delta: { content: "hello" } },
      { delta: { content: " big" } },
    ];
    expect(read(...deltas, { message })).toEqual(textOf("hmhello big world", 4));
    const told = [...deltas, { delta: { content: " world" } }];
    expect(read(...told, { message }, { message })).toEqual(textOf("hmhello big world", 4));
  });

  it("has messages in place of deltas, each as a piece", () => {
    const pieces = ["hello", " big", " world"].map((content) => ({ message: { content } }));
    expect(read(...pieces)).toEqual(textOf("hello big world", 3));
  });

  it("is one piece without bytes for an image, audio or encrypted content", () => {
    const image = { images: [{ image_url: { url: "data:image/png;base64,AAAA" } }] };
    expect(read({ delta: image })).toEqual(textOf("", 1));
  });

  it("of a whole completion is the same", () => {
    const answer = createRouteAnswer(route);
    const message = { content: "hello", reasoning: "hm", reasoning_details: details("hm"), of_tomorrow: "!" };
    answer.translateBody(encode(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] })));
    expect(seen(answer)).toEqual(textOf("hellohm!", 1));
  });

  it("makes a usage that came before it, or that tells no output, one that is behind", () => {
    const usage = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };
    const answer = createRouteAnswer(route, { stream: true });
    answer.push(encode(dataEvent({ id: "c", choices: [], usage })));
    expect(answer.observation.isUsageIncomplete).toBe(false);
    answer.push(encode(chunk({ delta: { reasoning_details: details("hm") } })));
    expect(answer.observation).toMatchObject({ isUsageIncomplete: true, isZeroUsage: false });
  });

  it("makes an error that follows it no refusal", () => {
    const answer = createRouteAnswer(route, { stream: true });
    answer.push(
      encode(chunk({ delta: { reasoning_details: [{ type: "reasoning.encrypted", data: "AAAA" }] } })),
    );
    answer.push(encode(dataEvent({ error: { message: "gone", code: 500 } })));
    expect(answer.observation.isRefused).toBe(false);
  });
});

describe("what was generated of a message that passes through", () => {
  const read = (...events: string[]) => {
    const answer = createNativeAnswer("messages");
    for (const event of events) answer.push(encode(event));
    return seen(answer);
  };
  const start = (block: object) => namedEvent("content_block_start", { index: 0, content_block: block });
  const delta = (fields: object) => namedEvent("content_block_delta", { index: 0, delta: fields });

  it.each([
    ["a compaction", [delta({ type: "compaction_delta", content: "one two" })]],
    ["a block that comes whole", [start({ type: "text", text: "one two" })]],
    ["a delta of tomorrow", [delta({ type: "thing_delta", thing: { words: "one two" } })]],
    ["an event of tomorrow", [namedEvent("content_block_patch", { index: 0, patch: "one two" })]],
    [
      "a message that begins with its content",
      [namedEvent("message_start", { message: { content: [{ type: "text", text: "one two" }] } })],
    ],
    [
      "a block that is told at its end",
      [namedEvent("content_block_stop", { index: 0, content_block: { text: "one two" } })],
    ],
  ])("is %s", (_name, events) => {
    expect(read(...events)).toEqual(textOf("one two", 1));
  });

  it("is not what a tool of the server's found, nor a citation", () => {
    const result = { type: "web_search_tool_result", tool_use_id: "s", content: [{ title: "found" }] };
    const citation = { type: "citations_delta", citation: { cited_text: "found" } };
    expect(read(start(result), delta(citation), namedEvent("ping"))).toEqual(textOf("", 0));
  });

  it("has a block once that its end repeats", () => {
    const block = { type: "text", text: "one two" };
    const end = namedEvent("content_block_stop", { index: 0, content_block: block });
    expect(read(delta({ type: "text_delta", text: "one two" }), end)).toEqual(textOf("one two", 1));
  });

  it("has a call's input once that its start has whole and deltas repeat", () => {
    const call = start({ type: "tool_use", id: "t", name: "run", input: { a: "one two" } });
    const pieces = ['{"a":"one ', 'two"}'].map((json) =>
      delta({ type: "input_json_delta", partial_json: json }),
    );
    expect(read(call)).toEqual(textOf('run{"a":"one two"}', 2));
    expect(read(call, ...pieces)).toEqual(textOf('run{"a":"one two"}', 2));
    const longer = delta({ type: "input_json_delta", partial_json: "," });
    expect(read(call, ...pieces, longer)).toEqual(textOf('run{"a":"one two"},', 3));
    const empty = start({ type: "tool_use", id: "t", name: "run", input: {} });
    expect(read(empty, ...pieces)).toEqual(textOf('run{"a":"one two"}', 3));
  });
});

describe("what was generated of a response that passes through", () => {
  const read = (...events: string[]) => {
    const answer = createNativeAnswer("responses");
    for (const event of events) answer.push(encode(event));
    return seen(answer);
  };
  const item = (type: "added" | "done", fields: object, index = 0) =>
    namedEvent(`response.output_item.${type}`, { output_index: index, item: { id: "i", ...fields } });
  const event = (type: string, fields: object, index = 0) =>
    namedEvent(`response.${type}`, { item_id: "i", output_index: index, ...fields });
  const custom = { type: "custom_tool_call", name: "run", call_id: "c" };

  it.each([
    [
      "a custom tool's input without deltas",
      [item("added", custom), item("done", { ...custom, input: "one two" })],
      "runone two",
      2,
    ],
    [
      "a custom tool's input, in pieces alone",
      [item("added", custom), event("custom_tool_call_input.delta", { delta: "one two" })],
      "runone two",
      2,
    ],
    [
      "a custom tool's input, whole alone",
      [item("added", custom), event("custom_tool_call_input.done", { input: "one two" })],
      "runone two",
      2,
    ],
    ["a transcript", [event("audio.transcript.delta", { delta: "one two" })], "one two", 1],
    ["a refusal", [event("refusal.delta", { content_index: 0, delta: "one two" })], "one two", 1],
    ["an event of tomorrow", [event("thing.of_tomorrow", { things: [{ words: "one two" }] })], "one two", 1],
    [
      "a response at the end alone",
      [
        namedEvent("response.incomplete", {
          response: { output: [{ type: "message", content: [{ type: "output_text", text: "one two" }] }] },
        }),
      ],
      "one two",
      1,
    ],
  ])("is %s", (_name, events, text, pieces) => {
    expect(read(...events)).toEqual(textOf(text, pieces));
  });

  it.each([
    ["audio", [event("audio.delta", { delta: "AAAA" })]],
    [
      "a part of an image",
      [event("image_generation_call.partial_image", { partial_image_b64: "AAAA", size: "1x1" })],
    ],
    ["a compaction", [item("done", { type: "compaction", encrypted_content: "gAAA" })]],
  ])("is one piece without bytes for %s", (_name, events) => {
    expect(read(...events)).toEqual(textOf("", 1));
  });

  it("has each text once, which comes in deltas, as a part, as an item and in the response", () => {
    const text = (words: string) => ({ type: "output_text", text: words, annotations: [] });
    const message = { type: "message", role: "assistant", content: [text("one"), text("two")] };
    const call = { type: "function_call", name: "get", call_id: "c", arguments: '{"a":1}' };
    const events = [
      item("added", { ...message, content: [] }),
      ...["one", "two"].flatMap((words, content_index) => [
        event("content_part.added", { content_index, part: text("") }),
        event("output_text.delta", { content_index, delta: words.slice(0, 2), obfuscation: "xyz" }),
        event("output_text.delta", { content_index, delta: words.slice(2) }),
        event("output_text.done", { content_index, text: words, logprobs: [] }),
        event("content_part.done", { content_index, part: text(words) }),
      ]),
      item("done", message),
      item("added", { ...call, arguments: "" }, 1),
      event("function_call_arguments.delta", { delta: '{"a":' }, 1),
      event("function_call_arguments.delta", { delta: "1}" }, 1),
      event("function_call_arguments.done", { name: "get", arguments: '{"a":1}' }, 1),
      item("done", call, 1),
      namedEvent("response.completed", { response: { output: [message, call], usage: null } }),
    ];
    expect(read(...events)).toEqual(textOf('onetwoget{"a":1}', 7));
  });

  it("has what a finished item holds beyond its deltas, though another item had more", () => {
    const events = [
      event("output_text.delta", { content_index: 0, delta: "a long text of another item" }),
      event("custom_tool_call_input.delta", { delta: "one" }, 1),
      item("done", { type: "custom_tool_call", input: "one two" }, 1),
    ];
    expect(read(...events).text).toBe("a long text of another itemone two");
  });
});

describe.each(NATIVE_ROUTES)("what cannot be read, $name", (route) => {
  it("counts by its bytes, where it is output", () => {
    const answer = createRouteAnswer(route, { stream: true });
    const deep = `{"type":${"[".repeat(3_000)}`;
    answer.push(encode(`data: ${deep}\n\nevent: odd\ndata: not JSON\n\n`));
    expect(seen(answer)).toEqual(textOf(deep, 1));
  });
});

const PASSING_ROUTES = [
  ...CHOICES_ROUTES.filter(({ client, upstream }) => client === upstream),
  ...NATIVE_ROUTES,
];

describe.each(PASSING_ROUTES)("an event in no form of the protocol, $name", (route) => {
  it.each([
    { delta: { content: "one two" } },
    { message: { role: "assistant", content: "one two" } },
    { candidates: [{ content: { parts: [{ text: "one two" }] } }] },
    { response: "one two", done: false },
    { output_text: "one two" },
  ])("counts, since the client gets it: %j", (event) => {
    const answer = createRouteAnswer(route, { stream: true });
    answer.push(encode(dataEvent(event)));
    expect(seen(answer)).toEqual(textOf("one two", 1));
  });

  it.each([
    { message: "working" },
    { prompt_filter_results: [{ verdict: "safe" }] },
    { time_info: { at: "x" } },
  ])("does not, where it is about the answer: %j", (event) => {
    const answer = createRouteAnswer(route, { stream: true });
    answer.push(encode(dataEvent(event)));
    expect(seen(answer)).toEqual(textOf("", 0));
  });
});
