import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { randomIds } from "../../../../../src/data-path/translation/messages-to-chat/ids.ts";
import {
  completion,
  createAnswer,
  decode,
  describeError,
  encode,
  toMessage,
} from "../../../../support/messages-exchange.ts";

const contentOf = (message: Record<string, unknown>, choice = {}) =>
  toMessage(completion(message, { choice })).content;
const call = (more: object = {}) => ({
  id: "c",
  type: "function",
  function: { name: "f", arguments: "{}" },
  ...more,
});
const sign = (text: string) => `gw.${createHash("sha256").update(text).digest("base64url")}`;
const refuse = (body: unknown) => describeError(() => createAnswer().translateBody(encode(body)));

describe("the answer, not streamed", () => {
  it("[tools.exact_integers] keeps every digit of the arguments, played as a stream too", () => {
    const input = '{"id":12345678901234567890,"small":1.5}';
    const asText = encode(completion({ tool_calls: [call({ function: { name: "f", arguments: input } })] }));
    const asObject = encode(decode(asText).replace(JSON.stringify(input), input));
    for (const body of [asText, asObject]) {
      expect(decode(createAnswer().translateBody(body).bytes)).toContain(`"input":${input}`);
      const played = decode(createAnswer({ stream: true }).translateBody(body).bytes);
      expect(played).toContain(`"partial_json":${JSON.stringify(input)}`);
    }
  });

  it("[response.envelope] is a whole message", () => {
    expect(toMessage(completion({ content: "Hi" }))).toEqual({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "acme/echo",
      content: [{ type: "text", text: "Hi" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: expect.objectContaining({ input_tokens: 10, output_tokens: 5 }) as object,
    });
    const ids = [randomIds.messageId(), randomIds.messageId(), randomIds.toolUseId()];
    expect(ids[0]).toMatch(/^msg_[0-9A-Za-z]{24}$/);
    expect(ids[2]).toMatch(/^toolu_[0-9A-Za-z]{24}$/);
    expect(new Set(ids).size).toBe(3);
    const output = createAnswer().translateBody(encode(completion({ content: "Hi" })));
    expect(output).toMatchObject({ final: true, failed: null });
  });

  it("[response.choices] the one of index 0 counts", () => {
    const other = { index: 1, message: { content: "B" }, finish_reason: "stop" };
    const [own] = completion({ content: "A" })["choices"] as object[];
    expect(toMessage({ choices: [other, own] }).content).toEqual([{ type: "text", text: "A" }]);
    expect(toMessage({ choices: [{ message: { content: "A" } }] }).content).toHaveLength(1);
  });

  it.each([
    [{}],
    [{ choices: [] }],
    [{ choices: [{ index: 1, message: {} }] }],
    [{ choices: [{ index: 0 }] }],
    [[]],
    ["x"],
  ])("[response.choices] %j without one is a 502", (body) => {
    expect(refuse(body)).toMatch(/^502 upstream_error /);
  });

  it.each([
    ["reasoning_content", { reasoning_content: "hm", reasoning: "hm" }],
    ["reasoning", { reasoning: "hm" }],
    ["reasoning beside an empty reasoning_content", { reasoning_content: "", reasoning: "hm" }],
  ])("[response.thinking] %s is the first block, once, with a signature", (_name, fields) => {
    expect(contentOf({ ...fields, content: "Hi" })).toEqual([
      { type: "thinking", thinking: "hm", signature: sign("hm") },
      { type: "text", text: "Hi" },
    ]);
  });

  it("[response.thinking] thinking parts of the content are thinking, with the upstream's signature", () => {
    const content = [
      {
        type: "thinking",
        thinking: [
          { type: "text", text: "h" },
          { type: "text", text: "m" },
        ],
        signature: "sig",
      },
      { type: "text", text: "Hi" },
    ];
    expect(contentOf({ content })).toEqual([
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "text", text: "Hi" },
    ]);
    const thinking_blocks = [{ type: "thinking", thinking: "hm", signature: "sig" }];
    expect(contentOf({ reasoning_content: "hm", thinking_blocks })).toMatchObject([{ signature: "sig" }]);
    expect(contentOf({ reasoning_content: "", content: "Hi" })).toHaveLength(1);
  });

  it("[response.text] is a string or parts, without citations", () => {
    expect(contentOf({ content: "Hi" })).toEqual([{ type: "text", text: "Hi" }]);
    const content = [
      { type: "text", text: "H" },
      { type: "text", text: "i" },
    ];
    expect(contentOf({ content })).toEqual([{ type: "text", text: "Hi" }]);
  });

  it.each([null, "", [], undefined])("[response.text] %j is no block", (content) => {
    expect(contentOf({ content })).toEqual([]);
  });

  it("[response.text] white space is no block beside tool calls", () => {
    expect(contentOf({ content: "\n\n", tool_calls: [call()] })).toHaveLength(1);
    expect(contentOf({ content: "\n\n" })).toEqual([{ type: "text", text: "\n\n" }]);
  });

  it("[response.refusal] is text, and says so", () => {
    const message = toMessage(completion({ content: null, refusal: "I cannot." }));
    expect(message.content).toEqual([{ type: "text", text: "I cannot." }]);
    expect(message.stop_reason).toBe("refusal");
    expect(message.stop_details).toEqual({ type: "refusal", category: null, explanation: "I cannot." });
  });

  it("[response.tool_calls] follow the text in order, with their ids", () => {
    const second = call({ id: "d", function: { name: "g", arguments: '{"a":1}' } });
    expect(contentOf({ content: "Hi", tool_calls: [call(), second] })).toEqual([
      { type: "text", text: "Hi" },
      { type: "tool_use", id: "c", name: "f", input: {} },
      { type: "tool_use", id: "d", name: "g", input: { a: 1 } },
    ]);
  });

  it("[response.tool_calls] missing and repeated ids are replaced, calls without a name dropped", () => {
    const tool_calls = [
      call(),
      call(),
      call({ id: null }),
      call({ id: "" }),
      call({ id: "n", function: {} }),
      7,
    ];
    expect(contentOf({ tool_calls })).toMatchObject([
      { id: "c" },
      { id: "toolu_1" },
      { id: "toolu_2" },
      { id: "toolu_3" },
    ]);
  });

  it.each([
    [{ a: 1 }, { a: 1 }],
    ['{"a":1}', { a: 1 }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ["", {}],
    ["{", {}],
    ["[1]", {}],
    ["7", {}],
    [null, {}],
    [undefined, {}],
    ['{"a":'.repeat(100_000), {}],
    [`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`, {}],
  ])("[response.tool_calls] arguments become an object (case %#)", (args, input) => {
    expect(contentOf({ tool_calls: [call({ function: { name: "f", arguments: args } })] })).toMatchObject([
      { input },
    ]);
  });

  it("[response.tool_calls] odd keys in arguments stay keys", () => {
    const args = '{"__proto__":{"x":1}}';
    const output = createAnswer().translateBody(
      encode(completion({ tool_calls: [call({ function: { name: "f", arguments: args } })] })),
    );
    expect(decode(output.bytes)).toContain(`"input":${args}`);
  });

  it("[response.function_call] is one tool_use", () => {
    expect(contentOf({ function_call: { name: "f", arguments: '{"a":1}' } })).toEqual([
      { type: "tool_use", id: "toolu_1", name: "f", input: { a: 1 } },
    ]);
    expect(contentOf({ function_call: { name: "f", arguments: "{}" }, tool_calls: [call()] })).toMatchObject([
      { id: "c" },
    ]);
  });

  it("[response.dropped] annotations, audio and logprobs leave no trace", () => {
    const message = { content: "Hi", annotations: [{ type: "url_citation" }], audio: { id: "a" } };
    expect(toMessage(completion(message, { choice: { logprobs: { content: [] } } }))).toEqual(
      toMessage(completion({ content: "Hi" })),
    );
  });

  it("[errors.in_answer] an error in an answer of status 200 is an error", () => {
    expect(refuse({ error: { message: "secret", type: "server_error" } })).toMatch(
      /^502 upstream_error (?!.*secret)/,
    );
    expect(refuse({ error: { message: "bad temperature", code: 400 } })).toBe(
      "400 invalid_parameter bad temperature",
    );
    expect(refuse({ object: "error", message: "bad", code: 422 })).toBe("400 invalid_parameter bad");
    expect(refuse({ error: { message: "slow down", code: 429 } })).toMatch(/^529 model_overloaded /);
    expect(refuse({ error: "boom" })).toMatch(/^502 upstream_error /);
    expect(refuse("<html>")).toMatch(/^502 upstream_error /);
  });
});
