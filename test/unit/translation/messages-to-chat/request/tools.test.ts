import { describe, expect, it } from "vitest";
import { PROTOCOLS } from "../../../../../src/data-path/translation/protocols.ts";
import { MessagesRequest } from "../../../../../src/data-path/translation/messages-to-chat/request.ts";
import { createModel, decode, encode, refusal, toChat } from "../../../../support/messages-exchange.ts";
import { atOnce } from "../../../../../src/shared/event-loop/steps.ts";

const SCHEMA = { type: "object", properties: { a: { type: "string" } }, additionalProperties: false };
const EDITOR_FIELDS = [
  "command",
  "path",
  "file_text",
  "old_str",
  "new_str",
  "insert_line",
  "insert_text",
  "view_range",
];
const MEMORY_FIELDS = [...EDITOR_FIELDS, "old_path", "new_path"];
const tool = (name: string, more: object = {}) => ({ name, input_schema: SCHEMA, ...more });

/** The chat request's text: parsed, its integers would lose their digits here. */
function chatText(fields: string, turn = '{"role":"user","content":"b"}'): string {
  const messages = `[{"role":"user","content":"a"},${turn}]`;
  const body = `{"model":"acme/echo","max_tokens":9,"messages":${messages},${fields}}`;
  const request = new MessagesRequest(atOnce(PROTOCOLS.messages.readBody(encode(body))), "answer");
  return decode(request.toUpstream(createModel()));
}

describe("tools", () => {
  it("[tools.exact_integers] keep every digit in schemas and in the inputs of earlier calls", () => {
    const schema =
      '{"type":"object","properties":{"id":{"const":12345678901234567890,"maximum":18446744073709551615}}}';
    const text = chatText(`"tools":[{"name":"f","input_schema":${schema}}]`);
    expect(text).toContain(schema);
    const format = chatText(`"output_config":{"format":{"type":"json_schema","schema":${schema}}}`);
    expect(format).toContain(schema);
    const history = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"id":-9007199254740993}}]}`;
    const called = chatText('"top_k":1', history);
    expect(called).toContain(JSON.stringify('{"id":-9007199254740993}').slice(1, -1));
  });

  it("[tools.custom] are functions with their schema untouched, other keys dropped", () => {
    const dropped = {
      cache_control: { type: "ephemeral" },
      defer_loading: true,
      eager_input_streaming: true,
      input_examples: [{ a: "x" }],
      allowed_callers: ["direct"],
    };
    const tools = [
      tool("f", { type: "custom", description: "Does f.", strict: true, ...dropped }),
      tool("g", { type: null }),
    ];
    expect(toChat({ tools }).tools).toEqual([
      { type: "function", function: { name: "f", description: "Does f.", parameters: SCHEMA, strict: true } },
      { type: "function", function: { name: "g", parameters: SCHEMA } },
    ]);
  });

  it.each([
    [{ name: "f" }, "missing_required_parameter tools.0.custom.input_schema: Field required"],
    [
      tool("f", { input_schema: "x" }),
      "invalid_parameter tools.0.custom.input_schema: Input should be an object",
    ],
    [{ input_schema: SCHEMA }, "missing_required_parameter tools.0.custom.name: Field required"],
    [
      tool("f", { description: 7 }),
      "invalid_parameter tools.0.custom.description: Input should be a valid string",
    ],
    ["f", "invalid_parameter tools.0: Input should be an object"],
  ])("[tools.custom] %j is refused", (broken, expected) => {
    expect(refusal({ tools: [broken] })).toBe(`400 ${expected}`);
  });

  it("[tools.unique] two tools of one name are refused", () => {
    expect(refusal({ tools: [tool("bash"), { type: "bash_20250124", name: "bash" }] })).toBe(
      "400 invalid_parameter tools: Tool names must be unique.",
    );
  });

  it.each([
    ["bash_20250124", "bash", ["command", "restart"], null],
    [
      "text_editor_20250728",
      "str_replace_based_edit_tool",
      EDITOR_FIELDS,
      ["view", "create", "str_replace", "insert"],
    ],
    [
      "text_editor_20250124",
      "str_replace_editor",
      EDITOR_FIELDS,
      ["view", "create", "str_replace", "insert", "undo_edit"],
    ],
    [
      "memory_20250818",
      "memory",
      MEMORY_FIELDS,
      ["view", "create", "str_replace", "insert", "delete", "rename"],
    ],
  ])("[tools.client] %s is a function with its documented input", (type, name, fields, commands) => {
    const [declared] = toChat({ tools: [{ type, name }] }).tools!;
    const { parameters } = declared!.function;
    const properties = parameters["properties"] as Record<string, { enum?: string[] }>;
    expect(declared!.function.name).toBe(name);
    expect(declared!.function.description).toBeTruthy();
    expect(Object.keys(properties).sort()).toEqual([...fields].sort());
    expect(properties["command"]!.enum ?? null).toEqual(commands);
    expect(toChat({ tools: [{ type }] }).tools![0]!.function.name).toBe(name);
  });

  it.each([
    ["[tools.toolsets]", "computer_20250124"],
    ["[tools.toolsets]", "computer_toolset_20260801"],
    ["[tools.toolsets]", "browser_toolset_20260801"],
    ["[tools.server]", "web_search_20250305"],
    ["[tools.server]", "web_fetch_20250910"],
    ["[tools.server]", "code_execution_20250825"],
    ["[tools.server]", "mcp_toolset"],
    ["[tools.server]", "tomorrows_tool"],
  ])("%s %s is refused", (_rule, type) => {
    expect(refusal({ tools: [tool("f"), { type, name: "x" }] })).toBe(
      `400 unsupported_parameter tools.1: tool type '${type}' is not supported by model acme/echo`,
    );
  });

  it("[tools.search] is dropped, and deferred tools are declared", () => {
    const tools = [
      { type: "tool_search_tool_regex_20251119", name: "tool_search" },
      tool("f", { defer_loading: true }),
    ];
    expect(toChat({ tools }).tools!.map((declared) => declared.function.name)).toEqual(["f"]);
  });

  it.each([
    ["an empty list", []],
    ["nothing but tool search", [{ type: "tool_search_tool_bm25_20251119", name: "s" }]],
  ])("[tools.none] %s leaves tools and what belongs to them out", (_name, tools) => {
    const tool_choice = { type: "auto", disable_parallel_tool_use: true };
    expect(toChat({ tools, tool_choice })).toEqual(toChat());
  });

  it.each([
    ["auto", "auto"],
    ["any", "required"],
    ["none", "none"],
  ])("[tools.choice] %s is %s, and the tools stay", (type, expected) => {
    const body = toChat({ tools: [tool("f")], tool_choice: { type } });
    expect(body.tool_choice).toBe(expected);
    expect(body.tools).toHaveLength(1);
  });

  it("[tools.choice_tool] names the function", () => {
    expect(toChat({ tools: [tool("f")], tool_choice: { type: "tool", name: "f" } }).tool_choice).toEqual({
      type: "function",
      function: { name: "f" },
    });
    expect(refusal({ tools: [tool("f")], tool_choice: { type: "tool", name: "g" } })).toBe(
      "400 invalid_parameter tool_choice: Tool 'g' not found in provided tools",
    );
    expect(refusal({ tools: [tool("f")], tool_choice: { type: "tool" } })).toContain(
      "tool_choice.name: Field required",
    );
  });

  it.each([{ type: "any" }, { type: "tool", name: "f" }])(
    "[tools.choice_without_tools] %j is refused",
    (tool_choice) => {
      expect(refusal({ tool_choice })).toBe(
        "400 invalid_parameter tool_choice: tool_choice may only be specified while providing tools.",
      );
    },
  );

  it.each(["auto", "none"])("[tools.choice_without_tools] %s is dropped", (type) => {
    expect(toChat({ tool_choice: { type } })).toEqual(toChat());
  });

  it("[tools.choice_unknown] is refused", () => {
    expect(refusal({ tools: [tool("f")], tool_choice: { type: "some" } })).toBe(
      "400 invalid_parameter tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
    );
    expect(refusal({ tools: [tool("f")], tool_choice: {} })).toContain("tool_choice.type: Field required");
  });

  it("[tools.parallel] is turned off only with tools", () => {
    const tool_choice = { type: "auto", disable_parallel_tool_use: true };
    expect(toChat({ tools: [tool("f")], tool_choice }).parallel_tool_calls).toBe(false);
    expect(toChat({ tools: [tool("f")], tool_choice: { type: "auto" } })).not.toHaveProperty(
      "parallel_tool_calls",
    );
  });
});
