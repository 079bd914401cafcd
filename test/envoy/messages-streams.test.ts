import { describe, expect, it } from "vitest";
import { withSharedChatStack } from "../support/chat-stack.ts";
import { finishChunk, type ScriptedAnswer, textChunk, textCompletion } from "../support/scripted-answer.ts";
import { usageChunk } from "../support/scripted-answer.ts";
import { createGate, waitFor } from "../support/wait.ts";
import { readMessageStream, sendMessages, streamedText } from "./messages-checks.ts";
import { messagesBody, readRequest } from "./metering-figures.ts";

const chat = withSharedChatStack();
const USAGE = { promptTokens: 11, cachedTokens: 4, completionTokens: 2 };
const STREAM_TYPE = { "content-type": "text/event-stream" };
const ANSWER_BYTES = 10 * 1024 * 1024;

const CALLS = Array.from({ length: 200 }, (_, index) => ({
  index,
  id: `call_${index}`,
  type: "function",
  function: {
    name: `tool_${index % 7}`,
    arguments: JSON.stringify({ number: index, text: "x".repeat(50) }),
  },
}));
const CALLED = CALLS.map(({ id, function: called }) => [id, called.name, called.arguments]);

/** The text of a stream without what may differ from request to request: the id and the estimate at its start. */
function withoutChance(text: string): string {
  return text.replace(/msg_\w+/u, "msg_1").replace(/"input_tokens":\d+/u, '"input_tokens":1');
}

describe("a stream of the messages route", () => {
  const send = (fields: object = {}) =>
    sendMessages(chat, { body: messagesBody({ stream: true, ...fields }) });

  it("is framed to the byte as the protocol says", async () => {
    chat.upstream.answer({
      kind: "events",
      events: [textChunk("grüße"), textChunk("\n😀"), finishChunk(), usageChunk(USAGE)],
    });
    const answer = await send();
    expect(answer.headers["content-type"]).toMatch(/^text\/event-stream(?:; charset=utf-8)?$/u);
    expect(answer.headers["cache-control"]).toBe("no-cache");
    expect(withoutChance(answer.text)).toBe(
      [
        "event: message_start",
        `data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"acme/echo-small","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"container":null,"diagnostics":null,"usage":{"input_tokens":1,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"output_tokens_details":null,"cache_creation":null,"server_tool_use":null,"service_tier":null,"speed":null,"inference_geo":null}}}`,
        "",
        "event: content_block_start",
        'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        "",
        "event: content_block_delta",
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"grüße"}}',
        "",
        "event: content_block_delta",
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"\\n😀"}}',
        "",
        "event: content_block_stop",
        'data: {"type":"content_block_stop","index":0}',
        "",
        "event: message_delta",
        'data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"container":null},"usage":{"input_tokens":7,"cache_creation_input_tokens":0,"cache_read_input_tokens":4,"output_tokens":2,"output_tokens_details":null,"server_tool_use":null}}',
        "",
        "event: message_stop",
        'data: {"type":"message_stop"}',
        "",
        "",
      ].join("\n"),
    );
  });

  it("shows each chunk before the upstream sends the next", async () => {
    const words = Array.from({ length: 8 }, (_, index) => `word${index} `);
    const gates = words.map(() => createGate());
    const events = words.flatMap((word, index) => [textChunk(word), gates[index]!]);
    chat.upstream.answer({ kind: "events", events: [...events, finishChunk(), usageChunk(USAGE)] });
    let shown = 0;
    const answer = await sendMessages(chat, {
      body: messagesBody({ stream: true }),
      // A gate opens only once the client has the chunk before it: a chunk that is held back stops the stream.
      onData: (_chunk, soFar) => {
        for (; soFar().includes(`"${words[shown] ?? "\0"}"`); shown += 1) gates[shown]!.release();
      },
    });
    expect(streamedText(readMessageStream(answer, "message_stop"))).toBe(words.join(""));
  });

  it("shows each piece of a tool call's arguments before the upstream sends the next", async () => {
    const pieces = ['{"pa', 'th":"', "/tmp/x", '","deep":{"a":[1,', "2]}}"];
    const gates = pieces.map(() => createGate());
    const delta = (fields: object) =>
      textChunk("", { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...fields }] } }] });
    const events = pieces.flatMap((piece, index) => [
      delta({ function: { arguments: piece } }),
      gates[index]!,
    ]);
    chat.upstream.answer({
      kind: "events",
      events: [
        delta({ id: "call_1", type: "function", function: { name: "read", arguments: "" } }),
        ...events,
        finishChunk("tool_calls"),
      ],
    });
    let shown = 0;
    const answer = await sendMessages(chat, {
      body: messagesBody({ stream: true }),
      onData: (_chunk, soFar) => {
        for (; soFar().includes(JSON.stringify(pieces[shown] ?? "\0")); shown += 1) gates[shown]!.release();
      },
    });
    const events_ = readMessageStream(answer, "message_stop");
    const sent = events_.map(({ data }) => (data["delta"] as { partial_json?: string })?.partial_json ?? "");
    expect(sent.join("")).toBe(pieces.join(""));
  });

  it("[stream.done] ends with [DONE], charged, though the upstream keeps its connection open", async () => {
    const events = [textChunk("one"), finishChunk(), usageChunk(USAGE)];
    chat.upstream.answer({ kind: "events", events, ending: "hang" });
    const answer = await send();
    expect(streamedText(readMessageStream(answer, "message_stop"))).toBe("one");
    const row = await readRequest(chat.stack, chat.key, answer);
    expect(row).toMatchObject({ status: 200, input_tokens: 7, cached_input_tokens: 4, output_tokens: 2 });
    const request = chat.upstream.lastRequest;
    await waitFor("the upstream to be cut off", () => request.state === "aborted");
  });

  it("is the same however the upstream's bytes are cut", async () => {
    const chunks = [textChunk("grüße 😀"), finishChunk("length"), usageChunk(USAGE)];
    const text = `: hi\r\n\r\n${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join("")}data: [DONE]\r\n\r\n`;
    const bytes = Buffer.from(text);
    const pieces: Buffer[][] = [
      [bytes],
      Array.from(bytes, (byte) => Buffer.from([byte])),
      ...[7, 64, 200].map((size) =>
        Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        ),
      ),
    ];
    chat.upstream.answerNext(
      ...pieces.map((cut): ScriptedAnswer => ({ kind: "bytes", headers: STREAM_TYPE, pieces: cut })),
    );
    const texts: string[] = [];
    for (const _ of pieces) {
      const answer = await send();
      readMessageStream(answer, "message_stop");
      texts.push(withoutChance(answer.text));
    }
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain("grüße 😀");
  });

  it("closes the upstream when the client goes away", async () => {
    chat.upstream.answer({ kind: "events", events: [textChunk("one")], done: false, ending: "hang" });
    const answer = await sendMessages(chat, {
      body: messagesBody({ stream: true }),
      onData: (_chunk, soFar) => (soFar().includes("one") ? "abort" : undefined),
    });
    expect(answer.complete).toBe(false);
    await waitFor("the upstream to see it", () => chat.upstream.lastRequest.state === "aborted");
  });
});

describe("a large answer of the messages route", () => {
  const words = "0123456789abcde ".repeat(ANSWER_BYTES / 16);

  it("passes as JSON of 10 MB", async () => {
    chat.upstream.answer({ kind: "json", body: textCompletion(words, USAGE) });
    const answer = await sendMessages(chat, { body: messagesBody() });
    expect(answer.status).toBe(200);
    expect(answer.json()).toMatchObject({ content: [{ type: "text" }], stop_reason: "end_turn" });
    expect((answer.json()["content"] as { text: string }[])[0]?.text === words).toBe(true);
  });

  it("passes as a stream of 10 MB, and as a stream made of JSON", async () => {
    const pieces = words.match(/.{4096}/gsu) ?? [];
    const events = [...pieces.map((piece) => textChunk(piece)), finishChunk(), usageChunk(USAGE)];
    chat.upstream.answerNext({ kind: "events", events });
    chat.upstream.answerNext({ kind: "json", body: textCompletion(words, USAGE) });
    const body = messagesBody({ stream: true });
    for (const _ of ["stream", "json"]) {
      const answer = await sendMessages(chat, { body });
      expect(streamedText(readMessageStream(answer, "message_stop")) === words).toBe(true);
    }
  });

  it("passes 200 parallel tool calls as JSON", async () => {
    const message = { role: "assistant", content: null, tool_calls: CALLS };
    const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
    chat.upstream.answer({ kind: "json", body: textCompletion("", USAGE, { choices }) });
    const answer = await sendMessages(chat, { body: messagesBody() });
    const content = answer.json()["content"] as { id: string; name: string; input: object }[];
    expect(content.map(({ id, name, input }) => [id, name, JSON.stringify(input)])).toEqual(CALLED);
  });

  it("passes 200 parallel tool calls as a stream, interleaved", async () => {
    const chunk = (tool_calls: object[]) => textChunk("", { choices: [{ index: 0, delta: { tool_calls } }] });
    const heads = CALLS.map(({ function: { name }, ...call }) =>
      chunk([{ ...call, function: { name, arguments: "" } }]),
    );
    const part = (from: number, to?: number) =>
      chunk(
        CALLS.map(({ index, function: called }) => ({
          index,
          function: { arguments: called.arguments.slice(from, to) },
        })),
      );
    chat.upstream.answer({
      kind: "events",
      events: [...heads, part(0, 9), part(9), finishChunk("tool_calls")],
    });
    const answer = await sendMessages(chat, { body: messagesBody({ stream: true }) });
    const uses: [id: string, name: string, input: string][] = [];
    for (const { event, data } of readMessageStream(answer, "message_stop")) {
      const block = data["content_block"] as { id: string; name: string } | undefined;
      const delta = data["delta"] as { partial_json?: string } | undefined;
      if (event === "content_block_start") uses.push([block?.id ?? "", block?.name ?? "", ""]);
      if (event === "content_block_delta") uses.at(-1)![2] += delta?.partial_json ?? "";
    }
    expect(uses).toEqual(CALLED);
  });
});
