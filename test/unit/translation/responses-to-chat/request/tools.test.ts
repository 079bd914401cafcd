import { describe, expect, it } from "vitest";
import { refusal, toChat } from "../../../../support/responses-exchange.ts";

const F = { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: null };
const names = (fields: Record<string, unknown>) => toChat(fields).tools?.map((tool) => tool.function.name);

describe("a tool", () => {
  it("[responses.tools.function] that is a function keeps its schema, and is strict only when the client says so", () => {
    const tool = { ...F, output_schema: {}, defer_loading: true, allowed_callers: ["direct"] };
    expect(toChat({ tools: [tool] }).tools).toEqual([
      { type: "function", function: { name: "f", description: "d", parameters: { type: "object" } } },
    ]);
    expect(toChat({ tools: [{ ...F, strict: true }] }).tools?.[0]?.function.strict).toBe(true);
    expect(toChat({ tools: [{ type: "function", name: "f", parameters: null }] }).tools).toMatchObject([
      { function: { parameters: { type: "object", properties: {} } } },
    ]);
  });

  it("[responses.tools.custom] that is custom becomes a function of one string, with its grammar in words", () => {
    const format = { type: "grammar", syntax: "lark", definition: "start: x" };
    expect(
      toChat({ tools: [{ type: "custom", name: "apply_patch", description: "D", format }] }).tools,
    ).toMatchObject([
      {
        function: {
          name: "apply_patch",
          description: "D\n\nThe input must follow this lark grammar:\nstart: x",
          parameters: {
            properties: { input: { type: "string" } },
            required: ["input"],
            additionalProperties: false,
          },
        },
      },
    ]);
  });

  it("[responses.tools.namespace] in a namespace has a flat name of its own", () => {
    const space = (name: string, ...tools: object[]) => ({
      type: "namespace",
      name,
      description: "About",
      tools,
    });
    const long = "n".repeat(70);
    const tools = [
      F,
      space("mcp", { ...F }, { type: "custom", name: "g" }),
      space("functions", F),
      space(long, F),
    ];
    const sent = toChat({ tools }).tools?.map((tool) => tool.function) ?? [];
    expect(sent.slice(0, 3).map(({ name }) => name)).toEqual(["f", "mcp__f", "mcp__g"]);
    expect(sent[3]?.name).toMatch(/^f_[0-9a-f]{8}$/);
    expect(sent[4]?.name).toMatch(/^n{55}_[0-9a-f]{8}$/);
    expect(sent[1]?.description).toBe("About\n\nd");
    expect(new Set(sent.map(({ name }) => name)).size).toBe(5);
    const history = [
      { role: "user", content: "Hi" },
      { type: "function_call", call_id: "c", namespace: "mcp", name: "f", arguments: "{}" },
    ];
    expect(toChat({ tools, input: history }).messages[1]).toMatchObject({
      tool_calls: [{ function: { name: "mcp__f" } }],
    });
  });

  it("[responses.tools.tool_search] that searches at the client is a function", () => {
    const parameters = { type: "object", properties: { query: { type: "string" } } };
    expect(toChat({ tools: [{ type: "tool_search", execution: "client", parameters }] }).tools).toMatchObject(
      [{ function: { name: "tool_search", parameters } }],
    );
  });

  it("[responses.tools.dropped] that OpenAI's clients offer by default is left out", () => {
    const tools = [{ type: "web_search" }, { type: "web_search_preview_2025" }, { type: "tool_search" }, F];
    expect(names({ tools })).toEqual(["f"]);
  });

  it.each([
    "file_search",
    "code_interpreter",
    "mcp",
    "computer_use_preview",
    "local_shell",
    "shell",
    "apply_patch",
  ])("[responses.tools.hosted] of the type %s is refused by its name", (type) => {
    expect(refusal({ tools: [F, { type }] })).toBe(
      `400 unsupported_parameter tools[1]: tool type '${type}' is not supported by model acme/echo`,
    );
  });

  it("[responses.tools.unique] of a name that is taken is refused", () => {
    expect(refusal({ tools: [F, F] })).toMatch(/^400 invalid_parameter tools\[1\]\.name: /);
    const space = { type: "namespace", name: "n", tools: [F, F] };
    expect(refusal({ tools: [space] })).toMatch(/^400 invalid_parameter tools\[0\]\.tools\[1\]\.name: /);
  });

  it("[responses.tools.none] that is not there leaves nothing of the choice", () => {
    const sent = toChat({ tools: [{ type: "web_search" }], tool_choice: "auto", parallel_tool_calls: false });
    expect(Object.keys(sent)).toEqual(["model", "messages"]);
  });
});

describe("the choice of tools", () => {
  it("[responses.tools.choice] in a word is the same", () => {
    for (const choice of ["auto", "none", "required"]) {
      expect(toChat({ tools: [F], tool_choice: choice }).tool_choice).toBe(choice);
    }
    expect(refusal({ tool_choice: "required" })).toMatch(/^400 invalid_parameter tool_choice: /);
    expect(refusal({ tools: [F], tool_choice: "any" })).toMatch(/^400 invalid_parameter tool_choice: /);
  });

  it("[responses.tools.choice_tool] of one tool is that function", () => {
    expect(toChat({ tools: [F], tool_choice: { type: "function", name: "f" } }).tool_choice).toEqual({
      type: "function",
      function: { name: "f" },
    });
    expect(refusal({ tools: [F], tool_choice: { type: "custom", name: "g" } })).toMatch(
      / tool_choice: Tool 'g' /,
    );
    expect(refusal({ tools: [F], tool_choice: { type: "web_search" } })).toMatch(
      /^400 unsupported_parameter /,
    );
  });

  it("[responses.tools.choice_allowed] of several declares only these", () => {
    const choice = { type: "allowed_tools", mode: "required", tools: [{ type: "function", name: "g" }] };
    const sent = toChat({ tools: [F, { ...F, name: "g" }], tool_choice: choice });
    expect(sent.tools?.map((tool) => tool.function.name)).toEqual(["g"]);
    expect(sent.tool_choice).toBe("required");
    expect(refusal({ tools: [F], tool_choice: { ...choice, tools: [] } })).toMatch(/ tool_choice\.tools: /);
  });

  it("[responses.tools.parallel] is sent only to forbid", () => {
    expect(toChat({ tools: [F], parallel_tool_calls: false }).parallel_tool_calls).toBe(false);
    expect(toChat({ tools: [F], parallel_tool_calls: true })).not.toHaveProperty("parallel_tool_calls");
  });
});
