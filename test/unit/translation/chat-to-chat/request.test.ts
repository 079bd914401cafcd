import { describe, expect, it } from "vitest";
import { parseWith } from "../../../support/parse-with.ts";
import { createModel } from "./chat-fixtures.ts";

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]';
const parse = (text: string) => parseWith("chat", Buffer.from(text));

function convert(text: string, model = createModel()): string {
  return Buffer.from(parse(text).toUpstream(model)).toString("utf8");
}

function parseFields(fields: object) {
  return parse(
    JSON.stringify({ model: "acme/chat", messages: [{ role: "user", content: "hi" }], ...fields }),
  );
}

describe("a chat request", () => {
  it.each([
    {
      name: "no model",
      text: `{${MESSAGES}}`,
      code: "missing_required_parameter",
      param: "model",
      message: /`model` is missing: expected the id of a model/,
    },
    {
      name: "a model that is no string",
      text: `{"model":5,${MESSAGES}}`,
      code: "invalid_parameter",
      param: "model",
      message: /must be the id of a model, a string, not 5/,
    },
    {
      name: "an empty model",
      text: `{"model":"",${MESSAGES}}`,
      code: "invalid_parameter",
      param: "model",
      message: /not an empty string/,
    },
    {
      name: "a null model",
      text: `{"model":null,${MESSAGES}}`,
      code: "invalid_parameter",
      param: "model",
      message: /not null/,
    },
    {
      name: "no messages",
      text: '{"model":"m"}',
      code: "missing_required_parameter",
      param: "messages",
      message: /at least one message/,
    },
    {
      name: "messages that are a string",
      text: '{"model":"m","messages":"hi"}',
      code: "invalid_parameter",
      param: "messages",
      message: /array of at least one message, not a string/,
    },
    {
      name: "empty messages",
      text: '{"model":"m","messages":[]}',
      code: "invalid_parameter",
      param: "messages",
      message: /not an empty array/,
    },
    {
      name: "a message that is a string",
      text: '{"model":"m","messages":[{},"hi"]}',
      code: "invalid_parameter",
      param: "messages.1",
      message: /an object with a `role`, not a string/,
    },
    {
      name: "stream as a string",
      text: `{"model":"m",${MESSAGES},"stream":"true"}`,
      code: "invalid_parameter",
      param: "stream",
      message: /true or false, not a string/,
    },
    {
      name: "stream_options as a boolean",
      text: `{"model":"m",${MESSAGES},"stream_options":true}`,
      code: "invalid_parameter",
      param: "stream_options",
      message: /an object, not true/,
    },
    {
      name: "n of 0",
      text: `{"model":"m",${MESSAGES},"n":0}`,
      code: "invalid_parameter",
      param: "n",
      message: /from 1 to 128, not 0/,
    },
    {
      name: "n of 129",
      text: `{"model":"m",${MESSAGES},"n":129}`,
      code: "invalid_parameter",
      param: "n",
      message: /not 129/,
    },
    {
      name: "max_tokens of 0",
      text: `{"model":"m",${MESSAGES},"max_tokens":0}`,
      code: "invalid_parameter",
      param: "max_tokens",
      message: /an integer of at least 1, not 0/,
    },
    {
      name: "fractional max_completion_tokens",
      text: `{"model":"m",${MESSAGES},"max_completion_tokens":1.5}`,
      code: "invalid_parameter",
      param: "max_completion_tokens",
      message: /not 1.5/,
    },
    {
      name: "max_tokens as a string",
      text: `{"model":"m",${MESSAGES},"max_tokens":"5"}`,
      code: "invalid_parameter",
      param: "max_tokens",
      message: /not a string/,
    },
    {
      name: "max_tokens beyond all measure",
      text: `{"model":"m",${MESSAGES},"max_tokens":1e400}`,
      code: "invalid_parameter",
      param: "max_tokens",
      message: /integer/,
    },
    {
      name: "a model given twice",
      text: `{"model":"m",${MESSAGES},"model":"n"}`,
      code: "invalid_parameter",
      param: "model",
      message: /more than once/,
    },
    {
      name: "a model given twice, once escaped",
      text: String.raw`{"mod\u0065l":"m",${MESSAGES},"model":"n"}`,
      code: "invalid_parameter",
      param: "model",
      message: /more than once/,
    },
    {
      name: "max_tokens given twice",
      text: `{"model":"m",${MESSAGES},"max_tokens":1,"max_tokens":99999}`,
      code: "invalid_parameter",
      param: "max_tokens",
      message: /more than once/,
    },
    {
      name: "a field in another case",
      text: `{"model":"m",${MESSAGES},"Model":"n"}`,
      code: "invalid_parameter",
      param: "Model",
      message: /Use `model`/,
    },
    {
      name: "a field with a Unicode look-alike that folds",
      text: `{"model":"m",${MESSAGES},"\u017Ftream":true}`,
      code: "invalid_parameter",
      param: "\u017Ftream",
      message: /Use `stream`/,
    },
  ])("refuses $name", ({ text, code, param, message }) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code, param, message: expect.stringMatching(message) }),
    );
  });

  it.each([
    {
      name: "nothing but the required",
      fields: {},
      expected: { stream: false, maxOutputTokens: null, choices: 1 },
    },
    {
      name: "nulls",
      fields: { stream: null, stream_options: null, n: null, max_tokens: null, max_completion_tokens: null },
      expected: { stream: false, maxOutputTokens: null, choices: 1 },
    },
    {
      name: "a stream of several choices",
      fields: { stream: true, n: 128 },
      expected: { stream: true, choices: 128 },
    },
    {
      name: "more answers that are tried than told",
      fields: { n: 2, best_of: 16 },
      expected: { choices: 16 },
    },
    { name: "fewer tries than answers", fields: { n: 3, best_of: null }, expected: { choices: 3 } },
    { name: "max_tokens alone", fields: { max_tokens: 10 }, expected: { maxOutputTokens: 10 } },
    {
      name: "the smallest limit, whatever a server calls it",
      fields: { max_tokens: 20, max_completion_tokens: 30, n_predict: 10, max_new_tokens: -1 },
      expected: { maxOutputTokens: 10 },
    },
    {
      name: "unknown fields",
      fields: { reasoning_effort: "high", whatever: [{}] },
      expected: { protocol: "chat", model: "acme/chat" },
    },
  ])("takes $name", ({ fields, expected }) => {
    expect(parseFields(fields)).toMatchObject(expected);
  });
});

describe("ChatRequest.toUpstream", () => {
  it("changes the model only and keeps every other byte of a request that does not stream", () => {
    const before = String.raw`{ "seed" : 12345678901234567890, "t":1.0e0,"x":-0.0,	"user":"z\u0105\/", "nested":{"model":"acme/chat"},`;
    const after =
      String.raw`,"messages":[{"role":"user","content":"\ud83d\ude00 żółć \"model\":\"x\""}],"logit_bias":{"__proto__":1}, "stream":false , "stream_options":{"include_usage":false} }` +
      "\r\n";
    expect(convert(`${before}"model":"acme\\/chat"${after}`)).toBe(`${before}"model":"Org/Chat-32B"${after}`);
  });

  it.each([
    {
      name: "adds stream_options",
      sent: `{"stream":true,"model":"m",${MESSAGES}}`,
      expected: `{"stream_options":{"include_usage":true},"stream":true,"model":"Org/Chat-32B",${MESSAGES}}`,
    },
    {
      name: "replaces a null",
      sent: `{"model":"m",${MESSAGES},"stream":true,"stream_options":null}`,
      expected: `{"model":"Org/Chat-32B",${MESSAGES},"stream":true,"stream_options":{"include_usage":true}}`,
    },
    {
      name: "fills an empty object",
      sent: `{"model":"m",${MESSAGES},"stream":true,"stream_options":{ }}`,
      expected: `{"model":"Org/Chat-32B",${MESSAGES},"stream":true,"stream_options":{"include_usage":true }}`,
    },
    {
      name: "keeps other members",
      sent: `{"stream_options":{ "include_obfuscation":false},"model":"m",${MESSAGES},"stream":true}`,
      expected: `{"stream_options":{"include_usage":true, "include_obfuscation":false},"model":"Org/Chat-32B",${MESSAGES},"stream":true}`,
    },
    {
      name: "turns false into true, wherever it is repeated",
      sent: `{"model":"m",${MESSAGES},"stream":true,"stream_options":{"include_usage":false,"a":1,"include_usage":0}}`,
      expected: `{"model":"Org/Chat-32B",${MESSAGES},"stream":true,"stream_options":{"include_usage":true,"a":1,"include_usage":true}}`,
    },
    {
      name: "leaves true alone",
      sent: `{"model":"m",${MESSAGES},"stream":true,"stream_options":{"include_usage": true}}`,
      expected: `{"model":"Org/Chat-32B",${MESSAGES},"stream":true,"stream_options":{"include_usage": true}}`,
    },
  ])("asks for usage in a stream: $name", ({ sent, expected }) => {
    expect(convert(sent)).toBe(expected);
  });

  it.each([
    {
      name: "without options",
      options: "",
      expected: '{"include_usage":true,"continuous_usage_stats":true}',
    },
    {
      name: "with usage asked for",
      options: ',"stream_options":{"include_usage":true}',
      expected: '{"continuous_usage_stats":true,"include_usage":true}',
    },
  ])("asks for continuous usage where the upstream knows it, $name", ({ options, expected }) => {
    const sent = `{"model":"m",${MESSAGES},"stream":true${options}}`;
    expect(convert(sent, createModel({ continuousUsage: true }))).toContain(`"stream_options":${expected}`);
  });

  it.each(["", ',"stream_options":{"include_usage":true,"x":1}'])(
    "asks a server for no usage that refuses to be asked%s",
    (options) => {
      const sent = `{"model":"m",${MESSAGES},"stream":true${options}}`;
      const model = createModel({ streamOptions: "drop", continuousUsage: true });
      expect(JSON.parse(convert(sent, model))).toEqual({
        ...JSON.parse(`{"model":"m",${MESSAGES},"stream":true}`),
        model: model.upstreamModel,
      });
    },
  );

  it("writes a model name that needs escapes as JSON", () => {
    const text = convert(`{"model":"m",${MESSAGES}}`, { ...createModel(), upstreamModel: 'a"b\\ż' });
    expect(JSON.parse(text)).toMatchObject({ model: 'a"b\\ż' });
  });
});
