import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/shared/contract/errors.ts";
import type { AnswerContext } from "../../../../src/data-path/translation/client-protocol.ts";
import { parseWith } from "../../../support/parse-with.ts";
import { createModel } from "../chat-to-chat/chat-fixtures.ts";

const MODEL = createModel();

const CONTEXT: AnswerContext = {
  model: MODEL,
  estimatedInputTokens: 1,
  nowMs: () => 0,
  requestId: "req_1",
};
const parse = (fields: object) =>
  parseWith(
    "completions",
    Buffer.from(JSON.stringify({ model: "m", prompt: "hello", ...fields })),
    "completions",
  );
const answerTo = (fields: object = {}) => parse(fields).createAnswer(CONTEXT);
const completion = (choices: object[], fields: object = {}) =>
  Buffer.from(JSON.stringify({ id: "c", object: "text_completion", model: "x", choices, ...fields }));
const eventOf = (value: object) => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);

describe("a completion request", () => {
  it.each([
    [{}, 1, 1, null],
    [{ n: 3, best_of: 2 }, 1, 3, null],
    [{ n: 2, best_of: 5 }, 1, 5, null],
    [{ prompt: ["a", "b", "c"], n: 2 }, 3, 6, null],
    [{ prompt: [[1, 2], [3]], n: 2 }, 2, 4, 3],
    [{ prompt: null }, 1, 1, null],
    [{ prompt: undefined, prompt_embeds: ["x", "y"] }, 2, 2, null],
    [{ prompt: "a", prompt_embeds: "x" }, 2, 2, null],
  ])("of %j has its prompts and answers", (fields, prompts, choices, promptTokens) => {
    expect(parse(fields)).toMatchObject({ prompts, choices, promptTokens });
  });

  it("counts embedded prompts as what cannot be told from bytes, and a text as text", () => {
    expect(parse({ prompt_embeds: "x" }).promptSize().hasMedia).toBe(true);
    expect(parse({}).promptSize()).toMatchObject({ hasMedia: false, messages: 0 });
  });

  it("wishes for usage in streams alone, and otherwise changes the model's name", () => {
    const upstream = (fields: object) =>
      JSON.parse(Buffer.from(parse(fields).toUpstream(MODEL)).toString()) as object;
    expect(upstream({ echo: true })).toEqual({ model: MODEL.upstreamModel, prompt: "hello", echo: true });
    expect(upstream({ stream: true })).toMatchObject({ stream_options: { include_usage: true } });
  });

  it.each([
    { prompt: [] },
    { n: 1.5 },
    { best_of: 0 },
    { max_tokens: -1 },
    { stream: 1 },
    { echo: "yes" },
    { stream_options: [] },
    { model: "" },
    { model: undefined },
  ])("of %j is refused", (fields) => {
    expect(() => parse(fields)).toThrow(GatewayError);
  });

  it("cannot be sent any more once its answer has begun", () => {
    const request = parse({});
    request.createAnswer(CONTEXT);
    expect(() => request.toUpstream(MODEL)).toThrow(GatewayError);
  });
});

describe("a completion's answer", () => {
  it("counts what was generated and not what echoes the prompt, choice by choice", () => {
    const answer = answerTo({ prompt: ["ab", "cde"], n: 2, echo: true });
    const texts = ["ab1", "ab22", "cde333", "cde4444"];
    answer.translateBody(completion(texts.map((text, index) => ({ index, text, finish_reason: "stop" }))));
    expect(answer.observation).toMatchObject({ generatedBytes: 10, generatedText: "1223334444" });
  });

  it.each([
    [{ prompt: [1, 2], echo: true }, 0],
    [{ prompt: "hello", echo: true }, "unknown"],
  ])("leaves a first piece out whose echo cannot be told: %j", (fields, index) => {
    const answer = answerTo(fields);
    answer.translateBody(completion([{ index, text: "hello and", finish_reason: "stop" }]));
    expect(answer.observation.generatedBytes).toBe(0);
  });

  it("leaves an echo out of the first piece of a stream alone", () => {
    const answer = answerTo({ echo: true, stream: true });
    answer.push(eventOf({ model: "x", choices: [{ index: 0, text: "hello" }] }));
    answer.push(eventOf({ model: "x", choices: [{ index: 0, text: " big", finish_reason: "stop" }] }));
    expect(answer.observation).toMatchObject({ generatedText: " big", generatedDeltas: 1 });
    expect(answer.end()).toMatchObject({ final: true, failed: null });
  });

  it("is played as a stream, with usage for a client that asked", () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const body = completion([{ index: 0, text: "hi", finish_reason: "stop" }], { usage });
    const play = (fields: object) => Buffer.from(answerTo(fields).translateBody(body).bytes).toString();
    expect(play({ stream: true })).not.toContain("usage");
    const told = play({ stream: true, stream_options: { include_usage: true } });
    expect(told.split("\n\n")).toHaveLength(4);
    expect(told).toContain(`"model":${JSON.stringify(MODEL.id)},"choices":[],"usage":`);
    expect(answerTo({ stream: true }).contentType).toBe("text/event-stream");
  });

  it("is of no use without choices, and costs what its usage says", () => {
    const answer = answerTo();
    const body = Buffer.from('{"usage":{"prompt_tokens":4,"completion_tokens":0}}');
    expect(() => answer.translateBody(body)).toThrow(
      expect.objectContaining({ code: "upstream_error" }) as Error,
    );
    expect(answer.observation.usage).toMatchObject({ inputTokens: 4 });
  });

  it("is the error that the upstream put into it", () => {
    const body = Buffer.from('{"error":{"message":"too long","code":400}}');
    expect(() => answerTo().translateBody(body)).toThrow("too long");
  });
});
