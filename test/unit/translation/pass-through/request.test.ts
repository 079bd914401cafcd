import { describe, expect, it } from "vitest";
import { createModel, decode, describeError } from "../../../support/messages-exchange.ts";
import { parseNative } from "../../../support/native-exchange.ts";

const MESSAGES = `{ "max_tokens": 1e2, "model":"acme/echo","cache_control":{"type":"ephemeral","ttl":"1h"},
  "messages":[{"role":"user","content":[{"type":"text","text":"Hi \\u00e9","cache_control":{"type":"ephemeral"}}]}],
  "id": 12345678901234567890, "tomorrow": [1.50], "tomorrow": null }`;

const REFERENCE =
  "400 unsupported_parameter input[0]: this gateway doesn't store responses; send the whole item";

describe("a request to an upstream that speaks its protocol", () => {
  it("goes on byte for byte, but for the model's name", () => {
    const body = decode(parseNative("messages", MESSAGES).toUpstream(createModel()));
    expect(body).toBe(MESSAGES.replace('"acme/echo"', '"echo-7b"'));
  });

  it.each([
    ["messages", { max_tokens: null }, "400 missing_required_parameter max_tokens: Field required"],
    ["messages", { max_tokens: "5" }, "400 invalid_parameter max_tokens: Input should be a valid integer"],
    ["messages", { stream: "yes" }, "400 invalid_parameter stream: Input should be a valid boolean"],
    ["responses", { max_output_tokens: 0 }, "400 invalid_parameter max_output_tokens: Input should be"],
    ["responses", { previous_response_id: "resp_1" }, "400 unsupported_parameter previous_response_id: "],
    ["responses", { conversation: "conv_1" }, "400 unsupported_parameter conversation: "],
    ["responses", { background: true }, "400 unsupported_parameter background: "],
    ["responses", { background: "true" }, "400 unsupported_parameter background: "],
    ["responses", { background: 1 }, "400 unsupported_parameter background: "],
    ["responses", { background: {} }, "400 unsupported_parameter background: "],
    ["responses", { input: [{ type: "item_reference", id: "rs_1" }] }, REFERENCE],
    ["responses", { input: [{ id: "msg_1" }] }, REFERENCE],
    ["responses", { input: [{ type: null, id: "msg_1" }] }, REFERENCE],
    ["responses", { input: [{ type: 7, role: null, id: "msg_1" }] }, REFERENCE],
    ["responses", { input: [{ type: "Item_Reference ", id: "msg_1" }] }, REFERENCE],
  ] as const)("of %s is refused with %j", (name, fields, error) => {
    expect(describeError(() => parseNative(name, fields))).toContain(error);
  });

  it.each([
    { background: "true" },
    { background: 1 },
    { background: {} },
    { Background: true },
    { previous_response_id: "" },
    { previousResponseId: "resp_1" },
    { conversation: { id: "conv_1" } },
    { Prompt: { id: "pmpt_1" } },
  ])("[responses.native.state] of responses asks for state in any form of it: %j", (fields) => {
    const [name] = Object.keys(fields);
    expect(describeError(() => parseNative("responses", fields))).toMatch(
      new RegExp(`^400 (?:unsupported|invalid)_parameter .*${name}`),
    );
  });

  it.each([
    [{ id: "msg_1" }],
    [{ id: "msg_1", type: null }],
    [{ id: "msg_1", type: "" }],
    [{ id: "msg_1", type: "Item_Reference" }],
    [{ id: "msg_1", type: " item-reference" }],
    [{ id: "msg_1", type: "item_reference", role: "user", content: "hi" }],
    [{ id: "msg_1", role: "user" }],
    [{ id: "msg_1", role: "user", content: null }],
    [{ id: "msg_1", type: "message", role: "assistant", status: "completed" }],
    [{ id: "rs_1", type: "reasoning" }],
  ])("[responses.native.state] of responses refers to an item of anybody's with %j", (reference) => {
    const whole = { role: "user", content: "hi" };
    for (const [fields, path] of [
      [{ input: [whole, reference] }, "input[1]"],
      [{ input: reference }, "input"],
      [{ instructions: [reference] }, "instructions[0]"],
    ] as const) {
      expect(describeError(() => parseNative("responses", fields))).toMatch(
        `400 unsupported_parameter ${path}: this gateway doesn't store responses; send the whole item`,
      );
    }
  });

  it.each([
    ['{"type":"item_reference","id":"msg_1","type":"message","role":"user","content":"hi"}', "input[1].type"],
    ['{"id":"msg_1","role":"user","content":"hi","ID":"msg_1"}', "input[1].ID"],
    ['{"Type":"item_reference","id":"msg_1","role":"user","content":"hi"}', "input[1].Type"],
  ])("[responses.native.state] of responses has no item that can be read in two ways: %s", (item, path) => {
    const body = `{"model":"acme/echo","input":[ {"role":"user","content":"hi"} , ${item} ]}`;
    expect(describeError(() => parseNative("responses", body))).toContain(`400 invalid_parameter`);
    expect(describeError(() => parseNative("responses", body))).toContain(path);
  });

  it.each([
    { role: "user", content: "item_reference" },
    { id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "hi" }] },
    { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [] },
    { id: "rs_1", type: "reasoning", summary: [] },
    { id: "fc_1", type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
    { role: "user" },
  ])("of responses goes on with a whole item, also one with an id: %j", (item) => {
    const fields = { input: [item], background: false, previous_response_id: null };
    expect(parseNative("responses", fields).model).toBe("acme/echo");
  });

  it("of responses goes on without what Codex tells of its user's installation, and else as it is", () => {
    const rest = '"model":"acme/echo","input":"Hi \\u00e9","tomorrow":[1.50]';
    const body = `{"client_metadata":{"installation":"7"},${rest}}`;
    const sent = decode(parseNative("responses", body).toUpstream(createModel()));
    expect(sent).toBe(`{${rest.replace('"acme/echo"', '"echo-7b"')}}`);
  });

  it("of messages may warm a cache with `max_tokens: 0`, and ask for a service tier", () => {
    expect(parseNative("messages", { max_tokens: 0 }).maxOutputTokens).toBe(0);
    expect(parseNative("messages", { service_tier: "standard_only" }).serviceTier).toBe("standard_only");
  });
});

const block = (fields: object) => ({ messages: [{ role: "user", content: [fields] }] });
const item = (fields: object) => ({ input: [fields] });

describe("the size of a prompt that passes through", () => {
  it.each([
    ["messages", block({ type: "image", source: { type: "url", url: "https://a.b/c.png" } })],
    ["messages", block({ type: "document", source: { type: "file", file_id: "file_1" } })],
    ["messages", block({ type: "tool_result", content: [{ type: "image", source: {} }] })],
    ["messages", block({ type: "block_of_tomorrow" })],
    ["responses", item({ role: "user", content: [{ type: "input_image", image_url: "https://a.b" }] })],
    ["responses", item({ role: "user", content: [{ type: "input_file", file_id: "file_1" }] })],
    ["responses", item({ type: "function_call_output", output: [{ type: "input_image", file_id: "f" }] })],
    ["responses", item({ type: "item_of_tomorrow" })],
  ] as const)("of %s cannot be told from bytes with %j", (name, fields) => {
    expect(parseNative(name, fields).promptSize().hasMedia).toBe(true);
  });

  it.each([
    ["messages", block({ type: "text", text: "12345" }), 5],
    ["messages", block({ type: "document", title: "t", source: { type: "text", data: "1234" } }), 5],
    ["messages", block({ type: "tool_result", content: [{ type: "text", text: "12345" }] }), 5],
    ["messages", { messages: [], system: [{ type: "text", text: "12345" }] }, 5],
    ["messages", block({ type: "thinking", thinking: "12345", signature: "c2lnbmF0dXJl" }), 5],
    ["messages", block({ type: "thinking", thinking: "", signature: "12345" }), 5],
    ["messages", block({ type: "redacted_thinking", data: "12345" }), 5],
    ["messages", block({ type: "tool_use", id: "call_1", name: "123", input: {} }), 5],
    ["messages", block({ type: "tool_reference", tool_name: "12345" }), 5],
    [
      "messages",
      block({ type: "search_result", source: "12", title: "3", content: [{ type: "text", text: "45" }] }),
      5,
    ],
    ["messages", block({ type: "document", context: "12", source: { type: "content", content: "345" } }), 5],
    ["messages", { messages: [], output_config: { format: [123] } }, 5],
    ["responses", { input: "12345" }, 5],
    [
      "responses",
      { ...item({ role: "user", content: [{ type: "input_text", text: "123" }] }), instructions: "45" },
      5,
    ],
    ["responses", item({ type: "reasoning", summary: [], encrypted_content: "12345" }), 5],
    ["responses", item({ type: "custom_tool_call_output", output: "12345" }), 5],
  ] as const)("of %s is the bytes of its text: %j", (name, fields, bytes) => {
    expect(parseNative(name, fields).promptSize()).toMatchObject({ textBytes: bytes, hasMedia: false });
  });

  it.each([
    [
      "messages",
      { tools: [{ name: "a" }, { type: "custom" }, { type: "bash_20250124" }, { type: "memory_1" }] },
    ],
    [
      "responses",
      { tools: [{ type: "function" }, { type: "custom" }, { type: "tool_search", execution: "client" }] },
    ],
    ["responses", { tools: [{ type: "shell", environment: { type: "local" } }] }],
  ] as const)("of %s is whole with the client's own tools: %j", (name, fields) => {
    expect(parseNative(name, fields).promptSize()).toMatchObject({ hasTools: true, isWhole: true });
  });

  it.each([
    ["messages", { tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 1 }] }],
    ["responses", { tools: [{ type: "web_search" }], max_tool_calls: 1 }],
  ] as const)("of %s is not whole with a tool that adds what it finds: %j", (name, fields) => {
    expect(parseNative(name, fields).promptSize()).toMatchObject({ hasTools: true, isWhole: false });
  });

  it("has no bound where what it is read from is given twice", () => {
    const body = '{"model":"a/b","max_tokens":1,"messages":[{"role":"user","content":"hi"}],"messages":[]}';
    expect(parseNative("messages", body).promptSize().unbounded?.param).toBe("messages");
  });

  it.each([
    [
      { edits: [{ type: "clear_thinking_20251015", keep: "all" }, { type: "clear_tool_uses_20250919" }] },
      null,
    ],
    [{ edits: [] }, null],
    [null, null],
    [
      { edits: [{ type: "clear_tool_uses_20250919" }, { type: "compact_20260112" }] },
      "context_management.edits.1",
    ],
    [{ edits: [{}] }, "context_management.edits.0"],
    [{ compact: true }, "context_management.compact"],
  ])("has a bound with edits of the context that take away, and no others: %j", (management, param) => {
    const { unbounded } = parseNative("messages", { context_management: management }).promptSize();
    expect(unbounded?.param ?? null).toBe(param);
  });

  it.each([
    ["messages", '{"model":"a/b","max_tokens":1,"tools":[{"type":"web_search_1"}],"tools":[]}', "tools"],
    ["responses", '{"model":"a/b","input":"a","max_tool_calls":9,"max_tool_calls":1}', "max_tool_calls"],
  ] as const)("of %s gives its tools and their limits once: %s", (name, body, param) => {
    expect(describeError(() => parseNative(name, body))).toContain(`\`${param}\` is given more than once`);
  });
});
