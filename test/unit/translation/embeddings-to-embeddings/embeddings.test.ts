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
const parse = (body: object | string) =>
  parseWith("embeddings", Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), "embeddings");
const answer = () => parse({ model: "m", input: "a" }).createAnswer(CONTEXT);
const read = (text: string) => {
  const reader = answer();
  const { bytes } = reader.translateBody(Buffer.from(text));
  return { text: Buffer.from(bytes).toString(), observation: reader.observation };
};

describe("an embeddings request", () => {
  it("goes on as it is but for the model's name", () => {
    const text = '{ "input":"a\\u00e9", "model" : "m", "dimensions": 12345678901234567890 }';
    expect(Buffer.from(parse(text).toUpstream(MODEL)).toString()).toBe(
      text.replace('"m"', JSON.stringify(MODEL.upstreamModel)),
    );
  });

  it("generates nothing, and names the context window's worth of what is no text", () => {
    const request = parse({ model: "m", input: [{ image: "data:" }, "b"] });
    expect(request).toMatchObject({ maxOutputTokens: 0, prompts: 2, promptTokens: null, stream: false });
    expect(request.promptSize()).toMatchObject({ hasMedia: true, messages: 0 });
  });

  it("may be a conversation, as some servers embed it", () => {
    expect(parse({ model: "m", messages: [] })).toMatchObject({ prompts: 1 });
  });

  it.each(['{"model":"m","input":"a","input":"b"}', '{"model":"m","Input":"a"}', '{"model":"m","input":7}'])(
    "is refused: %s",
    (text) => {
      expect(() => parse(text)).toThrow(GatewayError);
    },
  );
});

describe("an embeddings answer", () => {
  it.each([
    ['[{"embedding":[0.1]}]', false],
    ["[ ]", true],
  ])("with a usage of 0 and the data %s is of nothing: %j", (data, isZeroUsage) => {
    const { observation } = read(`{"data":${data},"usage":{"prompt_tokens":0,"total_tokens":0}}`);
    expect(observation).toMatchObject({ usage: null, isZeroUsage });
  });

  it("keeps every digit of its numbers", () => {
    const text =
      '{"data":[{"embedding":[1e-320,0.10000000000000000000001]}],"model":"x","usage":{"prompt_tokens":3}}';
    const { text: told, observation } = read(text);
    expect(told).toBe(text.replace('"x"', JSON.stringify(MODEL.id)));
    expect(observation.usage).toMatchObject({ inputTokens: 3, outputTokens: 0 });
  });

  it.each([
    ['{"data":[],"usage":{"total_tokens":5}}', 5],
    ['{"data":[],"usage":{"prompt_tokens":5,"total_tokens":9}}', 5],
  ])("counts the prompt of %s, and never an output", (text, inputTokens) => {
    expect(read(text).observation.usage).toMatchObject({ inputTokens, outputTokens: 0 });
  });

  it.each([
    '{"data":[],"usage":{"prompt_tokens":0,"total_tokens":0}}',
    '{"data":[],"usage":null}',
    '{"data":[]}',
  ])("tells no usage in %s", (text) => {
    expect(read(text).observation.usage).toBeNull();
  });

  it.each([
    '{"data":{}}',
    "{}",
    "[]",
    "{",
    '{"data":[],"usage":nope}',
    `{"data":[],"a":${"[".repeat(2_000)}`,
  ])("is of no use when it is %s", (text) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: "upstream_error" }) as Error);
  });

  it("is the error that the upstream put into it", () => {
    const reader = answer();
    const body = Buffer.from('{"error":{"message":"too long","code":400}}');
    expect(() => reader.translateBody(body)).toThrow("too long");
    expect(reader.observation.isRefused).toBe(true);
  });

  it("has no stream", () => {
    const reader = answer();
    expect([reader.push(Buffer.from("data: 1\n\n")), reader.end()]).toMatchObject([
      { final: false, failed: null },
      { final: false, failed: null },
    ]);
  });
});
