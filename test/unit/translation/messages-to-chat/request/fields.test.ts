import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MessagesRequest } from "../../../../../src/data-path/translation/messages-to-chat/request.ts";
import { parseWith } from "../../../../support/parse-with.ts";
import { PROTOCOLS } from "../../../../../src/data-path/translation/protocols.ts";
import {
  createModel,
  describeError,
  encode,
  parse,
  refusal,
  requestBody,
  toChat,
} from "../../../../support/messages-exchange.ts";
import { atOnce } from "../../../../../src/shared/event-loop/steps.ts";

const SCHEMA = { type: "object", properties: { a: { type: "string" } } };
const FORMAT = { type: "json_schema", schema: SCHEMA };

function refuseBody(body: string): string {
  return describeError(() => parseWith("messages", encode(body)));
}

describe("request body", () => {
  it("[request.body] is a JSON object", () => {
    expect(refuseBody("{")).toMatch(/^400 invalid_json /);
    expect(refuseBody("[]")).toMatch(/^400 invalid_json /);
    expect(refuseBody("")).toMatch(/^400 invalid_json /);
  });

  it("[request.body] is not nested without bound, wherever the depth is", () => {
    const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
    expect(refuseBody(deep)).toMatch(/^400 invalid_json .*nested/);
    const body = JSON.stringify(requestBody({ tools: [{ name: "f", input_schema: "DEEP" }] }));
    expect(refuseBody(body.replace('"DEEP"', deep))).toMatch(/^400 invalid_json .*nested/);
  });

  it("[request.body] takes keys like __proto__ for keys like others", () => {
    const body = JSON.stringify(requestBody()).replace("{", '{"__proto__":{"stream":true},"constructor":1,');
    const request = parseWith("messages", encode(body));
    expect(request.stream).toBe(false);
    const input = JSON.parse('{"__proto__":{"x":1},"toString":"y"}') as object;
    const messages = [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "f", input }] }];
    const [message] = toChat({ messages: [{ role: "user", content: "Hello" }, ...messages] }).messages.slice(
      1,
    );
    expect(message).toMatchObject({
      tool_calls: [{ function: { arguments: '{"__proto__":{"x":1},"toString":"y"}' } }],
    });
    expect(refusal({ messages: [{ role: "__proto__", content: "x" }] })).toContain("messages.0.role");
    expect(refusal({ messages: [{ role: "user", content: [{ type: "constructor" }] }] })).toContain(
      "unsupported content block type 'constructor'",
    );
  });
});

describe("request fields", () => {
  it.each([undefined, null, 7, ""])("[request.model] is refused when it is %j", (model) => {
    expect(refusal({ model })).toBe("400 missing_required_parameter model: Field required");
  });

  it("[request.model] becomes the upstream's name, and stays the client's for the gateway", () => {
    expect(toChat().model).toBe("echo-7b");
    expect(parse().model).toBe("acme/echo");
  });

  it.each([
    [undefined, "missing_required_parameter max_tokens: Field required"],
    [null, "missing_required_parameter max_tokens: Field required"],
    ["100", "invalid_parameter max_tokens: Input should be a valid integer"],
    [1.5, "invalid_parameter max_tokens: Input should be a valid integer"],
    [1e300, "invalid_parameter max_tokens: Input should be a valid integer"],
    [0, "invalid_parameter max_tokens: Input should be greater than or equal to 1"],
    [-1, "invalid_parameter max_tokens: Input should be greater than or equal to 1"],
  ])("[request.max_tokens] is refused when it is %j", (max_tokens, expected) => {
    expect(refusal({ max_tokens })).toBe(`400 ${expected}`);
  });

  it("[request.max_tokens] is passed on, and known to admission", () => {
    expect(toChat({ max_tokens: 1 }).max_tokens).toBe(1);
    expect(parse({ max_tokens: 321 }).maxOutputTokens).toBe(321);
  });

  it.each([
    [undefined, "missing_required_parameter messages: Field required"],
    ["Hello", "invalid_parameter messages: Input should be a valid list"],
    [[], "invalid_parameter messages: at least one message with content is required"],
    [["Hello"], "invalid_parameter messages.0: Input should be an object"],
  ])("[request.messages] is refused when it is %j", (messages, expected) => {
    expect(refusal({ messages })).toBe(`400 ${expected}`);
  });

  it("[request.system_string] is the first message, as a plain string", () => {
    expect(toChat({ system: "Be brief." }).messages).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ]);
    expect(toChat({ system: "" }).messages).toEqual([{ role: "user", content: "Hello" }]);
    expect(toChat({ system: null }).messages).toHaveLength(1);
  });

  it("[request.system_blocks] are one string; empty ones and the billing header are left out", () => {
    const system = [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2; cch=abc" },
      { type: "text", text: "One.", cache_control: { type: "ephemeral" } },
      { type: "text", text: "" },
      { type: "text", text: "Two." },
    ];
    expect(toChat({ system }).messages[0]).toEqual({ role: "system", content: "One.\n\nTwo." });
    expect(toChat({ system: system.slice(0, 1) }).messages).toHaveLength(1);
  });

  it("[request.system_blocks] that are no text are refused", () => {
    expect(refusal({ system: [{ type: "text", text: "a" }, { type: "image" }] })).toBe(
      "400 invalid_parameter system.1: only text blocks are allowed here, not 'image'",
    );
    expect(refusal({ system: [{ type: "text" }] })).toContain("system.0.text: Field required");
    expect(refusal({ system: 7 })).toContain("system: Input should be a string or a list of text blocks");
  });

  it("[request.stop_sequences] become stop, and an empty list is left out", () => {
    expect(toChat({ stop_sequences: ["END", "\n"] }).stop).toEqual(["END", "\n"]);
    expect(toChat({ stop_sequences: [] })).not.toHaveProperty("stop");
    expect(refusal({ stop_sequences: ["a", 1] })).toContain(
      "stop_sequences.1: Input should be a valid string",
    );
  });

  it("[request.stream] asks for usage", () => {
    expect(toChat({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(toChat({ stream: false })).not.toHaveProperty("stream");
    expect(toChat({ stream: false })).not.toHaveProperty("stream_options");
    expect(parse({ stream: true }).stream).toBe(true);
  });

  it("[request.sampling] is passed on as it is, 0 too", () => {
    expect(toChat({ temperature: 0, top_p: 0 })).toMatchObject({ temperature: 0, top_p: 0 });
    expect(toChat({ temperature: 1.9 }).temperature).toBe(1.9);
    expect(toChat()).not.toHaveProperty("temperature");
  });

  it("[request.top_k] is passed on", () => {
    expect(toChat({ top_k: 40 }).top_k).toBe(40);
    expect(toChat()).not.toHaveProperty("top_k");
  });

  it("[request.output_format] becomes response_format with the schema unchanged", () => {
    const expected = { type: "json_schema", json_schema: { name: "response", schema: SCHEMA, strict: true } };
    expect(toChat({ output_config: { format: FORMAT } }).response_format).toEqual(expected);
    expect(toChat({ output_format: FORMAT }).response_format).toEqual(expected);
    const other = { type: "json_schema", schema: { type: "array" } };
    expect(toChat({ output_config: { format: FORMAT }, output_format: other }).response_format).toEqual(
      expected,
    );
    expect(toChat({ output_config: { format: null } })).not.toHaveProperty("response_format");
  });

  it("[request.output_format] of another type or without a schema is refused", () => {
    expect(refusal({ output_config: { format: { type: "json_object" } } })).toContain(
      "output_config.format.type: Input should be 'json_schema'",
    );
    expect(refusal({ output_config: { format: { type: "json_schema" } } })).toContain(
      "output_config.format.schema: Field required",
    );
    expect(refusal({ output_format: { type: "json_schema", schema: [] } })).toContain(
      "output_format.schema: ",
    );
  });

  it("[request.user_id] becomes user, hashed when it is long", () => {
    const long = "u".repeat(65);
    expect(toChat({ metadata: { user_id: "u".repeat(64) } }).user).toBe("u".repeat(64));
    expect(toChat({ metadata: { user_id: long } }).user).toBe(
      createHash("sha256").update(long).digest("hex"),
    );
    expect(toChat({ metadata: { user_id: null } })).not.toHaveProperty("user");
  });

  it.each([
    ["[request.metadata] other than the user id", { metadata: { tag: "x" } }],
    ["[request.service_tier]", { service_tier: "auto" }],
    ["[request.cache_control] at the top", { cache_control: { type: "ephemeral" } }],
    [
      "[request.hints] context_management",
      { context_management: { edits: [{ type: "clear_thinking_20251015" }] } },
    ],
    ["[request.hints] diagnostics", { diagnostics: { previous_message_id: "msg_1" } }],
    ["[request.hints] speed", { speed: "fast" }],
    ["[request.hints] fallbacks", { fallbacks: [{ model: "x" }] }],
    ["[request.hints] billing_policy", { billing_policy: {} }],
    ["[request.compaction] empty", { compaction: {} }],
    ["[request.hints] fallback_credit_token", { fallback_credit_token: "x" }],
    ["[request.container] null", { container: null }],
    ["[request.mcp_servers] empty", { mcp_servers: [] }],
    ["[request.mcp_servers] null", { mcp_servers: null }],
    ["[request.thread] null", { thread: null }],
    ["[request.inference_geo] null", { inference_geo: null }],
    ["[request.header_fields] user_profile_id", { user_profile_id: "up_1" }],
    ["[request.header_fields] workspace_id", { workspace_id: "ws_1" }],
    ["[request.header_fields] betas", { betas: ["a"] }],
    ["[request.unknown] any other field", { tomorrows_field: { a: 1 } }],
  ])("%s is dropped", (_name, fields) => {
    expect(toChat(fields)).toEqual(toChat());
  });

  it("[request.cache_control] on blocks and tools is dropped", () => {
    const cache_control = { type: "ephemeral" };
    const body = toChat({
      messages: [{ role: "user", content: [{ type: "text", text: "Hello", cache_control }] }],
      tools: [{ name: "f", input_schema: SCHEMA, cache_control }],
    });
    expect(JSON.stringify(body)).not.toContain("cache_control");
  });

  it.each([
    ["[request.container]", { container: "c_1" }, "container: containers are not supported by this model"],
    [
      "[request.mcp_servers]",
      { mcp_servers: [{}] },
      "mcp_servers: MCP servers are not supported by this model",
    ],
    ["[request.thread]", { thread: { id: "t" } }, "thread: threads are not supported by this model"],
    [
      "[request.compaction]",
      { compaction: { type: "summarize" } },
      "compaction: a summary on demand is not supported by this model",
    ],
    [
      "[request.inference_geo]",
      { inference_geo: "eu" },
      "inference_geo: a region cannot be chosen for this model",
    ],
  ])("%s is refused", (_name, fields, message) => {
    expect(refusal(fields)).toBe(`400 unsupported_parameter ${message}`);
  });

  it.each([
    ["stream", { stream: "yes" }, "valid boolean"],
    ["temperature", { temperature: "0" }, "valid number"],
    ["top_p", { top_p: [] }, "valid number"],
    ["top_k", { top_k: 1.5 }, "valid integer"],
    ["stop_sequences", { stop_sequences: "END" }, "valid list"],
    ["metadata", { metadata: "x" }, "an object"],
    ["output_config", { output_config: [] }, "an object"],
    ["thinking", { thinking: "on" }, "an object"],
    ["tools", { tools: {} }, "valid list"],
    ["tool_choice", { tool_choice: "auto" }, "an object"],
  ])("[request.types] a %s of the wrong type is refused, null is left out", (field, fields, expected) => {
    expect(refusal(fields)).toBe(
      `400 invalid_parameter ${field}: Input should be ${expected.replace(/^valid/, "a valid")}`,
    );
    expect(toChat({ [field]: null })).toEqual(toChat());
  });

  it("[request.types] the path is the error's param", () => {
    expect(() => parse({ messages: [{ role: "user", content: [{ type: "text" }] }] })).toThrowError(
      expect.objectContaining({ param: "messages.0.content.0.text" }),
    );
  });
});

describe("count_tokens", () => {
  it("[count_tokens.request] is the same request without max_tokens, never streamed", () => {
    const body = { model: "acme/echo", messages: [{ role: "user", content: "Hello" }], stream: true };
    const request = new MessagesRequest(atOnce(PROTOCOLS.messages.readBody(encode(body))), "count_tokens");
    expect(request.stream).toBe(false);
    expect(request.maxOutputTokens).toBeNull();
    const { max_tokens: _, ...expected } = toChat();
    expect(JSON.parse(new TextDecoder().decode(request.toUpstream(createModel())))).toEqual(expected);
    expect(
      () =>
        new MessagesRequest(
          atOnce(PROTOCOLS.messages.readBody(encode({ ...body, messages: [] }))),
          "count_tokens",
        ),
    ).toThrow("messages: at least one message with content is required");
  });
});
