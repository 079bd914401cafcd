import { describe, expect, it } from "vitest";
import { MAX_EVENT_BYTES } from "../../../../src/data-path/translation/upstream/read-stream.ts";
import { createAnswer, createChunk, createModel, streamThrough, USAGE_CHUNK } from "./chat-fixtures.ts";

const frame = (...data: string[]): string => data.map((text) => `data: ${text}\n\n`).join("");
const hello = createChunk({ role: "assistant", content: "hé" });
const stop = createChunk({}, { finish: "stop" });
const mapped = (text: string): string => text.replace('"Org/Chat-32B"', '"acme/chat"');

function readEvents(text: string): unknown[] {
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.slice("data: ".length)) as unknown);
}

/** Longer than any line or event that is read. */
const ENDLESS = "x".repeat(MAX_EVENT_BYTES + 1);
const STREAM = { stream: true };
const WITH_USAGE = { stream: true, stream_options: { include_usage: true } };

describe("AnswerStream", () => {
  it("changes the model only when the client asked for usage", () => {
    const odd = '{ "model" : "Org/Chat-32B","big":12345678901234567890, "usage":null ,"choices":[]}';
    const result = streamThrough(createAnswer(WITH_USAGE), [frame(odd, hello, stop, USAGE_CHUNK, "[DONE]")]);
    expect(result).toEqual({
      text: frame(mapped(odd), mapped(hello), mapped(stop), mapped(USAGE_CHUNK), "[DONE]"),
      final: true,
      failedCode: null,
    });
  });

  it.each([
    { name: "a usage chunk", sent: [hello, USAGE_CHUNK], expected: [mapped(hello)] },
    {
      name: "a usage chunk without choices",
      sent: ['{"usage":{"prompt_tokens":1,"completion_tokens":1}}'],
      expected: [],
    },
    {
      name: "usage in a chunk with choices",
      sent: ['{"choices":[{"index":0}],"usage":{"prompt_tokens":1,"completion_tokens":1},"x":1}'],
      expected: ['{"choices":[{"index":0}],"x":1}'],
    },
    { name: "a null usage", sent: ['{"usage":null,"choices":[]}'], expected: ['{"choices":[]}'] },
    {
      name: "usage before and after the model",
      sent: ['{"usage":null,"model":"m","choices":[],"usage":null}'],
      expected: ['{"model":"acme/chat","choices":[]}'],
    },
  ])("takes $name out when the client did not ask for it", ({ sent, expected }) => {
    const { text } = streamThrough(createAnswer(STREAM), [frame(...sent, stop, "[DONE]")]);
    expect(text).toBe(frame(...expected, mapped(stop), "[DONE]"));
  });

  it.each([
    { name: "none", sent: `{"usage":{"prompt_tokens":1,"completion_tokens":1}}` },
    { name: "null", sent: `{"choices":null,"usage":{"prompt_tokens":1,"completion_tokens":1}}` },
    { name: "nothing at all", sent: "{}" },
  ])("gives a chunk whose choices are $name an empty list, which SDKs demand", ({ sent }) => {
    const { text } = streamThrough(createAnswer(WITH_USAGE), [frame(hello, stop, sent, "[DONE]")]);
    const told = readEvents(text.replace(frame("[DONE]"), "")).at(-1);
    expect(told).toEqual({ ...(JSON.parse(sent) as object), choices: [] });
  });

  it("keeps a nested member that is named usage", () => {
    const chunk = '{"choices":[{"index":0,"delta":{"content":"x"},"usage":{"a":1}}]}';
    expect(streamThrough(createAnswer(STREAM), [frame(chunk, "[DONE]")]).text).toBe(frame(chunk, "[DONE]"));
  });

  it("shows only the last usage when continuous usage was the gateway's own wish", () => {
    const continuous = createChunk(
      { content: "a" },
      { extra: { usage: { prompt_tokens: 9, completion_tokens: 1 } } },
    );
    const answer = createAnswer(WITH_USAGE, createModel({ continuousUsage: true }));
    const { text } = streamThrough(answer, [frame(continuous, stop, USAGE_CHUNK, "[DONE]")]);
    expect(text).toBe(
      frame(mapped(createChunk({ content: "a" })), mapped(stop), mapped(USAGE_CHUNK), "[DONE]"),
    );
  });

  it("observes the last usage that is not null, and the generated text", () => {
    const answer = createAnswer(STREAM);
    const early = createChunk(
      { reasoning: "why" },
      { extra: { usage: { prompt_tokens: 9, completion_tokens: 1 } } },
    );
    const tool = createChunk({ tool_calls: [{ index: 0, function: { name: "f", arguments: "{}" } }] });
    streamThrough(answer, [
      frame(hello, early, tool, stop, USAGE_CHUNK, '{"choices":[],"usage":null}', "[DONE]"),
    ]);
    expect(answer.observation.generatedText).toBe("héwhyf{}");
    expect(answer.observation).toMatchObject({
      usage: { inputTokens: 9, outputTokens: 4 },
      generatedBytes: 9,
      generatedDeltas: 3,
    });
  });

  it("counts bytes past the text that is kept", () => {
    const answer = createAnswer(STREAM);
    const large = createChunk({ content: "x".repeat(700_000) });
    streamThrough(answer, [frame(large, large, stop, "[DONE]")]);
    expect(answer.observation.generatedBytes).toBe(1_400_000);
    expect(answer.observation.generatedText).toHaveLength(700_000);
  });

  it("passes each event as soon as it is complete, and holds what is not", () => {
    const answer = createAnswer(STREAM);
    expect(answer.push(Buffer.from(`data: ${hello}\n`)).bytes).toHaveLength(0);
    expect(Buffer.from(answer.push(Buffer.from("\ndata: {")).bytes).toString()).toBe(frame(mapped(hello)));
  });

  it("passes comments at once", () => {
    const answer = createAnswer(STREAM);
    expect(Buffer.from(answer.push(Buffer.from(": ping\n")).bytes).toString()).toBe(": ping\n");
    expect(Buffer.from(answer.push(Buffer.from("\n")).bytes).toString()).toBe("\n");
  });

  it.each([
    { name: "CRLF", sent: `data: ${hello}\r\n\r\n`, expected: frame(mapped(hello)) },
    { name: "CR", sent: `data: ${hello}\r\r`, expected: frame(mapped(hello)) },
    {
      name: "no space after the colon, and a BOM",
      sent: `\uFEFFdata:${hello}\n\n`,
      expected: frame(mapped(hello)),
    },
    {
      name: "several data lines",
      sent: 'data: {"choices":[],\ndata: "model":"m"}\n\n',
      expected: 'data: {"choices":[],\ndata: "model":"acme/chat"}\n\n',
    },
    {
      name: "names and ids",
      sent: `id: 1\nevent: chunk\ndata: ${hello}\n\n`,
      expected: `id: 1\nevent: chunk\n${frame(mapped(hello))}`,
    },
    { name: "a field without data", sent: "retry: 100\n\n", expected: "retry: 100\n\n" },
    { name: "empty data, which no client can read", sent: "data:\n\ndata\n\n", expected: "" },
    { name: "superfluous blank lines", sent: "\n\n\n", expected: "" },
  ])("reads $name", ({ sent, expected }) => {
    expect(streamThrough(createAnswer(STREAM), [sent, frame(stop, "[DONE]")]).text).toBe(
      expected + frame(mapped(stop), "[DONE]"),
    );
  });

  it("marks the output with [DONE] as final and lets nothing pass after it", () => {
    const answer = createAnswer(STREAM);
    expect(answer.push(Buffer.from(frame(hello))).final).toBe(false);
    const last = answer.push(Buffer.from(frame("[DONE]", hello) + "data: garbage\n\n"));
    expect(last).toMatchObject({ final: true, failed: null });
    expect(Buffer.from(last.bytes).toString()).toBe(frame("[DONE]"));
    expect(answer.push(Buffer.from(frame(hello))).bytes).toHaveLength(0);
    expect(answer.end().bytes).toHaveLength(0);
  });

  it.each([
    { name: "after a finish reason", sent: frame(hello, stop) },
    { name: "after the usage", sent: frame(hello, USAGE_CHUNK) },
    { name: "in the middle of a line after the finish reason", sent: `${frame(hello, stop)}data: {"cho` },
    { name: "with a last event that no blank line ends", sent: `${frame(hello)}data: ${stop}` },
    { name: "with a [DONE] that no blank line ends", sent: `${frame(hello)}data: [DONE]` },
    { name: "after a chunk of a finished choice", sent: frame(hello, stop, createChunk({})) },
  ])("completes a stream that ends $name", ({ sent }) => {
    const result = streamThrough(createAnswer(STREAM), [sent]);
    expect(result).toMatchObject({ final: true, failedCode: null });
    expect(result.text.endsWith(frame("[DONE]"))).toBe(true);
  });

  it.each([
    { name: "ends before a finish reason", sent: frame(hello), passed: 1 },
    {
      name: "ends with one of two choices unfinished",
      sent: frame(hello, stop, hello.replace('"index":0', '"index":1')),
      passed: 3,
    },
    { name: "is empty", sent: "", passed: 0 },
    { name: "is a JSON body", sent: '{"choices":[]}', passed: 0 },
    { name: "is cut in a line", sent: `${frame(hello)}data: {"cho`, passed: 1 },
    {
      name: "ends with nesting without end",
      sent: `${frame(hello)}data: ${"[".repeat(5_000_000)}`,
      passed: 1,
    },
  ])("ends with an error chunk a stream that $name", ({ sent, passed }) => {
    const result = streamThrough(createAnswer(STREAM), [sent]);
    expect(result).toMatchObject({ final: false, failedCode: "upstream_error" });
    expect(readEvents(result.text)).toHaveLength(passed + 1);
    expect(readEvents(result.text).at(-1)).toMatchObject({
      error: { message: expect.stringContaining("ended its response before it was complete") as string },
    });
  });

  it.each([
    { name: "data that is not JSON", sent: frame("{oops") },
    { name: "data that is not an object", sent: frame("5") },
    { name: "data nested without end", sent: frame("[".repeat(100_000)) },
    { name: "an endless line", sent: `data: ${ENDLESS}` },
    { name: "an endless comment", sent: `: ${ENDLESS}` },
    { name: "an event of endless lines", sent: `data: ${ENDLESS.slice(MAX_EVENT_BYTES / 2)}\n`.repeat(2) },
    { name: "an error of status 500", sent: frame('{"error":{"message":"secret","code":500}}') },
    { name: "an error event", sent: 'event: error\ndata: {"message":"secret"}\n\n' },
    { name: "an error event that is text", sent: "event: error\ndata: secret\n\n" },
  ])("ends with an error chunk a stream with $name, and lets nothing pass after it", ({ sent }) => {
    const answer = createAnswer(STREAM);
    const result = streamThrough(answer, [frame(hello) + sent, frame(hello, stop, "[DONE]")]);
    expect(result).toMatchObject({ final: false, failedCode: "upstream_error" });
    expect(readEvents(result.text)).toEqual([
      JSON.parse(mapped(hello)),
      { error: expect.objectContaining({ code: "upstream_error", type: "api_error" }) as object },
    ]);
    expect(result.text).not.toContain("secret");
  });

  it("is not troubled by an endless line after [DONE]", () => {
    const result = streamThrough(createAnswer(STREAM), [`${frame(stop, "[DONE]")}data: ${ENDLESS}`]);
    expect(result).toEqual({ text: frame(mapped(stop), "[DONE]"), final: true, failedCode: null });
  });

  it("gives the upstream's error its own meaning when its code is a status", () => {
    const sent = frame(hello, '{"error":{"message":"prompt too long","type":"BadRequestError","code":400}}');
    const { text, failedCode } = streamThrough(createAnswer(STREAM), [sent]);
    expect(failedCode).toBe("invalid_parameter");
    expect(text).toContain('"message":"prompt too long"');
  });
});
